"""The environment for language models: prompts, answers, costs, and what it says of moves."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from gymnasium.utils.env_checker import check_env

from fiveup_env import Game, IllegalMoveError, InvalidMoveError
from fiveup_env.analysis import judge
from fiveup_env.analysis.trials import CHANCE, Trials, key_of
from fiveup_env.doors.text import Costs, TextEnv
from fiveup_env.doors.text.prompts import (
    KINDS,
    MOST_NOTES,
    deductions,
    move_in,
    notes_after,
    prompt,
)
from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import OptionError, SeedError, WrongMomentError
from fiveup_env.game import move_words
from tests.support import game_of, hidden_otherwise, play_randomly


def made(**options: Any) -> TextEnv:
    chosen: dict[str, Any] = {"seat": 0, "opponents": "greedy"} | options
    return TextEnv("five_up", 2, **chosen)


def test_gymnasium_finds_nothing_wrong() -> None:
    check_env(made(episode="hand"), skip_render_check=True)


@pytest.mark.parametrize(("kind", "players"), [("bare", 2), ("deductions", 3), ("notes", 4)])
def test_a_reader_of_words_plays_a_hand(kind: Any, players: int) -> None:
    env = TextEnv("five_up", players, prompt=kind, episode="hand")
    text, info = env.reset(seed=players)
    over = False
    while not over:
        listed = re.search(r"Your legal moves: (.*)\.", text)
        assert listed
        assert listed[1].split(", ") == info["legal"]
        assert text in env.observation_space
        text, _, over, _, info = env.step(f"Let me see.\n{info['legal'][0]}")
        json.dumps(info)
    assert info["ended"] in {"domino", "blocked", "target"}
    assert {"win", "margin", "winner", "scores"} <= info.keys()
    with pytest.raises(WrongMomentError, match="call reset"):
        env.step("pass")


@pytest.mark.parametrize("seed", [-1, 1 << 64, "7"])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(SeedError, match="a seed is a whole number from 0"):
        made().reset(seed=seed)


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
    text, info = env.reset(options={"deal": 7})
    again, reward, terminated, _, wrong = env.step("I would rather not say.")
    assert (reward, terminated) == (-0.5, False)
    assert wrong["error"].startswith("'I would rather not say.' is not a move")
    assert again.endswith(text)
    _, reward, terminated, _, wrong = env.step("lead 6-6")
    assert (reward, terminated) == (-0.25, False)
    assert "legal: lead 0-0" in wrong["error"]
    assert not env.step(info["legal"][0])[2]  # which clears the wrong answers
    steps = [env.step("") for _ in range(3)]
    assert [step[1:4] for step in steps] == [(-0.5, False, False)] * 2 + [(-2.5, True, False)]
    assert steps[-1][4]["ended"] == "illegal"


@pytest.mark.parametrize(("players", "worlds"), [(2, 64), (4, 16)])
def test_each_move_costs_what_the_study_says_of_it(players: int, worlds: int) -> None:
    options: dict[str, Any] = {"episode": "hand", "worlds": worlds, "opponents": "greedy"}
    env = TextEnv("five_up", players, reward="loss", **options)
    twin = TextEnv("five_up", players, reward="margin", **options)
    lost = 0.0
    for seed in range(3):
        (_, info), total, over = env.reset(seed=seed), 0.0, False
        twin.reset(seed=seed)
        while not over:
            answer = info["legal"][-1]
            _, reward, over, _, info = env.step(answer)
            assert reward == -info["loss"]["points"]
            _, margin, _, _, also = twin.step(answer)
            assert (also["loss"], margin) == (info["loss"], info["outcome"])
            total += reward
        reference = f"pimc:worlds={worlds},weighed=16,playout=partner"
        decisions = [d for d in judge(env.game, reference).decisions if d.seat == env.seat]
        assert total == pytest.approx(-sum(d.points_lost.mean for d in decisions))
        lost = max(lost, *(d.points_lost.mean for d in decisions), 0)
    assert lost > 0.01


def test_a_move_that_is_best_in_both_halves_of_the_worlds_costs_nothing() -> None:
    env = made(reward="loss", worlds=500)
    trials, best = Trials(), 0
    _, info = env.reset(seed=1)
    while best < 5:
        view, number = env.game.view(env.seat), len(env.game.moves)
        allowed, place, halves = legal_masks(view)[0].nonzero()[0], 0, [1]
        if len(allowed) > 1:
            chances = trials(view, allowed, key_of(0, number))[..., CHANCE]
            place, *halves = (
                part.mean(0).argmax() for part in (chances, chances[::2], chances[1::2])
            )
        _, reward, _, _, info = env.step(info["legal"][place])
        if halves == [place, place]:
            assert reward == 0
            best += 1


def test_wrong_options_and_costs_are_refused_and_rule_fields_are_not() -> None:
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"prompt": "long"}, "there is no prompt 'long'"),
        ({"colour": 1}, "colour"),
        ({"reward": "costs"}, "there is no reward 'costs'"),
        ({"worlds": 3}, "worlds is 0, or from 4 to 100000, not 3"),
        ({"worlds": 1.5}, "worlds is 0, or from 4"),
    ]
    for options, sentence in refusals:
        with pytest.raises(OptionError, match=sentence):
            made(**options)
    wrong: list[dict[str, Any]] = [{"tries": 0}, {"illegal": "x"}, {"forfeit": float("nan")}]
    for costs in wrong:
        with pytest.raises(OptionError):
            Costs(**costs)
    assert "wins if it has 10 or more" in made(target=10, spinners="none").reset(seed=1)[0]


# --- Answers


def test_the_last_line_is_the_answer_and_no_characters_do_harm() -> None:
    view, chance = Game("five_up", players=2, seed=7).view(), Random(1)
    for answer in (
        "lead 0-0",
        "0-0",
        "  Lead 0-0.  \n\n",
        "6-6 would be best, but I have not got it.\nMove: lead 0-0",
        "My move is: lead 0-0",
        "**lead 0-0**",
        "note: keep the doubles\nlead 0-0",
    ):
        assert move_words(move_in(answer, view)) == "lead 0-0"
    for _ in range(200):
        codes = (
            chance.choice([chance.randrange(128), chance.randrange(0x11000)]) for _ in "x" * 30
        )
        answer = "".join(map(chr, codes))
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


def test_prompts_say_what_they_are_asked_for_and_nothing_of_hidden_tiles() -> None:
    for seed in range(10):
        game = play_randomly(Game("five_up", players=2 + seed % 3, seed=seed), Random(seed), seed)
        other = hidden_otherwise(game, Random(seed))
        for kind in KINDS:
            assert prompt(game.view(), kind) == prompt(other.view(), kind)
    view = Game(seed=3).view()
    assert "legal moves:" not in prompt(view, moves=False)
    assert "arrangements" not in prompt(view)
    assert "arrangements" in prompt(view, "deductions")
