"""What all command lines share: suggestions for unknown names, and errors in one line."""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.errors import FiveUpError, InputError, shown, unknown
from fiveup_env.files import is_stream
from fiveup_env.opponents.registry import can_begin
from fiveup_env.rules.fields import Rules, parse_assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env.game.game import Game

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


def add_rules(parser: argparse.ArgumentParser, players: int = 4) -> None:
    """Add the options that say by which rules, and how many play."""
    add, usual = parser.add_argument, "4, as partners" if players == 4 else str(players)
    add("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    add("--players", type=int, default=players, help=f"2 to 5 (default: {usual})")
    add("--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field")


def rules_of(options: argparse.Namespace) -> Rules:
    """Return the rules that the options choose."""
    return Rules.preset(options.rules, options.players, **fields_of(options))


def fields_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the rules that the options change."""
    return dict(map(parse_assignment, options.set))


def chosen_game(options: argparse.Namespace) -> Game:
    """Return the game that the options choose from a file of records."""
    from fiveup_env.game.records import read_file

    for number, line in enumerate(read_file(options.file)):
        if number == options.game:
            if line.game is None:
                raise InputError(line.error)
            return line.game
    raise InputError(f"{options.file} has no game {options.game}")


def say_written(options: argparse.Namespace, sentence: str) -> None:
    """Say what was written, and where; not on standard output if that may be the place."""
    print(sentence, file=sys.stderr if is_stream(options.output) else sys.stdout)


def _flush() -> None:
    """Write what has been printed, or drop it: the interpreter would try again as it ends."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if sys.platform == "win32" and error.errno == errno.EINVAL:  # its broken pipe
            raise BrokenPipeError from None
        raise
