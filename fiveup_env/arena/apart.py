"""An agent in processes of its own, which are given views and chance, and nothing else.

It has a process for every seat that it takes and every seating: whoever sees two hands of a deal
knows more than a seat does. No frame, module or file of these processes holds a game. Both sides
send a line of JSON, then arrays as bytes. Nothing that an agent sends is unpickled or run, and an
answer of any other form is an error of the agent.

Where Linux has Landlock, the processes cannot read the memory of the arena or of each other, nor
stop them.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.view import VIEW
from fiveup_env.errors import FiveUpError
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.registry import make_agent, register_missing, registered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fiveup_env.opponents.agent import Agent

ROOT: Final = Path(__file__).parents[2]
LONGEST: Final = 1 << 20  # bytes of the first line of an answer, and numbers in it
NUMBERS: Final = "biuf"  # the kinds of arrays that an answer may hold
# Of Linux: options of prctl, the system calls of Landlock, and what they are given.
DEATH_OF_PARENT: Final = 1
NO_NEW_PRIVILEGES: Final = 38
CREATE_RULESET: Final = 444
RESTRICT_SELF: Final = 446
MAKE_BLOCK: Final = 1 << 11
SCOPES: Final = 3  # no signals to processes outside, nor their abstract sockets
SCOPED_SINCE: Final = 6


class ApartError(FiveUpError):
    """What an agent raised in its process."""


class EndedError(ApartError):
    """A process that has ended, or that answers in no form that an answer has."""


class Apart:
    """The agent of a spec, of which every part plays in a process of its own."""

    def __init__(self, spec: str) -> None:
        """Start nothing yet."""
        self._spec = spec
        self._parts: dict[tuple[int, int], ApartProcess] = {}

    def start(self, wanted: np.ndarray) -> list[ApartProcess]:
        """Start the parts that are missing, and return them when they are ready.

        `wanted` says of every seating (a row) and seat (a column) whether there is such a part.
        """
        new = {
            (way, seat): ApartProcess(self._spec)
            for way, seat in np.argwhere(wanted).tolist()
            if (way, seat) not in self._parts
        }
        for process in new.values():
            process.wait_until_made()
        self._parts |= new
        return list(new.values())

    def part(self, way: int, seat: int) -> ApartProcess:
        """Return the part that plays a seat in a seating."""
        return self._parts[way, seat]

    @property
    def ended(self) -> bool:
        """Whether the process of a part has ended, so that nothing more can be asked."""
        return any(process.ended for process in self._parts.values())


class ApartProcess:
    """An agent that plays in a process of its own."""

    def __init__(self, spec: str) -> None:
        """Start the process."""
        self._process = subprocess.Popen(  # noqa: S603  (this Python, this module, a checked spec)
            [sys.executable, "-m", "fiveup_env.arena.apart", spec, json.dumps(registered())],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT)])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._to_agent, self._from_agent = self._process.stdin, self._process.stdout
        self.ended = False  # whether nothing more can be asked

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_made(self) -> None:
        """Wait until the agent is made."""
        read_answer(self._from_agent)

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the agent's answer, whatever numbers it is; raise ApartError if it is none."""
        try:
            return self._ask(views, rng)
        except EndedError:
            self.ended = True
            self._process.kill()
            raise

    def _ask(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        question = {"views": len(views), "chance": rng.bit_generator.state}
        try:
            self._to_agent.write(_line(question))
            self._to_agent.write(views.tobytes())
            self._to_agent.flush()
        except BrokenPipeError:
            raise EndedError("ended its process") from None
        return read_answer(self._from_agent)

    def __del__(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._to_agent.close()
        self._from_agent.close()


def read_answer(pipe: IO[bytes]) -> np.ndarray:
    """Return the array of an answer; raise ApartError if it is an error, or of another form."""
    line = pipe.readline(LONGEST)
    if not line:
        raise EndedError("ended its process")
    with suppress(ValueError, TypeError, KeyError, OverflowError, RecursionError):
        answer = dict(json.loads(line))
        if "error" not in answer:
            return _array(answer, pipe)
        raise ApartError(str(answer["error"]))
    raise EndedError("answered in no form that an agent's answer has")


def _array(answer: dict[str, Any], pipe: IO[bytes]) -> np.ndarray:
    """Return the array that follows the first line of an answer."""
    kind, shape = np.dtype(str(answer["kind"])), tuple(map(int, answer["shape"]))
    if kind.kind not in NUMBERS or min(shape, default=0) < 0 or math.prod(shape) > LONGEST:
        raise ValueError(kind)
    return np.frombuffer(pipe.read(math.prod(shape) * kind.itemsize), kind).reshape(shape)


def _serve(spec: str, agents: Mapping[str, str]) -> None:
    """Answer questions until there are no more: the main function of the process."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_OF_PARENT, signal.SIGKILL)
        _confine()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an agent prints is no answer
    register_missing(agents)
    try:
        agent = unchecked(make_agent(spec))
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
    except FiveUpError as error:
        _write(answers, {"error": str(error)})
        return
    _write(answers, {"kind": "i1", "shape": [0]})
    while line := sys.stdin.buffer.readline():
        question = json.loads(line)
        try:
            actions = _asked(agent, question, sys.stdin.buffer)
        except Exception as error:  # noqa: BLE001  (whatever it raises is an answer)
            _write(answers, {"error": f"{type(error).__name__}: {error}"})
        else:
            answer = {"kind": actions.dtype.str, "shape": actions.shape}
            _write(answers, answer, actions.tobytes())


def _confine() -> None:
    """Keep this process from the memory of others, and from stopping them, where Linux can.

    A domain of Landlock has to forbid something: nobody here makes a block device.
    """
    libc = ctypes.CDLL(None)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    ruleset = (ctypes.c_uint64 * 3)(MAKE_BLOCK, 0, SCOPES if version >= SCOPED_SINCE else 0)
    size = ctypes.sizeof(ruleset) if version >= SCOPED_SINCE else ctypes.sizeof(ctypes.c_uint64)
    domain = libc.syscall(CREATE_RULESET, ruleset, ctypes.c_size_t(size), 0)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, domain, 0)
    os.close(domain)


def _asked(agent: Agent, question: dict[str, Any], pipe: IO[bytes]) -> np.ndarray:
    """Ask the agent, and return its answer."""
    count = question["views"]
    views = np.frombuffer(bytearray(pipe.read(count * VIEW.itemsize)), VIEW)
    rng = np.random.default_rng(0)
    rng.bit_generator.state = question["chance"]
    actions = np.asarray(agent(views, rng))
    if actions.dtype.kind not in NUMBERS:
        raise TypeError(f"returned an array of {actions.dtype}")
    return actions


def _write(pipe: IO[bytes], answer: dict[str, Any], content: bytes = b"") -> None:
    pipe.write(_line(answer) + content)
    pipe.flush()


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values).encode() + b"\n"


if __name__ == "__main__":
    _serve(sys.argv[1], json.loads(sys.argv[2]))
