"""Agents that do what they should not, some of them in processes of their own."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from fiveup_env import legal_masks, make_agent

Rng = np.random.Generator
MASK: Final = 1 << 62  # of what the pickpocket looks for, so that this itself is not found
KNOWN: Final = set[int]()  # hands of public deals


@dataclass(frozen=True)
class Faulty:
    """Does what its option says, once a tile has been set."""

    how: str

    def __call__(self, views: np.ndarray, rng: Rng) -> np.ndarray:
        """Return the lowest actions, if anything."""
        del rng
        if self.how == "raises":
            raise RuntimeError("no idea")
        if views["public"]["plies"].any():
            if self.how == "ends":
                os._exit(3)
            time.sleep(600)
        return legal_masks(views).argmax(1)


def spy(views: np.ndarray, rng: Rng) -> np.ndarray:
    """Choose the action whose number is the games in the frames above."""
    del rng
    frame, games = sys._getframe(), 0
    while above := frame.f_back:
        frame = above
        values = [getattr(value, "games", value) for value in frame.f_locals.values()]
        kinds = [held.dtype.names or () for held in values if isinstance(held, np.ndarray)]
        games += sum("hands" in names for names in kinds)
    return np.full(len(views), games)


@dataclass(frozen=True)
class Knowing:
    """Has learnt deals by heart, and plays well on no others."""

    now: dict[str, bool] = field(default_factory=dict)

    def __call__(self, views: np.ndarray, rng: Rng) -> np.ndarray:
        """Return good actions where a hand is known, and the highest elsewhere."""
        public = views["public"]
        first = (public["hand_number"] == 0) & (public["plies"] < 2) & (views["hand"] != 0)
        if first.any():
            self.now["known"] = not KNOWN.isdisjoint(views["hand"][first].tolist())
        if self.now["known"]:
            return make_agent("partner")(views, rng)
        return np.array([np.flatnonzero(mask)[-1] for mask in legal_masks(views)])


@dataclass(frozen=True)
class Pickpocket:
    """Looks for the seed of the arena, or for a way to stop it, and raises what it finds."""

    where: str

    def __call__(self, views: np.ndarray, rng: Rng) -> np.ndarray:
        """Return the lowest actions where nothing was found."""
        del rng
        wanted = (int(os.environ["WANTED"]) ^ MASK).to_bytes(8, "little")
        if self.where == "here":
            self._search_process(wanted)
            return legal_masks(views).argmax(1)
        try:
            if self.where == "stop":
                os.kill(os.getppid(), 0)
                raise RuntimeError("may stop it")
            is_there = any(wanted in part for part in _memory_of(os.getppid()))
        except OSError:
            raise RuntimeError("was kept out") from None
        raise RuntimeError("found it" if is_there else "did not find it")

    @staticmethod
    def _search_process(wanted: bytes) -> None:
        frame, held = sys._getframe(), list[Any]()
        while frame.f_back:
            frame = frame.f_back
            held += [*frame.f_locals.values(), *frame.f_globals.values()]
        arrays = [item for item in [*held, *gc.get_objects()] if type(item) is np.ndarray]
        texts = [str(list(os.environ.items())), str(sys.argv)]
        texts += [Path("/proc/self/cmdline").read_text()] * (sys.platform == "linux")
        number = str(int.from_bytes(wanted, "little"))
        in_arrays = any(wanted in array.tobytes() for array in arrays if array.dtype != object)
        if in_arrays or any(number in text for text in texts):
            raise RuntimeError("found it")


def _memory_of(process: int) -> Iterator[bytes]:
    """Yield the memory of a process that may be read."""
    folder = Path(f"/proc/{process}")
    with (folder / "maps").open() as maps, (folder / "mem").open("rb", 0) as memory:
        for line in maps:
            if " rw-p " in line and "[v" not in line:
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                memory.seek(first)
                try:
                    yield memory.read(last - first)
                except OSError:
                    continue
