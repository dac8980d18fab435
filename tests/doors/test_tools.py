"""What a model may ask before it moves: it is exact, counted, and holds no more than the view."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from fiveup_env import Game, Rules
from fiveup_env.doors.text import TextAgent, TextEnv
from fiveup_env.doors.text.tools import MOST_ASKED, TOOLS, asked_in, checked_tools, told
from fiveup_env.errors import AgentError, FiveUpError, IllegalMoveError, InvalidMoveError
from tests.support import EVERY_PRESET, before_an_end, hidden_otherwise, label


@pytest.mark.parametrize("rules", EVERY_PRESET[::2], ids=label)
def test_a_score_is_what_the_move_brings(rules: Rules) -> None:
    game, scored = Game(rules, seed=3), 0
    rng = Random(1)
    while not game.is_game_over() and len(game.moves) < 200:
        view = game.view()
        for move in game.legal_moves:
            said = told("score", str(move), view)
            if move.tile is not None:
                after = game.copy()
                after.push(move)
                step = [*after.steps()][-1]
                points = re.search(r"total (\d+), (\d+) points?\.$", said)
                assert points
                assert (int(points[1]), int(points[2])) == (step.total, step.points)
                scored += step.points > 0
            else:
                assert said.endswith("brings nothing at once.")
        game.push(rng.choice([*game.legal_moves]))
    assert scored > 5


@pytest.mark.parametrize("rules", EVERY_PRESET[::3], ids=label)
def test_hidden_tiles_change_nothing_that_a_tool_says(rules: Rules) -> None:
    game = before_an_end(rules)
    other = hidden_otherwise(game, Random(1), game.turn)
    move = str(next(iter(game.legal_moves)))
    for tool in TOOLS:
        assert told(tool, move, game.view()) == told(tool, move, other.view())


def test_what_is_asked_is_found_in_the_last_line_alone() -> None:
    assert asked_in("Hm.\n\n**ask score 5-3@5x.**\n", TOOLS) == ("score", "5-3@5x")
    assert asked_in("Ask: belief", TOOLS) == ("belief", "")
    for answer in (
        "",
        "ask belief\nlead 5-3",
        "ask",
        "ask everything",
        "I ask belief",
        "ask\x00belief",
    ):
        assert asked_in(answer, TOOLS) is None
    assert asked_in("ask belief", ("ends",)) is None


def test_an_environment_answers_and_counts_what_is_asked_and_goes_on() -> None:
    env = TextEnv("five_up", 2, seat=0, opponents="greedy", tools="score+belief")
    text, info = env.reset(options={"deal": 7})
    assert "you may ask in your last line: 'ask belief', 'ask score 5-3'." in text
    again, reward, over, _, asked = env.step("ask score lead 2-1")
    assert again == f"'lead 2-1': total 3, 0 points.\n\n{text}"
    assert (reward, over, asked["asked"], asked["legal"]) == (0, False, "score", info["legal"])
    for wrong, unreadable in (("ask score 6-6", False), ("ask score", True), ("ask ends", True)):
        _, reward, _, _, info = env.step(wrong)
        assert (reward, info["unreadable"]) == (-0.1, unreadable)
        env.step("lead 0-0") if wrong == "ask score" else None
    assert dict(env.usage) == {"answers": 5, "asked": 1, "illegal": 1, "unreadable": 2}
    assert "you may ask" not in TextEnv(players=2, opponents="greedy").reset(seed=1)[0]


def test_who_asks_for_ever_is_wrong() -> None:
    env = TextEnv("five_up", 2, seat=0, opponents="greedy", tools=["belief"])
    env.reset(seed=1)
    for _ in range(MOST_ASKED):
        assert not env.step("ask belief")[2]
    assert [env.step("ask belief")[2] for _ in range(3)] == [False, False, True]


def test_an_agent_asks_and_is_told_in_the_games_words() -> None:
    heard: list[str] = []

    def model(prompt: str) -> str:
        heard.append(prompt)
        return ("ask ends", "ask score [0|0]", "launch [0|0]")[len(heard) - 1]

    agent = TextAgent(model, words="quarry", tools="ends+score")
    assert str(Game(players=2, seed=7).ask(agent)) == "0-0"
    assert heard[1].startswith("No slab has been launched yet.\n\n")
    assert heard[2].startswith("'launch [0|0]': total 0")
    assert dict(agent.usage) == {"answers": 3, "tokens": 0, "asked": 2}
    usual = TextAgent(lambda _prompt: "ask belief", tools="belief", tries=2)
    with pytest.raises(FiveUpError):
        Game(players=2, seed=7).ask(usual)
    assert usual.usage == {"answers": MOST_ASKED + 2, "tokens": 0, "asked": 16, "unreadable": 2}


@pytest.mark.parametrize("tools", ["beliefs", "belief,ends", ["hands"], "belief+belief+x"])
def test_a_tool_that_does_not_exist_is_refused(tools: Any) -> None:
    with pytest.raises(AgentError, match="there is no tool"):
        checked_tools(tools)
    assert checked_tools("score+belief+score") == ("belief", "score")


@pytest.mark.parametrize("about", ["", "6-7", "x" * 1_000_000, "\x00", "5-3 5-3"])
def test_what_is_no_move_is_no_question(about: str) -> None:
    with pytest.raises((InvalidMoveError, IllegalMoveError)):
        told("score", about, Game(players=2, seed=7).view())
