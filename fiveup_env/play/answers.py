"""What would this agent do in this view: agents by any spec, for the page."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import as_view, legal_masks
from fiveup_env.errors import IllegalMoveError, InputError, RequestError, shown
from fiveup_env.game.game import Game
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.trust import check_spec
from fiveup_env.rules.actions import Move

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules


class Answers:
    """Agents that were asked before, each for one request at a time.

    A page names agents as a file may (`check_spec`): modules are imported, programs started, and
    folders read, only for the user of the server.
    """

    def __init__(self) -> None:
        """Begin with no agent."""
        self._allowed: set[str] = set()
        self._agents: dict[str, tuple[Agent, threading.Lock]] = {}
        self._lock = threading.Lock()

    def allow(self, specs: Iterable[str]) -> None:
        """Allow the page the specs that the user of the server named."""
        self._allowed.update(specs)

    def warm_up(self, rules: Rules) -> None:
        """Compile what the allowed agents need, while the browser opens."""
        view = Game(rules, seed=0).view().tobytes().hex()
        for spec in sorted(self._allowed):
            self.answer(spec, view, 0)

    def agent(self, spec: Any) -> tuple[Agent, threading.Lock]:
        """Return an agent and the lock that guards it; raise AgentError if there is none."""
        if not isinstance(spec, str) or spec not in self._allowed:
            check_spec(spec)
        with self._lock:
            if spec not in self._agents:
                self._agents[spec] = make_agent(spec), threading.Lock()
            return self._agents[spec]

    def answer(self, spec: Any, view: object, key: object) -> str:
        """Return the move of an agent for a view in hexadecimal digits; the key is its chance."""
        agent, lock = self.agent(spec)
        seen, number = _view_in(view), whole(_number_in(key), 0, (1 << 64) - 1)
        if number is None:
            raise RequestError(f"a key is a number from 0 to 2**64 - 1, not {shown(key)}")
        legal = legal_masks(seen)[0]
        if not legal.any():
            raise RequestError("the seat of this view is not to move")
        with lock:
            action = int(np.asarray(agent(seen, keyed_rng("table", number))).reshape(-1)[0])
        if not (0 <= action < len(legal) and legal[action]):
            raise IllegalMoveError(f"{shown(spec)} chose what is not allowed: {shown(action)}")
        return str(Move(action))


def _view_in(text: object) -> np.ndarray:
    try:
        content = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        content = b""
    if len(content) != VIEW.itemsize:
        raise RequestError(f"a view is {VIEW.itemsize} bytes in hexadecimal digits")
    try:
        return as_view(np.frombuffer(content, VIEW).copy())
    except InputError as error:
        raise RequestError(str(error)) from None


def _number_in(key: object) -> object:
    return int(key) if isinstance(key, str) and key.isdecimal() and len(key) <= 20 else key
