"""What every interface says of the end of an episode, safe masks there, and rewards of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fiveup_env
from fiveup_env import Batch, Game, Move
from fiveup_env.envs.episodes import Episodes
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import FiveUpError, IllegalMoveError, OptionError
from fiveup_env.rules.actions import MOVES, PASS
from tests.support import lowest

HAND: dict[str, Any] = {"players": 2, "episode": "hand"}


def play_aec(env: Any) -> None:
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


# --- How episodes end


def test_the_infos_of_every_agent_say_who_won_the_game() -> None:
    env = fiveup_env.raw_env(players=3)
    env.reset(seed=2)
    assert env.infos == {name: {} for name in env.possible_agents}
    play_aec(env)
    outcome = env.game.outcome()
    assert outcome is not None
    for info in env.infos.values():
        assert info["winner"] == outcome.winner
        assert tuple(info["scores"]) == outcome.scores
        assert info["ended"] == outcome.ended


def test_a_hand_is_won_by_the_side_with_more_points() -> None:
    winners = set()
    for seed in range(40):
        env = fiveup_env.raw_env(**HAND)
        env.reset(seed=seed)
        play_aec(env)
        info, end = env.infos["player_0"], env.game.last_hand()
        assert end is not None
        assert tuple(info["scores"]) == end.scores
        assert info["ended"] == end.ended
        first, second = end.scores
        assert info["winner"] == (-1 if first == second else int(second > first))
        winners.add(info["winner"])
    assert {0, 1} <= winners


def test_nobody_wins_what_is_cut_off_or_forfeited() -> None:
    env = fiveup_env.raw_env(players=2, max_hands=1)
    env.reset(seed=1)
    play_aec(env)
    assert env.infos["player_1"]["winner"] == -1
    assert env.infos["player_1"]["ended"] in {"domino", "blocked"}
    env = fiveup_env.raw_env(players=2, illegal="terminate")
    env.reset(seed=1)
    env.step(PASS)
    assert env.infos["player_0"]["winner"] == -1
    assert env.infos["player_0"]["ended"] == "illegal"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_each_of_many_games_is_the_game_that_a_single_environment_plays(mode: Any) -> None:
    options: dict[str, Any] = {"opponents": lowest, "seat": 1, "reward": "margin", "players": 3}
    envs = FiveUpVectorEnv(3, autoreset_mode=mode, episode="hand", **options)
    alone, deals = [FiveUpEnv(episode="hand", **options) for _ in range(3)], [4, 5, 6]
    rows, infos = envs.reset(options={"deals": deals})
    seen = [env.reset(options={"deal": deal}) for env, deal in zip(alone, deals, strict=True)]
    over = np.zeros(3, np.bool_)
    while not over.all():
        for k in np.flatnonzero(~over):
            assert (rows[k] == seen[k][0]).all()
            assert (infos["action_mask"][k] == seen[k][1]["action_mask"]).all()
        actions = infos["action_mask"].argmax(1)
        rows, rewards, terminated, _, infos = envs.step(actions)
        finals = infos.get("final_info", infos)
        for k in np.flatnonzero(~over):
            row, reward, ended, _, info = alone[k].step(int(actions[k]))
            seen[k] = row, info
            assert (rewards[k], terminated[k]) == (reward, ended)
            if ended:
                assert ((infos["final_obs"] if mode == "SameStep" else rows)[k] == row).all()
                assert finals["_winner"][k]
                assert finals["winner"][k] == info["winner"]
                assert (finals["scores"][k] == info["scores"]).all()
                assert finals["ended"][k] == info["ended"]
        over |= terminated
        if mode == "Disabled" and terminated.any() and not over.all():
            rows, infos = envs.reset(options={"reset_mask": terminated})


def test_batches_and_stable_baselines_say_who_won() -> None:
    env = FiveUpVecEnv(64, seed=1, opponents=lowest, **HAND)
    env.reset()
    over, infos = np.zeros(64, np.bool_), list[dict[str, Any]]()
    while not over.any():
        _, _, over, infos = env.step(env.action_masks().argmax(1))
    games = np.flatnonzero(over)
    results = env.batch.final_results_of(games)
    difference = np.sign(results.scores[:, 1] - results.scores[:, 0])
    assert (results.winner == np.where(difference == 0, -1, difference > 0)).all()
    for k, game in enumerate(games):
        assert infos[game]["winner"] == results.winner[k]
        assert (infos[game]["scores"] == results.scores[k]).all()
        assert infos[game]["ended"] == results.ended[k] != "illegal"


# --- Masks where an episode is over


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_the_mask_of_a_finished_game_allows_the_pass_alone(mode: Any) -> None:
    envs = FiveUpVectorEnv(16, autoreset_mode=mode, seed=1, **HAND)
    _, infos = envs.reset()
    over = np.zeros(16, np.bool_)
    while not over.any():
        _, _, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(1))
        over = terminated | truncated
    masks = infos["action_mask"]
    assert all(np.flatnonzero(mask).tolist() == [PASS] for mask in masks[over])
    assert (envs.action_masks() == masks.astype(np.bool_)).all()


# --- Illegal actions


@pytest.mark.parametrize(
    ("make", "action"),
    [(fiveup_env.env, PASS), (FiveUpEnv, PASS), (lambda: FiveUpVectorEnv(2), np.full(2, PASS))],
)
def test_the_error_of_an_illegal_action_names_what_would_terminate(make: Any, action: Any) -> None:
    env = make()
    env.reset(seed=1)
    wanted = r'allowed: .*; with illegal="terminate" it would end the episode instead'
    with pytest.raises(IllegalMoveError, match=wanted):
        env.step(action)


# --- Rewards of one's own


def tiles_played(before: Game, move: Move, after: Game) -> list[float]:
    """Return what a play changed in the number of tiles of every hand."""
    assert after.peek() == move
    assert len(after.moves) == len(before.moves) + 1
    assert after.is_game_over() or before.turn is not None
    return [float(before.turn == seat) for seat in range(before.rules.players)]


def test_a_reward_function_is_called_for_every_move_and_rewards_every_seat() -> None:
    env = fiveup_env.raw_env(reward=tiles_played, **HAND)
    env.reset(seed=5)
    moves = 0
    total = dict.fromkeys(env.possible_agents, 0.0)
    while not any(env.terminations.values()):
        mover = env.agent_selection
        env.step(int(env.observe(mover)["action_mask"].argmax()))
        assert env.rewards == {name: float(name == mover) for name in env.possible_agents}
        moves += 1
        for name, reward in env.rewards.items():
            total[name] += reward
    assert sum(total.values()) == moves


def test_a_learner_gets_what_all_moves_bring_its_seat() -> None:
    def moves_of_all(before: Game, move: Move, after: Game) -> np.ndarray:
        del before, move, after
        return np.ones(4)

    env = FiveUpEnv(reward=moves_of_all, episode="hand")
    _, info = env.reset(seed=5)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        total += reward
    assert total == len(env.game.moves)


def test_a_reward_function_cannot_change_the_game() -> None:
    def spoil(before: Game, move: Move, after: Game) -> list[float]:
        del move
        for game in (before, after):
            while game.moves:
                game.pop()
        return [0.0, 0.0]

    env = fiveup_env.raw_env(reward=spoil, **HAND)
    env.reset(seed=5)
    play_aec(env)
    assert env.game.moves


class Answers:
    """A reward function that returns what it is told to."""

    def __init__(self) -> None:
        self.rewards: Any = [0.0, 0.0]

    def __call__(self, *_move: object) -> Any:
        """Return the rewards."""
        return self.rewards


@pytest.mark.parametrize("wrong", [1.0, [1.0], [1.0, np.nan], [1e300, 0.0], ["a", "b"], None])
def test_a_reward_that_is_refused_leaves_everything_as_it_was(wrong: Any) -> None:
    env, twin = (fiveup_env.raw_env(reward=answers, **HAND) for answers in (Answers(), Answers()))
    for game in (env, twin):
        game.reset(seed=5)
    while not any(twin.terminations.values()):
        state, env._reward.rewards = env.state(), wrong  # type: ignore[union-attr]
        action = int(env.observe(env.agent_selection)["action_mask"].argmax())
        with pytest.raises(OptionError, match="must be 2 numbers that float32 holds, one for each"):
            env.step(action)
        assert (env.state() == state).all()
        env._reward.rewards = [1.0, 2.0]  # type: ignore[union-attr]
        for game in (env, twin):
            game.step(action)
        assert env.game == twin.game
        assert env.agent_selection == twin.agent_selection
        assert env.rewards == {"player_0": 1, "player_1": 2}


@pytest.mark.parametrize("kind", [FiveUpEnv, FiveUpVectorEnv])
def test_a_reset_that_is_refused_changes_nothing(kind: Any) -> None:
    many: dict[str, Any] = {"num_envs": 4} if kind is FiveUpVectorEnv else {}
    env, twin = kind(players=3, **many), kind(players=3, **many)
    for game in (env, twin):
        game.reset(seed=4)
    for name, wrong in {"deal": -1, "deals": [-1] * 4}.items():
        with pytest.raises(FiveUpError):
            env.reset(seed=9, options={name: wrong})
    for _ in range(3):
        actions = twin.action_masks().argmax(-1)
        assert (env.step(actions)[0] == twin.step(actions)[0]).all()


def test_other_interfaces_refuse_a_reward_function() -> None:
    with pytest.raises(OptionError, match="a function is taken by PettingZoo's"):
        Episodes(reward=tiles_played)  # type: ignore[arg-type]


# --- Functions of arrays

DOUBLES = np.array([move.tile is not None and move.tile.is_double for move in MOVES])


def points_and_doubles(before: Game, move: Move, after: Game) -> list[float]:
    """Return the points that each seat's side gained, and a half for a double that is set."""
    gained = np.subtract(after.scores, before.scores)
    rewards = [float(gained[before.rules.side_of(seat)]) for seat in range(before.rules.players)]
    if move.tile and move.tile.is_double:
        rewards[before.turn or 0] += 0.5
    return rewards


def points_and_doubles_of_many(
    before: np.ndarray, actions: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """Return what `points_and_doubles` does, for up to four seats of many games."""
    earlier, later = before["public"], after["public"]
    gained = later["scores"] - earlier["scores"]
    sides = np.arange(4) % earlier["rules"]["sides"][:, None]
    rewards = np.take_along_axis(gained, sides, 1).astype(float)
    rewards[np.arange(len(actions)), earlier["turn"]] += DOUBLES[actions] / 2
    return rewards


@pytest.mark.parametrize("episode", ["hand", "game"])
def test_a_function_of_arrays_rewards_as_one_of_games_does(episode: Any) -> None:
    seeds = [3, 4, 5, 6]
    options: dict[str, Any] = {"episode": episode, "max_hands": 3, "threads": 2}
    batch = Batch(4, players=[2, 3, 4], reward=points_and_doubles_of_many, **options)
    batch.reset(seeds)
    del options["threads"]
    envs = [
        fiveup_env.raw_env(players=players, reward=points_and_doubles, **options)
        for players in (2, 3, 4, 2)
    ]
    for env, seed in zip(envs, seeds, strict=True):
        env.reset(seed=seed)
    playing = np.ones(4, np.bool_)
    for _ in range(200):
        actions = batch.action_mask.argmax(1)
        batch.step(actions)
        for i in np.flatnonzero(playing):
            env = envs[i]
            env.step(int(actions[i]))
            rewards = list(env.rewards.values())
            assert batch.reward[i].tolist() == rewards + [0.0] * (4 - len(rewards))
        playing &= ~(batch.terminated | batch.truncated)
    assert not playing.any()


def test_learners_of_many_games_get_what_a_function_of_arrays_brings_their_seats() -> None:
    def moves_of_all(before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
        del before, after
        return np.ones((len(actions), 2))

    options: dict[str, Any] = {"players": 2, "seat": 0, "seed": 1, "illegal": "terminate"}
    envs = FiveUpVectorEnv(8, reward=moves_of_all, **options)
    games = FiveUpVecEnv(8, reward=moves_of_all, **options)
    envs.reset()
    games.reset()
    before = envs.batch.states["public"]["plies"].copy()
    actions = envs.action_masks().argmax(1)
    _, rewards, _, _, _ = envs.step(actions)
    moved = envs.batch.states["public"]["plies"] - before
    assert (rewards >= moved).all()  # draws and passes that were chosen count as moves, too
    assert (games.step(actions)[1] == rewards).all()
    actions = envs.action_masks().argmax(1)
    actions[3] = 120
    _, rewards, terminated, _, _ = envs.step(actions)
    assert rewards[3] == -1
    assert terminated[3]


@pytest.mark.parametrize(
    "wrong", [1.0, np.ones(4), np.ones((4, 3)), np.full((4, 2), np.nan), np.full((4, 2), "a"), None]
)
def test_rewards_of_arrays_that_are_refused_leave_everything_as_it_was(wrong: Any) -> None:
    answers = Answers()
    batch = Batch(4, players=2, reward=answers, seed=1, episode="hand")
    batch.reset()
    answers.rewards = np.full((4, 2), 2.0)
    for _ in range(9):
        batch.step(batch.action_mask.argmax(1))
        saved, right, answers.rewards = batch.save(), answers.rewards, wrong
        actions = batch.action_mask.argmax(1)
        with pytest.raises(OptionError, match="must be 4 x 2 numbers that float32 holds"):
            batch.step(actions)
        with pytest.raises(OptionError, match="must be 4 x 2 numbers that float32 holds"):
            batch.advance(actions, np.arange(4))
        assert batch.save() == saved
        answers.rewards = right
    assert (batch.reward == 2).all()
