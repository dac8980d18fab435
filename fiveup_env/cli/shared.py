"""What all command lines share: suggestions for unknown names, and errors in one line."""

from __future__ import annotations

import argparse
import errno
import inspect
import io
import os
import re
import sys
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fiveup_env.errors import FiveUpError, InputError, shown, unknown
from fiveup_env.files import is_stream
from fiveup_env.opponents.registry import can_begin
from fiveup_env.rules.fields import Rules, parse_assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env.game.game import Game

Struct = TypeVar("Struct")  # of options
REFUSED: Final = 2
INTERRUPTED: Final = 130
_BEFORE_COLON: Final = re.compile(r"[A-Za-z][\w.+-]*(?=:[A-Za-z_])")  # in module:Class


class Parser(argparse.ArgumentParser):
    """A parser that names the known command, option or choice that is nearest to an unknown one."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Refuse words that are left over, in words of our own."""
        namespace, rest = self.parse_known_args(args, namespace)
        if rest:
            self.refuse(rest[0])
        return namespace

    def refuse(self, word: str) -> None:
        """End the program with an error for a word that is left over."""
        self.error(f"unexpected argument {shown(word)}")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse options that are not known; each command refuses its own."""
        find_modules_of(sys.argv[1:] if args is None else args)
        return self._known(super().parse_known_args(args, namespace))

    def parse_known_intermixed_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse options that are not known."""
        return self._known(super().parse_known_intermixed_args(args, namespace))

    def _known(self, parsed: tuple[Any, list[str]]) -> tuple[Any, list[str]]:
        for word in parsed[1]:
            if word.startswith("-") and word != "--":
                self.error(unknown("option", word.partition("=")[0], self._option_string_actions))
        return parsed

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(None, unknown(action.dest, value, action.choices))


def find_modules_of(words: Sequence[str]) -> None:
    """Let the modules that specs of the command line name lie in the current folder.

    It is a place of modules for nothing else, since files of others may lie there.
    """
    here = str(Path.cwd())
    names = {name for word in words for name in _BEFORE_COLON.findall(word)}
    if here not in sys.path and not all(map(can_begin, names)):
        sys.path.append(here)


def answer(name: str, command: Callable[[], int], *, install: str = "") -> int:
    """Run a command and return its exit status; what ends it early is said in one line.

    Args:
        name: how the line begins.
        command: what to run; a KeyboardInterrupt of its own says what has been kept.
        install: the line that installs what the command imports, if the library does not need it.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be any bytes
    try:
        try:
            return command()
        finally:
            _flush()
    except BrokenPipeError:  # the reader has seen enough
        return 0
    except KeyboardInterrupt as interruption:
        below = "\n" if sys.stderr.isatty() else ""  # a terminal shows ^C where it is
        print("; ".join([f"{below}{name}: interrupted", *interruption.args]), file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if not install or (error.name or "").partition(".")[0] == "fiveup_env":
            raise
        print(f"{name}: there is no {error.name}: {install}", file=sys.stderr)
    except (FiveUpError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
    return REFUSED


def option(*flags: str, **details: Any) -> Any:
    """Return a field of a struct of options, with what `argparse` is told of it.

    Without flags, the flag is the field's name; a name without dashes is of a positional argument.
    """
    return field(metadata={"flags": flags, **details})


def add_struct(parser: argparse.ArgumentParser, struct: type[Any]) -> None:
    """Add the options of a struct to a parser."""
    for item in fields(struct):
        details = dict(item.metadata)
        flags = details.pop("flags") or (f"--{item.name.replace('_', '-')}",)
        parser.add_argument(*flags, **details)


def options_in(struct: type[Struct], namespace: argparse.Namespace) -> Struct:
    """Return the options of a struct from what was parsed."""
    names = inspect.signature(struct).parameters
    return struct(**{name: getattr(namespace, name) for name in names})


def add_command(
    commands: Any, name: str, about: str, run: Callable[[Struct], int], struct: type[Struct]
) -> None:
    """Add a command to a parser's commands, which takes the options of a struct."""
    made = commands.add_parser(name, help=about)
    add_struct(made, struct)
    made.set_defaults(run=partial(_run_with, run, struct))


def _run_with(
    run: Callable[[Struct], int], struct: type[Struct], namespace: argparse.Namespace
) -> int:
    return run(options_in(struct, namespace))


@dataclass(frozen=True)
class NoOptions:
    """Nothing to choose."""


@dataclass(frozen=True, kw_only=True)
class RulesOptions:
    """By which rules, and how many play."""

    rules: str = option(default="five_up", metavar="PRESET", help="default: five_up")
    players: int = option(type=int, default=4, help="2 to 5 (default: 4, as partners)")
    set: list[str] = option(
        action="append", default=[], metavar="FIELD=VALUE", help="change a rule field"
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of the rules that are changed."""
        return dict(map(parse_assignment, self.set))

    def chosen_rules(self) -> Rules:
        """Return the rules."""
        return Rules.preset(self.rules, self.players, **self.changes)


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """A game in a file of records."""

    file: str = option("file", metavar="FILE", help="a file of records, one per line")
    game: int = option(type=int, default=0, help="number of the game, from 0 (default: 0)")

    def chosen_game(self) -> Game:
        """Return the game."""
        from fiveup_env.game.records import read_file

        for number, line in enumerate(read_file(self.file)):
            if number == self.game:
                if line.game is None:
                    raise InputError(line.error)
                return line.game
        raise InputError(f"{self.file} has no game {self.game}")


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """The options of a page's server."""

    host: str = option(default="127.0.0.1", help="default: this machine only")
    port: int | None = option(type=int, help="default: the first free one from 8561 on")
    no_browser: bool = option(action="store_true", help="do not open a browser")


def say_written(output: str, sentence: str) -> None:
    """Say what was written, and where; not on standard output if that may be the place."""
    print(sentence, file=sys.stderr if is_stream(output) else sys.stdout)


def _flush() -> None:
    """Flush standard output, or drop it: the interpreter would try again at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if sys.platform == "win32" and error.errno == errno.EINVAL:  # its broken pipe
            raise BrokenPipeError from None
        raise
