"""The other side of fiveup-agent: an agent of ours that answers lines of JSON with lines of JSON.

Every line gets an answer. One that is wrong gets an error, whose sentence says what was expected,
and the next line is read as if it had not been there.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Final

from fiveup_env.checks import whole
from fiveup_env.engine.state import VIEW
from fiveup_env.errors import FiveUpError, shown
from fiveup_env.opponents.agent import unchecked
from fiveup_env.programs.messages import (
    LONGEST,
    PROTOCOL,
    VERSION,
    MessageError,
    answer,
    check_hello,
    checked_actions,
    line_of,
    message_in,
    rng_of,
    views_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fiveup_env.files import Json
    from fiveup_env.opponents.agent import Agent


MOST_ID: Final = (1 << 53) - 1  # JavaScript's largest whole number


def serve_here(make: Callable[[], Agent], name: str) -> None:
    """Serve an agent on the standard streams of this process.

    What the agent prints goes to standard error: it is not an answer.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        agent = make()
    except FiveUpError as error:
        answers.write(line_of({"type": "error", "id": None, "message": str(error)}))
        answers.flush()
        raise
    if "torch" in sys.modules:  # games share the cores already
        sys.modules["torch"].set_num_threads(1)
    serve(agent, name, sys.stdin.buffer, answers)


def serve(agent: Agent, name: str, questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer lines until there are no more, or one says quit."""
    server = Server(agent, name)
    for line in _lines(questions):
        reply = server.reply(line)
        if reply is None:
            return
        answers.write(line_of(reply))
        answers.flush()


def _lines(pipe: IO[bytes]) -> Iterator[bytes]:
    """Yield lines; of one that is too long the beginning."""
    while line := pipe.readline(LONGEST):
        rest = line
        while len(rest) >= LONGEST and not rest.endswith(b"\n"):
            rest = pipe.readline(LONGEST)
        yield line


class Server:
    """Answers messages as an agent of ours."""

    def __init__(self, agent: Agent, name: str) -> None:
        """Serve an agent under a name."""
        self._choose, self._name, self._greeted = unchecked(agent), name, False

    def reply(self, line: bytes) -> Json | None:
        """Return the answer to a line, or None if there is nothing more to answer."""
        number = None
        try:
            message = message_in(line, LONGEST)
            number = whole(message.get("id"), 0, MOST_ID)
            if message["type"] == "quit":
                return None
            if message["type"] == "hello" or not self._greeted:
                return self._hello(message)
            return self._chosen(message, number)
        except MessageError as error:
            return {"type": "error", "id": number, "message": str(error)}

    def _hello(self, message: Json) -> Json:
        check_hello(message)
        self._greeted = True
        offered = message.get("views")
        structs = isinstance(offered, list) and "struct" in offered
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "version": VERSION,
            "name": self._name,
            "views": "struct" if structs and message.get("view_bytes") == VIEW.itemsize else "json",
        }

    def _chosen(self, message: Json, number: int | None) -> Json:
        if message["type"] != "choose":
            raise MessageError(f"a message is hello, choose or quit, not {shown(message['type'])}")
        if number is None:
            raise MessageError(
                f"choose: id is a whole number from 0 to {MOST_ID}, not {shown(message.get('id'))}"
            )
        views, rng = views_in(message), rng_of(message)
        try:
            return answer(number, checked_actions(self._choose(views, rng), len(views)))
        except MessageError:
            raise
        except Exception as error:  # noqa: BLE001  (whatever it raises is an answer)
            raise MessageError(f"{type(error).__name__}: {error}") from None
