"""Our side of fiveup-agent: a program in a process of its own, which is asked for moves.

It is given views and chance, and nothing else. An answer that is invalid or late ends it. An error
that it reports does not.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.errors import AgentError, FiveUpError, shown
from fiveup_env.opponents.registry import PROGRAM, make_agent, registered
from fiveup_env.programs import confined
from fiveup_env.programs.messages import (
    LONGEST_ANSWER,
    MOST_VIEWS,
    MessageError,
    actions_in,
    chance_of,
    check_hello,
    form_of,
    hello,
    line_of,
    message_in,
    question,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fiveup_env.files import Json

ROOT: Final = Path(__file__).parents[2]
READY: Final = 300.0  # seconds for a program to greet: it may have to load and to compile


class ProgramError(FiveUpError):
    """A program's report of its own failure, such as an exception of its agent."""


class EndedError(ProgramError):
    """A program that has ended, or that was ended: nothing more can be asked."""


def serving(spec: str, seconds: float | None = None) -> ProgramProcess:
    """Return the process in which the agent of a spec plays alone, ended by nobody's clock.

    An agent of Python is served by `fiveup serve`, with the modules that can be imported here.
    """
    if spec.partition(":")[0] == PROGRAM:
        program: Any = make_agent(spec)
        return ProgramProcess(program.words, seconds, watched=False)
    places = [f"{name}={place}" for name, place in registered().items()]
    others = [place for place in places if "=fiveup_env." not in place]
    words = [word for place in others for word in ("--register", place)]
    path = os.pathsep.join([*filter(None, sys.path), str(ROOT)])
    return ProgramProcess(
        [sys.executable, "-m", "fiveup_env", "serve", spec, *words],
        seconds,
        watched=False,
        env=os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"},  # and no current folder
    )


def words_of(text: str) -> list[str]:
    """Return the words of a command; raise AgentError if there is no such program."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise AgentError(f"{shown(text)} is not a command: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise AgentError(
            f"there is no program {shown(words[0] if words else text)} that can be run; a program "
            "is named as program:./mybot --level 3"
        )
    return words


class ProgramProcess:
    """A program that plays, by its command."""

    def __init__(
        self,
        command: Sequence[str],
        seconds: float | None,
        *,
        watched: bool,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start the program and greet it; `wait_until_ready` hears its answer.

        Args:
            command: Its words.
            seconds: What it is allowed for a decision; None: any time.
            watched: Whether the program is ended when that has passed on the wall.
            env: Its environment; None: ours.
        """
        start = []
        if sys.platform == "linux":
            # Linux ends a child with the thread that started it, and only this one lasts.
            lasting = threading.current_thread() is threading.main_thread()
            bond = confined.BOUND if lasting else confined.FREE
            start = [sys.executable, "-IS", confined.__file__, bond]
        self._process = subprocess.Popen(  # noqa: S603  (the user has named it)
            [*start, *command],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",  # which Ctrl-C does not end
        )
        assert self._process.stdin
        assert self._process.stdout
        self._to_program: IO[bytes] = self._process.stdin
        self._from_program: IO[bytes] = self._process.stdout
        self._seconds, self._watched = seconds, watched
        self._asked, self._form = 0, ""
        self.ended = False  # whether nothing more can be asked
        self._send(hello())

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait for the program's greeting; raise ProgramError if it is none."""
        with self._ending(READY):
            message = self._receive()
            check_hello(message)
            self._form = form_of(message)

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the program's action for each of some views [N], legal or not.

        Raises ProgramError if it reports an error, EndedError if it is ended by what it does.
        """
        if not len(views):
            return np.empty(0, np.int64)
        if not self._form:
            self.wait_until_ready()
        rules = np.ascontiguousarray(views["public"]["rules"])
        rows = rules.view(np.uint8).reshape(len(views), -1)
        if len(views) <= MOST_VIEWS and (rows == rows[:1]).all():
            return self._ask(views, rng)
        _, groups = np.unique(rows, axis=0, return_inverse=True)
        actions = np.empty(len(views), np.int64)
        for group in range(groups.max() + 1):
            games = np.flatnonzero(groups == group)
            for part in np.split(games, range(MOST_VIEWS, len(games), MOST_VIEWS)):
                actions[part] = self._ask(views[part], rng)
        return actions

    def _ask(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self._asked += 1
        allowed = None if self._seconds is None else self._seconds * len(views)
        asked = question(self._asked, views, chance_of(rng), allowed, self._form)
        with self._ending(allowed if self._watched else None):
            self._send(asked)
            message = self._receive()
            if message.get("id") != self._asked:
                raise MessageError(
                    f"answered request {shown(message.get('id'))}, when {self._asked} was asked"
                )
            if message["type"] != "chosen":
                raise MessageError(
                    f"a question is answered by chosen, not {shown(message['type'])}"
                )
            return actions_in(message, len(views))

    def _send(self, message: Json) -> None:
        with suppress(BrokenPipeError, ValueError):  # then there is no answer, which is said
            self._to_program.write(line_of(message))
            self._to_program.flush()

    def _receive(self) -> Json:
        line = self._from_program.readline(LONGEST_ANSWER)
        if not line:
            raise EndedError("ended its process")
        message = message_in(line, LONGEST_ANSWER)
        if message["type"] == "error" and message.get("id") in (None, self._asked):
            raise ProgramError(shown(message.get("message"), str))
        return message

    @contextmanager
    def _ending(self, seconds: float | None) -> Iterator[None]:
        """End the program if it takes longer, and for what the protocol does not allow."""
        late = threading.Event()
        watch = threading.Timer(seconds or 0, _end_late, (self._process, late))
        watch.daemon = True
        if seconds is not None:
            watch.start()
        try:
            yield
        except MessageError as error:
            self.end()
            raise EndedError(str(error)) from None
        except EndedError:
            self.end()
            if late.is_set():
                raise EndedError(f"did not answer within {seconds:g} seconds") from None
            raise
        finally:
            watch.cancel()

    def end(self) -> None:
        """End the program, and the processes that it has started."""
        self.ended = True
        _kill(self._process)
        self._process.wait()
        with suppress(BrokenPipeError):
            self._to_program.close()
        self._from_program.close()

    def __del__(self) -> None:
        """End the program with this object."""
        if hasattr(self, "_process") and not self.ended:
            self.end()


def _end_late(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those of its session; what it was asked is then answered by its end."""
    if os.name == "posix" and process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
