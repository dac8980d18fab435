"""What users hand over is checked before compiled code sees it, and what is handed out is theirs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

import fiveup_env
from fiveup_env import Batch, Game
from fiveup_env.envs.aec import raw_env
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import (
    FiveUpError,
    GameOverError,
    IllegalMoveError,
    InputError,
    MissingExtraError,
    OptionError,
    SeatError,
    WrongMomentError,
)


def dealt(games: int = 4, **options: Any) -> Batch:
    batch = Batch(games, seed=1, **options)
    batch.reset()
    return batch


# --- Numbers that compiled code would believe


@pytest.mark.parametrize("method", ["views", "begin", "advance", "observations_of"])
def test_indices_that_no_game_has_are_refused(method: str) -> None:
    batch = dealt()
    before = batch.save()
    wrong: list[Any] = [[10**6], [-1], [4], [0.0], ["0"], [[0]], 0, [True, False], [2**63]]
    for indices in [*wrong, [10**30], *([] if method == "views" else [None])]:
        arguments = {
            "views": (indices,),
            "begin": (indices,),
            "advance": (np.zeros(np.size(indices), np.int64), indices),
            "observations_of": (indices, np.zeros(np.size(indices), np.int64)),
        }[method]
        with pytest.raises(OptionError, match="indices of games must be"):
            getattr(batch, method)(*arguments)
        assert batch.save() == before


def test_a_seat_that_a_game_lacks_shows_nobody_the_boneyard() -> None:
    for seat in (5, 4, -1, 127, 10**6):
        with pytest.raises(SeatError, match=f"game 0 has seats 0 to 3, so not seat {seat}"):
            dealt().observations_of(np.array([0]), np.array([seat]))


def test_a_game_makes_one_move_at_a_time() -> None:
    batch = dealt()
    actions = batch.action_mask[[1, 1]].argmax(1)
    with pytest.raises(OptionError, match="an index is there twice"):
        batch.advance(actions, np.array([1, 1]))


def test_before_the_first_reset_there_is_nothing_to_look_at() -> None:
    env, batch = fiveup_env.raw_env(), Batch(2, seed=0)
    for ask in (
        *(batch.views, batch.observe),
        *(lambda: env.game, lambda: env.observe("player_0"), env.state),
    ):
        with pytest.raises(WrongMomentError, match="call reset"):
            ask()
    env.reset(seed=1)
    with pytest.raises(SeatError, match=r"no agent 'player_7'.*player_0"):
        env.observe("player_7")


def test_final_observations_are_there_once_an_episode_has_ended() -> None:
    batch = dealt(20, players=2, episode="hand", hand_size=1)
    with pytest.raises(WrongMomentError, match="no episode of these games has ended"):
        batch.final_observations_of(np.array([0]), np.array([0]))
    while not batch.terminated.any():
        batch.step(batch.random_actions(np.random.default_rng(0)))
    ended = np.flatnonzero(batch.terminated)
    rows = batch.final_observations_of(ended, np.zeros(len(ended), np.int64))
    assert rows.shape == (len(ended), batch.observation.shape[1])
    with pytest.raises(SeatError):
        batch.final_observations_of(ended[:1], np.array([2]))


def test_every_kind_of_integer_is_an_action_a_player_a_seat_and_a_seed() -> None:
    kinds: list[Any] = [np.array, np.int8, np.uint64, int]
    for kind in kinds:
        env = fiveup_env.raw_env(players=2)
        env.reset(seed=1)
        env.step(kind(env.last()[0]["action_mask"].argmax()))
        assert len(env.game.moves) == 1
    single = gymnasium.make("fiveup/FiveUp-v0", players=2)
    _, info = single.reset(seed=1)
    action = np.asarray(info["action_mask"].argmax())  # as a model predicts it
    assert single.action_space.contains(action)
    single.step(action)
    two: Any = np.int64(2)
    number: Any = np.uint64(3)
    assert Game(players=two, seed=number).rules.players == 2
    assert Batch(number, players=two, seed=number).rules[0].players == 2
    assert FiveUpEnv(players=two, seat=two - 1).rules.players == 2
    assert FiveUpVecEnv(two, players=[two, number], seed=0).num_envs == 2
    assert Game(seed=1).hand_of(number) == Game(seed=1).hand_of(3)


# --- Illegal actions, in every environment


def test_an_illegal_action_of_any_kind_ends_the_episode_or_is_refused() -> None:
    wrong: list[Any] = [121, 500, -1, 10**30, None, "5-5", 2.0, 120]
    for action in wrong:
        env = fiveup_env.env(players=3, illegal="terminate", illegal_reward=-2)
        env.reset(seed=1)
        mover = env.agent_selection
        env.step(action)
        assert all(env.terminations.values())
        assert env.rewards == {name: -2 if name == mover else 0 for name in env.possible_agents}
        single = FiveUpEnv(players=3, illegal="terminate", illegal_reward=-2, seat=0)
        single.reset(seed=1)
        assert single.step(action)[1:4] == (-2, True, False)
        with pytest.raises(WrongMomentError, match="call reset"):
            single.step(0)
        env = fiveup_env.env(players=3)
        env.reset(seed=1)
        state = env.state()
        with pytest.raises(IllegalMoveError, match=r"is not allowed; allowed: \d+ \("):
            env.step(action)
        assert (env.state() == state).all()


def test_illegal_actions_end_their_games_in_a_batch() -> None:
    reward: Any = np.float32(-4)
    batch = Batch(5, players=3, illegal="terminate", illegal_reward=reward, seed=1)
    batch.reset()
    actions = batch.random_actions(np.random.default_rng(0))
    movers = batch.turn.copy()
    actions[[1, 3]] = 120, -7
    batch.step(actions)
    assert batch.terminated.tolist() == [False, True, False, True, False]
    for i in (1, 3):
        assert batch.reward[i].tolist() == [-4 if seat == movers[i] else 0 for seat in range(3)]
        assert not batch.states["public"]["plies"][i]
    assert batch.action_mask.any(1).all()


# --- What is handed out is a copy


def test_a_game_that_an_environment_hands_out_is_the_takers() -> None:
    for env in (fiveup_env.raw_env(render_mode="ansi"), fiveup_env.raw_env()):
        env.reset(seed=3)
        game = env.game
        game.push(next(iter(game.legal_moves)))
        assert len(env.game.moves) == 0
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
        assert len(env.game.moves) == 1


def test_a_batch_can_be_copied_and_pickled() -> None:
    batch = Batch(3_000, players=[2, 3], threads=2, seed=4)
    batch.reset()
    twins = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch)), copy.copy(batch)]
    assert not any(np.shares_memory(twin.states, batch.states) for twin in twins)
    for _ in range(20):
        actions = batch.random_actions(np.random.default_rng(1))
        batch.step(actions)
        for twin in twins:
            twin.step(actions)
            assert (twin.observation == batch.observation).all()
            assert (twin.reward == batch.reward).all()


# --- Options by name


def test_a_misspelt_option_says_what_was_meant() -> None:
    misspelt: list[tuple[Any, str, str]] = [
        (Batch, "n_envs", "num_envs"),
        (Batch, "epsiode", "episode"),
        (Batch, "hand_sizes", "hand_size"),
        (fiveup_env.env, "rewards", "reward"),
        (FiveUpEnv, "opponent", "opponents"),
        (FiveUpEnv, "rendermode", "render_mode"),
        (FiveUpVecEnv, "opponent", "opponents"),
    ]
    for make, wrong, meant in misspelt:
        with pytest.raises(OptionError, match=f"did you mean '{meant}'"):
            make(**{wrong: "3"})


# --- Three kinds of errors


def test_errors_are_of_three_kinds() -> None:
    for kind, base in (
        (InputError, ValueError),
        (WrongMomentError, RuntimeError),
        (MissingExtraError, ImportError),
    ):
        assert issubclass(kind, base)
        assert issubclass(kind, FiveUpError)
    assert issubclass(GameOverError, WrongMomentError)
    assert issubclass(OptionError, InputError)
    assert not issubclass(FiveUpError, ValueError)


HUGE = 10**5000  # of more digits than Python writes
DEEP: Any = [[[]], [1]]  # NumPy makes no array of it


@pytest.mark.parametrize("kind", [raw_env, FiveUpEnv, Batch, FiveUpVectorEnv])
def test_options_of_any_type_are_refused_in_a_sentence(kind: Any) -> None:
    number = "illegal_reward must be a number that float32 holds, not"
    wrong: list[tuple[str, str, Any]] = [
        (f"{number} 'x'", "illegal_reward", "x"),
        (f"{number} nan", "illegal_reward", float("nan")),
        (f"{number} <int that cannot be shown>", "illegal_reward", HUGE),
        (f"{number} -1e[+]?300", "illegal_reward", -1e300),
        ("max_hands must be 0 .no limit. or more, not <int that", "max_hands", HUGE),
        ("there is no episode array", "episode", np.array(["hand", "game"])),
        ("there is no reward array", "reward", np.array([1, 2])),
    ]
    for match, name, value in wrong:
        with pytest.raises(OptionError, match=match):
            kind(**{name: value})


def test_arguments_that_make_no_array_are_refused_in_a_sentence() -> None:
    many, single = FiveUpVectorEnv(2, seed=0), FiveUpEnv()
    many.reset()
    for call, match in (
        (lambda: many.step(DEEP), "actions must be 2 integers, not"),
        (lambda: many.reset(options={"reset_mask": DEEP}), "reset_mask must be an array of 2 bool"),
        (lambda: many.reset(options=DEEP), "the options of reset must be a dict, not"),
        (lambda: single.reset(options=DEEP), "the options of reset must be a dict, not"),
        (lambda: many.batch.views(DEEP), "must be a row of integers, not"),
        (lambda: FiveUpVectorEnv(2, autoreset_mode=DEEP, seed=0), "there is no autoreset_mode"),
        (lambda: raw_env(render_mode=DEEP), "there is no render mode"),
        (lambda: Batch(2, oracle=DEEP, seed=0), "oracle must be True or False, not"),
    ):
        with pytest.raises(OptionError, match=match):
            call()
