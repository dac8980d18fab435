"""The results file: a header that describes the games, then a line of JSON for every chunk.

Lines are only ever appended, and each is on disk before the next chunk is taken in. So an
interrupted run continues where it stopped, the chunk of a truncated line is played again, and a
later run can add deals or agents, and files of the same games may be concatenated. Results of other
games, or of another version, are refused with a sentence that says which, never mixed in. A file
that is open is locked, so that one process at a time reads and appends.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fiveup_env
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Played, Task
from fiveup_env.arena.play.tally import MOST_POINTS, NOBODY, TALLY
from fiveup_env.errors import shown
from fiveup_env.files import Appended, Json, file_path
from fiveup_env.native.sources import PACKAGE, source_digest, top_folder
from fiveup_env.opponents.mixtures import members_of
from fiveup_env.opponents.networks.files import policy_folder
from fiveup_env.opponents.networks.statistics import statistics_beside
from fiveup_env.opponents.registry import MIX, PROGRAM, SEATED, TEXT, options_in, resolved

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

FORMAT = "fiveup-arena"
PLAYING_ROOMS = (
    *("native", "rules", "engine", "belief", "game", "encoders", "opponents", "analysis", "envs"),
    "programs",
)
PLAYING_FILES = ("apart", "clock", "games", "tally", "workers")  # of this room


@cache
def code_version() -> str:
    """Return the package's version and a digest of all its files that can affect a game."""
    sources = [
        *(path for room in PLAYING_ROOMS for path in PACKAGE.glob(f"{room}/**/*.py")),
        *PACKAGE.glob("opponents/*/*.json"),
        *PACKAGE.glob("opponents/networks/policies/*/*"),
        *(PACKAGE / "arena" / "play" / f"{name}.py" for name in PLAYING_FILES),
    ]
    return f"{fiveup_env.__version__}+{_digest(sorted(sources))}"


def origin(spec: str) -> str:
    """Return a digest of the source of an agent's class and all files that its spec names.

    The source is the file of the class, and its whole package where that is not the library; that
    of a pair or a mixture includes its members', that of `text` the model's.
    """
    sources = _sources_of(spec)
    packages = {top_folder(file.parent) for file in sources} - {PACKAGE}
    around = source_digest(
        frozenset(folder for folder in packages if (folder / "__init__.py").exists())
    )
    around += "".join(map(origin, _members_of(spec)))
    return _digest([*sources, *_files_of(spec)], around)


def code_of(spec: str) -> str:
    """Return `code_version`, and the digest of an agent's own code if it is not the library's."""
    return code_version() if _is_of_library(spec) else f"{code_version()}, {origin(spec)}"


def _is_of_library(spec: str) -> bool:
    """Return whether the code of an agent and of its members is the library's."""
    own = all(PACKAGE in file.parents for file in _sources_of(spec))
    return own and all(map(_is_of_library, _members_of(spec)))


def agent_digest(spec: str) -> str:
    """Return a digest of a spec and all files that it names; `code_version` tells the code."""
    return _digest(_files_of(spec), spec)


def _files_of(spec: str) -> list[Path]:
    """Return all files that a spec names, and those in folders and policies that it names."""
    paths = [path for member in _members_of(spec) for path in _files_of(member)]
    name, _, text = resolved(spec)
    parts = re.split(r"[,=\s]" if name == PROGRAM else "[,=]", text)
    for part in filter(None, parts):
        named = policy_folder(part)
        inside = sorted(named.rglob("*")) if named.is_dir() else [named, statistics_beside(named)]
        paths += [path for path in inside if path.is_file()]
    return paths


def _sources_of(spec: str) -> list[Path]:
    """Return the file of an agent's class, and that of the language model that it asks."""
    name, source, text = resolved(spec)
    sources: list[Any] = [source]
    if name == TEXT:
        assert isinstance(source, type)
        model: str = options_in(name, source, text)["model"]
        sources.append(import_module(model.partition(":")[0]))
    if not hasattr(source, "__qualname__"):  # an object, such as `as_agent` makes
        sources = [type(source), import_module(name.partition(":")[0])]
    return [Path(inspect.getfile(source)) for source in sources]


def _members_of(spec: str) -> list[str]:
    """Return the specs that the spec of a pair, of seats or of a mixture names."""
    name, source, text = resolved(spec)
    if name == MIX:
        return [member for member, _ in members_of(text)]
    if name not in SEATED:
        return []
    assert isinstance(source, type)
    return list(options_in(name, source, text).values())


def _digest(paths: Iterable[Path], text: str = "") -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=8)
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


class ResultsFile:
    """The chunks that have been played, kept in a file to which new ones are appended."""

    def __init__(self, path: str | os.PathLike[str], header: Json, specs: Sequence[str]) -> None:
        """Read a results file, or create it; `specs` are the agents of the tournament."""
        self.path = file_path(path)
        self.played: dict[Task, Played] = {}
        self._origins = {spec: origin(spec) for spec in specs}
        try:
            self._file = Appended(self.path)
        except BlockingIOError:
            raise ArenaError(
                f"{self.path} is in use by another process: wait for it, or choose another file"
            ) from None
        try:
            self._read(header)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add(self, task: Task, played: Played) -> None:
        """Append a chunk; it is on disk when this returns."""
        about = {
            "agents": task.agents,
            "origins": [self._origins[spec] for spec in task.agents],
            "first": task.first,
            "deals": task.deals,
        }
        self._file.append(_sealed_line(about | to_json(played)))
        self.played[task] = played

    def _read(self, header: Json) -> None:
        """Read all chunks; further headers are those of results that were appended as a whole.

        A new file is given its header, and so is one whose header was cut off as it was written.
        """
        content, first = self.path.read_bytes(), _line(header)
        if len(content) < len(first) and first.startswith(content):
            self._file.append(first)
            return
        begun, *lines = content[: content.rfind(b"\n") + 1].splitlines() or [b""]
        written = _header_in(begun)
        if written is None:
            raise ArenaError(f"{self.path} is not a results file of the arena: choose another name")
        _check_header(f"{self.path}", written, header)
        for number, line in enumerate(lines, 2):
            if written := _header_in(line):
                _check_header(f"{self.path}, line {number},", written, header)
                continue
            try:
                chunk = _opened(line)
                task = Task(tuple(chunk["agents"]), chunk["first"], chunk["deals"])
                origins, played = chunk["origins"], from_json(chunk)
            except (ValueError, RecursionError):
                raise ArenaError(
                    f"{self.path}, line {number} is damaged: remove that line, "
                    "and its deals will be played again"
                ) from None
            for spec, was in zip(task.agents, origins, strict=True):
                if (now := self._origins.get(spec, was)) != was:
                    raise ArenaError(
                        f"{self.path}, line {number}, was played with version {shown(was)} of "
                        f"{spec}, not {now!r}: its code or its files have changed; choose another "
                        "results file"
                    )
            self.played[task] = played


def _header_in(line: bytes) -> Json | None:
    """Return the header that a line is, or None."""
    try:
        written = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return written if isinstance(written, dict) and written.get("format") == FORMAT else None


def _check_header(where: str, written: Json, header: Json) -> None:
    """Refuse results of other games; `where` names them."""
    for name in header | written:
        was, now = (one.get(name, "unknown") for one in (written, header))
        if was != now:
            raise ArenaError(
                f"{where} was played with {name} {shown(was)}, not {now!r}: "
                "choose another file, or continue with its settings"
            )


def to_json(played: Played) -> Json:
    """Return a chunk as plain values; histograms map points to counts and leave out zeros."""
    tally = played.tally[0]
    return {
        "scores": played.scores.tolist(),
        "hands": played.hands.tolist(),
        "forfeits": {
            str(i): int(played.forfeits[i]) for i in np.flatnonzero(played.forfeits != NOBODY)
        },
        "decisions": played.decisions.tolist(),
        "plies": tally["plies"].tolist(),
        "ply_points": tally["ply_points"].tolist(),
        "hand_points": [_sparse(row) for row in tally["hand_points"]],
        "hand_margins": _sparse(tally["hand_margins"]),
        "seconds": played.seconds.tolist(),
        "judged": played.judged.tolist(),
        "faults": list(played.faults),
        "usage": list(played.usage),
    }


def from_json(chunk: Json) -> Played:
    """Return the chunk that `to_json` made these values from."""
    tally = np.zeros(1, TALLY)
    tally[0]["plies"], tally[0]["ply_points"] = chunk["plies"], chunk["ply_points"]
    for row, counts in zip(tally[0]["hand_points"], chunk["hand_points"], strict=True):
        _fill(row, counts)
    _fill(tally[0]["hand_margins"], chunk["hand_margins"])
    forfeits = np.full(len(chunk["hands"]), NOBODY)
    for i, agent in chunk["forfeits"].items():
        forfeits[int(i)] = agent
    return Played(
        scores=np.array(chunk["scores"]),
        hands=np.array(chunk["hands"]),
        forfeits=forfeits,
        tally=tally,
        decisions=np.array(chunk["decisions"]),
        seconds=np.array(chunk["seconds"]),
        judged=np.array(chunk["judged"]).reshape(-1, 2, 3),
        faults=tuple(chunk["faults"]),
        usage=tuple(chunk["usage"]),
    )


def _sparse(counts: np.ndarray) -> dict[str, int]:
    return {str(k - MOST_POINTS): int(counts[k]) for k in np.flatnonzero(counts)}


def _fill(row: np.ndarray, counts: dict[str, int]) -> None:
    for points, count in counts.items():
        row[int(points) + MOST_POINTS] = count


def _line(values: Json) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def _sealed_line(values: Json) -> bytes:
    """Return a line with a digest of itself, by which damage to any figure is noticed."""
    return _line(values | {"digest": hashlib.blake2b(_line(values), digest_size=8).hexdigest()})


def _opened(line: bytes) -> Json:
    """Return the values of a sealed line; raise ValueError if it is damaged."""
    values = json.loads(line)
    if isinstance(values, dict):
        values.pop("digest", None)
        if _sealed_line(values) == line + b"\n":
            return values
    raise ValueError("its content does not match its digest")
