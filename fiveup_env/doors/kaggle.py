"""Kaggle's environments: the specification, and the functions that they ask for.

    from kaggle_environments import make
    import fiveup_env.doors.kaggle      # registers fiveup

    env = make("fiveup", configuration={"rules": "all_fives"}, info={"seed": 7})
    env.run([agent, agent])

The seed is in `info`, which agents are not shown; without one, deals are random. An observation
holds what the seat may know and only at its turn: a `prompt`, the `view` as JSON, and the `legal`
moves. An action is a move as text, or an answer whose last line is one. One that is not legal
loses.
"""

from __future__ import annotations

from typing import Any, Final

from fiveup_env.doors.prompts import move_in, prompt
from fiveup_env.errors import FiveUpError, MissingExtraError
from fiveup_env.game.game import Game
from fiveup_env.game.view_json import view_json
from fiveup_env.rules.fields import MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.presets import NAMED_RULES

try:
    from kaggle_environments import register
except ImportError:
    raise MissingExtraError(
        "the adapter needs kaggle-environments: pip install 'fiveup-env[kaggle]'"
    ) from None

NAME: Final = "fiveup"
SPECIFICATION: Final[dict[str, Any]] = {
    "name": NAME,
    "title": "Five Up",
    "description": "Five Up and its family of domino games.",
    "version": "1.0.0",
    "agents": list(range(MIN_PLAYERS, MAX_PLAYERS + 1)),
    "configuration": {
        "episodeSteps": {
            "description": "Decisions after which a game is cut off.",
            "type": "integer",
            "minimum": 1,
            "default": 10_000,
        },
        "actTimeout": 60,
        "rules": {
            "description": "The name of a preset.",
            "type": "string",
            "enum": list(NAMED_RULES),
            "default": "five_up",
        },
        "fields": {
            "description": "Fields of the rules that override those of the preset.",
            "type": "object",
            "default": {},
        },
    },
    "reward": {
        "description": "-1: lost, 0: not over, 1: won",
        "enum": [-1, 0, 1],
        "default": 0,
    },
    "observation": {
        "prompt": {"description": "The rules and the position.", "type": "string", "default": ""},
        "view": {"description": "What the seat may know.", "type": "object", "default": {}},
        "legal": {"description": "The legal moves.", "type": "array", "default": []},
        "remainingOverageTime": 60,
    },
    "action": {"description": "A move, such as 5-3@5.", "type": "string", "default": ""},
    "status": {"defaults": ["ACTIVE", "INACTIVE"]},
}


def interpreter(state: Any, env: Any) -> Any:
    """Make the move of the agent whose turn it is, and show the next one its position."""
    if env.done:
        rules = Rules.of(env.configuration.rules, len(state), **dict(env.configuration.fields))
        env.fiveup = Game(rules, seed=(env.info or {}).get("seed"))
        for agent in state:
            agent.reward = 0
        return _shown(state, env.fiveup)
    game: Game = env.fiveup
    turn = game.turn
    assert turn is not None
    try:
        game.push(move_in(str(state[turn].action), game.view()))
    except FiveUpError:
        sides = game.rules.side_of
        return _ended(state, [s for s in range(len(state)) if sides(s) != sides(turn)], turn)
    if outcome := game.outcome():
        return _ended(state, list(outcome.seats), None)
    return _shown(state, game)


def _shown(state: Any, game: Game) -> Any:
    """Show the seat to move what it may know, and the others nothing."""
    for seat, agent in enumerate(state):
        mine = seat == game.turn
        agent.status = "ACTIVE" if mine else "INACTIVE"
        agent.observation.prompt = prompt(game.view(seat)) if mine else ""
        agent.observation.view = view_json(game.view(seat)) if mine else {}
        agent.observation.legal = list(map(str, game.legal_moves)) if mine else []
    return state


def _ended(state: Any, winners: list[int], at_fault: int | None) -> Any:
    for seat, agent in enumerate(state):
        agent.reward = 1 if seat in winners else -1
        agent.status = "INVALID" if seat == at_fault else "DONE"
    return state


def renderer(state: Any, env: Any) -> str:
    """Return the table as text, all hands open: it is for those who watch."""
    del state
    return str(env.fiveup) if hasattr(env, "fiveup") else ""


def html_renderer() -> str:
    """Return the JavaScript that shows an episode: the position of the seat to move, as text."""
    return (
        "async function renderer({ environment, parent, step }) {\n"
        "  const seats = environment.steps[step];\n"
        "  const text = seats.map((seat) => seat.observation.prompt).find((one) => one) || '';\n"
        "  const [, position = 'The game is over.'] = text.split('The position:');\n"
        "  parent.innerHTML = '<pre></pre>';\n"
        "  parent.firstChild.textContent = position;\n"
        "}\n"
    )


register(
    NAME,
    {
        "agents": {},
        "html_renderer": html_renderer,
        "interpreter": interpreter,
        "renderer": renderer,
        "specification": SPECIFICATION,
    },
)
