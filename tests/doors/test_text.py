"""The environment for language models: prompts, answers, costs, and what it says of moves."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from fiveup_env import Game, IllegalMoveError, InvalidMoveError, make_agent
from fiveup_env.doors.text import Costs, TextEnv
from fiveup_env.doors.text.prompts import MOST_NOTES, deductions, move_in, notes_after, prompt
from fiveup_env.errors import OptionError, UnexpectedOptionError, WrongMomentError
from fiveup_env.game import move_words
from fiveup_env.rules.fields import RuleFields
from tests.support import game_of, hidden_otherwise, play_randomly


def made(**options: Any) -> TextEnv:
    chosen: dict[str, Any] = {"seat": 0, "opponents": "greedy"} | options
    return TextEnv("five_up", 2, **chosen)


def test_gymnasium_finds_nothing_wrong() -> None:
    check_env(made(episode="hand"), skip_render_check=True)


@pytest.mark.parametrize("kind", ["bare", "deductions", "notes"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_reader_of_words_plays_a_hand(kind: Any, players: int) -> None:
    env = TextEnv("five_up", players, prompt=kind, episode="hand")
    text, info = env.reset(seed=players)
    for _ in range(40):
        found = re.search(r"Your legal moves: (.*)\.", text)
        assert found
        assert found[1].split(", ") == info["legal"]
        assert text in env.observation_space
        text, _, terminated, truncated, info = env.step(f"Let me see.\n{info['legal'][0]}")
        if terminated or truncated:
            break
    assert info["ended"] in {"domino", "blocked", "target"}
    assert {"win", "margin", "winner", "scores"} <= info.keys()
    with pytest.raises(WrongMomentError, match="call reset"):
        env.step("pass")


def test_a_model_is_paid_as_any_learner() -> None:
    env, rewards = made(episode="hand", reward="points"), []
    for seed in range(5):
        _, info = env.reset(options={"deal": seed})
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(info["legal"][-1])
            total, over = total + reward, terminated or truncated
        rewards.append(total - info["scores"][0])
    assert rewards == [0] * 5


def test_wrong_answers_cost_what_the_config_says_and_end_the_episode() -> None:
    env = made(costs=Costs(unreadable=0.5, illegal=0.25, tries=3, forfeit=-2))
    text, _ = env.reset(options={"deal": 7})
    again, reward, terminated, _, info = env.step("I would rather not say.")
    assert (reward, terminated) == (-0.5, False)
    assert info["error"].startswith("'I would rather not say.' is not a move")
    assert again.endswith(text)
    _, reward, terminated, _, info = env.step("lead 6-6")
    assert (reward, terminated) == (-0.25, False)
    assert "legal: lead 0-0" in info["error"]
    _, reward, terminated, truncated, info = env.step("")
    assert (reward, terminated, truncated) == (-2.5, True, False)
    assert info["ended"] == "illegal"


def test_a_legal_move_clears_the_wrong_answers() -> None:
    env = made(costs=Costs(tries=2))
    _, info = env.reset(options={"deal": 7})
    for _ in range(3):
        assert not env.step("?")[2]
        _, _, over, _, info = env.step(info["legal"][0])
        assert not over


def test_the_loss_of_every_move_is_told_and_taken() -> None:
    env = made(reference="pimc:worlds=64,playout=greedy", costs=Costs(loss=1.0))
    twin = made(reference="pimc:worlds=64,playout=greedy")
    _, info = env.reset(seed=7)
    twin.reset(seed=7)
    losses = []
    for _ in range(6):
        answer = info["legal"][-1]
        _, reward, _, _, info = env.step(answer)
        assert twin.step(answer)[4]["loss"] == info["loss"]
        assert reward == pytest.approx(-info["loss"]["chance"])
        losses.append(info["loss"]["chance"])
    assert max(losses) > 0.01


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prompt": "long"}, "there is no prompt 'long'"),
        ({"costs": Costs(loss=1)}, "needs a reference"),
        ({"colour": 1}, "colour"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((OptionError, UnexpectedOptionError), match=sentence):
        made(**options)


@pytest.mark.parametrize("costs", [{"tries": 0}, {"illegal": "x"}, {"loss": float("nan")}])
def test_wrong_costs_are_refused(costs: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Costs(**costs)


def test_rule_fields_may_be_overridden() -> None:
    env = made(target=10, spinners="none")
    assert set(RuleFields.__annotations__) >= {"target", "spinners"}
    assert "wins if it has 10 or more" in env.reset(seed=1)[0]


# --- Answers


@pytest.mark.parametrize(
    "answer",
    [
        "lead 0-0",
        "0-0",
        "  Lead 0-0.  \n\n",
        "6-6 would be best, but I have not got it.\nMove: lead 0-0",
        "My move is: lead 0-0",
        "**lead 0-0**",
        "note: keep the doubles\nlead 0-0",
    ],
)
def test_the_last_line_is_the_answer(answer: str) -> None:
    view = Game("five_up", players=2, seed=7).view()
    assert move_words(move_in(answer, view)) == "lead 0-0"


def test_no_answer_of_any_characters_does_harm() -> None:
    view, chance = Game("five_up", players=2, seed=7).view(), Random(1)
    for _ in range(500):
        answer = "".join(
            chr(chance.choice([chance.randrange(128), chance.randrange(0x11000)]))
            for _ in range(30)
        )
        with pytest.raises((InvalidMoveError, IllegalMoveError)):
            move_in(answer, view)
        notes_after("", f"note: {answer}").encode("ascii")


def test_notes_are_kept_and_forgotten() -> None:
    env = made(prompt="notes")
    text, info = env.reset(options={"deal": 7})
    assert "Your notes:\n\nnone" in text
    text, *_ = env.step(f"Note: seat 1 likes fives\n{info['legal'][0]}")
    assert "Your notes:\n\nseat 1 likes fives" in text
    assert len(notes_after("x" * 5_000, "note: y")) == MOST_NOTES
    assert "likes fives" not in env.reset(seed=1)[0]


# --- What prompts know


def test_deductions_are_those_of_the_belief() -> None:
    game = game_of("5-5 5-4 4-4", "6-6 6-0 0-0", max_pip=6, lead=0)
    game.push("5-5")
    said = deductions(game.view(0))
    assert re.match(r"[\d]+ arrangements of the hidden tiles, all equally likely, agree", said)
    chances = [int(part) for part in re.findall(r"seat 1 (\d+) %", said)]
    held = int(game.view(0)[0]["public"]["sizes"][1])
    assert sum(chances) == pytest.approx(100 * held, abs=len(chances) / 2)


@pytest.mark.parametrize("kind", ["bare", "deductions", "notes"])
def test_hidden_tiles_change_no_character_of_a_prompt(kind: Any) -> None:
    for seed in range(10):
        game = play_randomly(Game("five_up", players=2 + seed % 3, seed=seed), Random(seed), seed)
        other = hidden_otherwise(game, Random(seed))
        assert prompt(game.view(), kind) == prompt(other.view(), kind)


def test_prompts_say_as_much_as_they_are_asked_for() -> None:
    view = Game(seed=3).view()
    assert "legal moves:" not in prompt(view, moves=False)
    assert "arrangements" not in prompt(view)
    assert "arrangements" in prompt(view, "deductions")


def test_what_is_told_can_be_written_down() -> None:
    env = made(episode="hand", reference="pimc:worlds=16,playout=greedy")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        json.dumps(info)
        action = make_agent("greedy")(env.game.view(), np.random.default_rng(0))
        assert len(action) == 1
        _, _, terminated, truncated, info = env.step(info["legal"][0])
        over = terminated or truncated
    json.dumps(info)
