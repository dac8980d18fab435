"""Completion in a shell: a script for bash, zsh or fish, made from a parser.

What may follow an option is known by its choices, or by what its value is called in the help:
FILE, PRESET, or the SPEC of an agent.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fiveup_env.commands.laboratory import SCRIPTS, parser_of
from fiveup_env.opponents.registry import agent_names
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS: Final = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Option:
    """An option of a command: its names, its help, whether a value follows, and which ones."""

    names: tuple[str, ...]
    about: str
    takes_value: bool
    values: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """A command: its help, its options, and the words that may stand by themselves."""

    name: str
    about: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return a script that teaches a shell to complete the commands of a parser."""
    commands = list(_commands_of(parser))
    program = parser.prog
    if shell == "fish":
        return "\n".join(_fish(program, commands))
    head = ["autoload -U +X compinit bashcompinit", "compinit", "bashcompinit"]
    return "\n".join([*(head if shell == "zsh" else ()), *_bash(program, commands)])


def _commands_of(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """Yield the commands of a parser; those of scripts have the scripts' options."""
    chooser = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))  # noqa: SLF001 - argparse shows them nowhere else
    abouts = {choice.dest: choice.help or "" for choice in chooser._get_subactions()}  # noqa: SLF001
    for name, sub in chooser.choices.items():
        script = parser_of(name) if name in SCRIPTS else None
        actions = (script or sub)._actions  # noqa: SLF001
        yield Command(
            name,
            abouts[name],
            tuple(
                Option(
                    tuple(action.option_strings),
                    (action.help or "").replace("%%", "%"),
                    action.nargs != 0,
                    _values_of(action),
                )
                for action in actions
                if action.option_strings
            ),
            tuple(
                word
                for action in actions
                if not action.option_strings
                for word in _values_of(action)
            ),
        )


def _values_of(action: argparse.Action) -> tuple[str, ...]:
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.metavar == "PRESET":
        return tuple(PRESETS)
    return agent_names() if action.metavar in {"SPEC", "SPECS"} else ()


def _bash(program: str, commands: list[Command]) -> Iterator[str]:
    """Yield the lines of a script for bash, which zsh understands, too; it filters by itself."""
    name = f"_{program.replace('-', '_')}_words"
    yield f"{name}() {{"
    yield '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""'
    yield "    if ((COMP_CWORD == 1)); then"
    yield f'        words="{" ".join(command.name for command in commands)}"'
    yield "    else"
    yield '        case "${COMP_WORDS[1]} $before" in'
    for command in commands:
        for option in command.options:
            if option.takes_value:
                case = "|".join(f'"{command.name} {one}"' for one in option.names)
                yield f'            {case}) words="{" ".join(option.values)}" ;;'
    yield '            *) case "${COMP_WORDS[1]}" in'
    for command in commands:
        names = [one for option in command.options for one in option.names]
        words = " ".join([*command.words, *names])
        yield f'                "{command.name}") words="{words}" ;;'
    yield "            esac ;;"
    yield "        esac"
    yield "    fi"
    yield '    COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield f"complete -o default -F {name} {program}"


def _fish(program: str, commands: list[Command]) -> Iterator[str]:
    """Yield the lines of a script for fish."""
    for command in commands:
        yield (
            f"complete -c {program} -n __fish_use_subcommand -f -a {_quoted(command.name)} "
            f"-d {_quoted(command.about)}"
        )
    for command in commands:
        here = f"complete -c {program} -n {_quoted('__fish_seen_subcommand_from ' + command.name)}"
        if command.words:
            yield f"{here} -a {_quoted(' '.join(command.words))}"
        for option in command.options:
            names = " ".join(
                f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.names
            )
            values = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r"
            takes = values if option.takes_value else ""
            yield f"{here} {names}{takes} -d {_quoted(option.about)}"


def _quoted(text: str) -> str:
    r"""Return a text as a word of fish, where only \ and ' are special inside quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
