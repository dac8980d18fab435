"""fiveup.json and fiveup.h: structs, functions and names, written from the code itself."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import inspect
import json
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.analysis.trials import REFERENCE, checked_reference
from fiveup_env.engine.state import LAYOUT, PUBLIC
from fiveup_env.errors import RulesError
from fiveup_env.files import write_atomic
from fiveup_env.game.values import ENDINGS
from fiveup_env.learning.networks import KINDS
from fiveup_env.learning.runs import RUN_FIGURES, USUAL
from fiveup_env.learning.windows import REWARDS
from fiveup_env.opponents.heuristics.casual import Casual
from fiveup_env.opponents.heuristics.ladder import LADDER, READER
from fiveup_env.opponents.levels import LEVEL_SPECS, LEVELS, USUAL_LEVEL
from fiveup_env.opponents.networks.files import SHIPPED
from fiveup_env.opponents.registry import options_in, resolved
from fiveup_env.opponents.search.dealing import BLOCK
from fiveup_env.opponents.search.network_search import USUAL_TRUST, PolicySearch, StudentSearch
from fiveup_env.opponents.search.pimc import Pimc
from fiveup_env.portable import (  # noqa: F401 - they have the entries
    beliefs,
    games,
    judging,
    learning,
    pictures,
)
from fiveup_env.portable.agents import GRID, PRIORS
from fiveup_env.portable.calls import CODES, ENTRIES, NUMBERS, REFUSALS, STRUCTS, Entry
from fiveup_env.portable.weights import AIM_NAMES, HEAD
from fiveup_env.rules.actions import ACTION_COUNT, Move
from fiveup_env.rules.fields import CHOICES, FIELDS, MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.presets import NAMED_RULES, ROUND_PER
from fiveup_env.rules.tiles import TILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOURCES: Final = (
    *("rules/**/*.py", "engine/**/*.py", "belief/**/*.py", "encoders/**/*.py"),
    *("opponents/**/*.py", "envs/episodes.py", "envs/streams.py", "drawing/felt/**/*.py"),
    *("analysis/**/*.py", "learning/**/*.py", "portable/**/*.py"),
    *("native/code.py", "native/instructions.py"),
)
RESERVED: Final = {"double", "public"}  # words of C or C++, which get an underscore
PHASES: Final = ("playing", "hand_over", "game_over")
ENDS: Final = tuple(ending or "not_ended" for ending in ENDINGS)


def source_digest() -> str:
    """Return a digest of the source that the module is compiled from, but for its docstrings."""
    digest, root = hashlib.sha256(), Path(__file__).parents[1]
    for sources in SOURCES:
        for path in sorted({*root.glob(sources)} - {Path(__file__)}):
            digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
            digest.update(_bare(path.read_text(encoding="utf-8")).encode())
    for path in sorted((root / "opponents").rglob("*.json")):
        if path.parent not in SHIPPED.values():  # policies are not inside
            digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _bare(source: str) -> str:
    """Return the lines of some source, without docstrings and comments."""
    lines, kinds = source.splitlines(), (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and ast.get_docstring(node):
            first = node.body[0]
            for k in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[k] = ""
    return "\n".join(line for line in lines if line.strip() and not line.strip().startswith("#"))


def description() -> dict[str, Any]:
    """Return all that a binding needs to know."""
    return {
        "made": {
            "sources": source_digest(),
            "numba": version("numba"),
            "llvmlite": version("llvmlite"),
        },
        "structs": {name: _struct(dtype) for name, dtype in _structs().items()},
        "functions": {
            name: {argument: kind.c for argument, kind in entry.arguments.items()}
            for name, entry in ENTRIES.items()
        },
        "refusals": {name: [CODES[name], why] for name, why in REFUSALS.items()},
        "choices": CHOICES,
        "phases": PHASES,
        "ends": ENDS,
        "rule_fields": FIELDS,
        "presets": {
            name: [None if rules is None else rules.tobytes().hex() for rules in _presets(name)]
            for name in NAMED_RULES
        },
        "round_per": ROUND_PER,
        "tiles": [str(tile) for tile in TILES],
        "moves": [str(Move(action)) for action in range(ACTION_COUNT)],
        "heuristics": (*LADDER, READER),
        "playouts": tuple(LADDER),
        "casual": {field.name: field.default for field in dataclasses.fields(Casual)},
        "levels": _levels(),
        "usual_level": USUAL_LEVEL,
        "aims": AIM_NAMES,
        "priors": PRIORS,
        "searches": _searches(),
        "judge": _judge(),
        "block": BLOCK,
        "grid": GRID,
        "policy_head": HEAD,
        "networks": KINDS,
        "rewards": REWARDS,
        "run_figures": RUN_FIGURES,
        "settings": USUAL,
    }


def _structs() -> dict[str, np.dtype]:
    """Return the structs, those that others contain first."""
    rules, game, view, *others = STRUCTS.items()
    return dict([rules, ("layout", LAYOUT), ("public", PUBLIC), game, view, *others])


def _struct(dtype: np.dtype) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {}
    for name, kind, shape, offset in _fields(dtype):
        fields[name] = {"offset": offset, "type": kind} | ({"shape": shape} if shape else {})
    return {"size": dtype.itemsize, "fields": fields}


def _fields(dtype: np.dtype) -> Iterator[tuple[str, str, tuple[int, ...], int]]:
    """Yield the name, the type, the shape and the offset of every field."""
    names = {struct: name for name, struct in _structs().items()}
    fields: Mapping[str, Any] = dtype.fields or {}
    for name in dtype.names or ():
        kind, offset = fields[name][:2]
        base = kind.base
        yield name, names.get(base) or base.name, kind.shape, offset


def _presets(name: str) -> Iterator[np.ndarray | None]:
    """Yield a preset's rules for two to five players, None where they cannot be dealt."""
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        rules = None
        with suppress(RulesError):
            rules = Rules.preset(name, players).to_struct()
        yield rules


def _searches() -> dict[str, dict[str, Any]]:
    """Return the defaults of every kind of search."""
    pimc = {field.name: field.default for field in dataclasses.fields(Pimc)}
    policy = {field.name: field.default for field in dataclasses.fields(PolicySearch)}
    student = {field.name: field.default for field in dataclasses.fields(StudentSearch)}
    common = {"worlds": pimc["worlds"], "playout": pimc["playout"], "weighed": pimc["weighed"]}
    return {
        "pimc": common | {"prior": "none", "aim": pimc["aim"], "looks": pimc["looks"]},
        "student+search": {
            name: student[name] for name in ("worlds", "playout", "weighed", "error")
        }
        | {"prior": "values"},
        "policy+search": {name: policy[name] for name in ("worlds", "playout", "weighed", "least")}
        | {"prior": "probabilities", "trust": USUAL_TRUST},
    }


def _judge() -> dict[str, Any]:
    """Return the reference search of studies."""
    judge = checked_reference(REFERENCE)
    options = {name: getattr(judge, name) for name in ("worlds", "weighed", "playout")}
    return {"spec": REFERENCE, **options}


def _levels() -> dict[str, dict[str, Any]]:
    """Return each level: the spec that it stands for, as a name, options and a policy."""
    levels = {}
    for level, spec in zip(LEVEL_SPECS, LEVELS, strict=True):
        name, source, text = resolved(spec)
        options = options_in(name, source, text) if isinstance(source, type) else {}
        policy = options.pop("path", None)
        levels[level] = {"spec": spec, "agent": name, "options": options, "policy": policy}
    return levels


def as_json() -> str:
    """Return fiveup.json."""
    return json.dumps(description(), indent=1) + "\n"


def as_header() -> str:
    """Return fiveup.h."""
    lines = [
        "/* The games of Five Up and its family in C; see docs/use/c.md. Generated. */",
        "#ifndef FIVEUP_H",
        "#define FIVEUP_H",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* What a function refuses. */",
        "enum {",
        *(f"  FIVEUP_{name} = {CODES[name]}, /* {why} */" for name, why in REFUSALS.items()),
        "};",
        "",
        f"#define FIVEUP_ACTIONS {ACTION_COUNT}",
        f"#define FIVEUP_GRID {GRID} /* the side of the grid that fiveup_outlook writes */",
        *_enum("PHASE", PHASES),
        *_enum("ENDED", ENDS),
        *_enum("HEURISTIC", (*LADDER, READER)),
        *_enum("AIM", AIM_NAMES),
        *_enum("PRIOR", PRIORS),
        *_enum("NETWORK", KINDS),
        *_enum("REWARD", REWARDS),
        *(line for name, words in CHOICES.items() for line in _enum(name.upper(), words)),
        "",
    ]
    for name, dtype in _structs().items():
        lines += [*_c_struct(name, dtype), ""]
    lines += [*_c_presets(), "", *_c_settings(), ""]
    for name, entry in ENTRIES.items():
        lines += [*_c_function(name, entry), ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(lines)


def _enum(name: str, words: tuple[str, ...]) -> list[str]:
    values = ", ".join(f"FIVEUP_{name}_{word.upper()}" for word in words)
    return [f"enum {{ {values} }};"]


def _c_struct(name: str, dtype: np.dtype) -> list[str]:
    lines = ["typedef struct {"]
    numbers = {kind.name: c for kind, c in NUMBERS.items()}
    for field, kind, shape, _ in _fields(dtype):
        own = f"{field}_" if field in RESERVED else field
        sizes = "".join(f"[{size}]" for size in shape)
        lines.append(f"  {numbers.get(kind) or f'fiveup_{kind}'} {own}{sizes};")
    return [*lines, f"}} fiveup_{name};"]


def _c_presets() -> list[str]:
    """Return the presets as rules for two to five players; `players` is 0 where there are none."""
    lines = ["/* Rules by preset, then by the number of players less 2. */"]
    names = [f"FIVEUP_{name.upper().replace('-', '_')}" for name in NAMED_RULES]
    lines.append(f"enum {{ {', '.join(names)} }};")
    lines.append(f"static const fiveup_rules fiveup_presets[{len(names)}][4] = {{")
    for name in NAMED_RULES:
        rows = []
        for struct in _presets(name):
            values = [0] if struct is None else struct.item()
            rows.append(f"{{{', '.join(map(str, values))}}}")
        lines.append(f"  {{{', '.join(rows)}}}, /* {name} */")
    return [*lines, "};"]


def _c_settings() -> list[str]:
    """Return the usual settings of a run that learns."""
    values = ", ".join(f".{name} = {value}" for name, value in USUAL.items())
    return [f"static const fiveup_settings fiveup_usual_settings = {{{values}}};"]


def _c_function(name: str, entry: Entry) -> list[str]:
    doc = inspect.cleandoc(entry.function.__doc__ or "").splitlines()
    text = [f"/* {doc[0]}", *(f"   {line}".rstrip() for line in doc[1:])]
    text[-1] += " */"
    arguments = ", ".join(
        f"{kind.c}{argument}" if kind.c.endswith("*") else f"{kind.c} {argument}"
        for argument, kind in entry.arguments.items()
    )
    return [*text, f"int32_t fiveup_{name}({arguments});"]


def describe(target: str, folder: Path) -> None:
    """Write the description of a module, or of a library, beside it."""
    name, text = ("fiveup.json", as_json()) if target == "wasm32" else ("fiveup.h", as_header())
    write_atomic(folder / name, text.encode())
