"""Rollouts: who is asked, what is kept, and that nothing of another seat gets in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.learn.partners import NO_SEAT, Partners
from agents.learn.rivals import Rivals
from agents.learn.rollouts import Choice, Lesson, Rollouts, burn_in, make_batch
from agents.runs.config import Config
from fiveup_env.envs.batch import Batch
from fiveup_env.envs.streams import FIRST_OF_STREAMS, Stream
from fiveup_env.opponents.search.outlook import outlook_of
from fiveup_env.opponents.search.units import HANDS_IN_A_CHANCE, POINTS_IN_ONE
from fiveup_env.seats import NOBODY, SeatTrajectories


def rollouts_of(**keys: Any) -> tuple[Batch, Rollouts]:
    config = Config(**{"games": 6, "n_steps": 40, "batch_size": 2, **keys})
    batch = make_batch(config, "flat")
    everybody = Rivals(config, batch, Path()), Partners(config, batch)
    for others in everybody:
        others.begin(np.random.default_rng(1))
    return batch, Rollouts(config, batch, everybody)


class Chooser:
    """Chooses any action, and gives every row a unique value: the number of rows before it."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.rows: list[np.ndarray] = []

    def choose(self, rows: np.ndarray, masks: np.ndarray, truths: np.ndarray | None) -> Choice:
        """Return an action, a log-probability and a value for every row."""
        del truths
        values = np.arange(len(self.rows), len(self.rows) + len(rows), dtype=np.float32)
        self.rows += list(rows.copy())
        actions = (self.random.random(masks.shape) * masks).argmax(1)
        return actions, np.full(len(rows), -1, np.float32), values


def played(rollouts: Rollouts, windows: int, choose: Chooser) -> list[Lesson]:
    rng = np.random.default_rng(2)
    return [rollouts.play([choose.choose], rng) for _ in range(windows)]


def noted(
    rollouts: Rollouts, choose: Chooser, rng: np.random.Generator | None = None
) -> tuple[np.ndarray, ...]:
    """Play a window; return who decided in it, what the moves brought, and where they ended."""
    window, ticks = rollouts.window, []

    class Noted:
        is_full = False

        def decide(self, seats: np.ndarray, **columns: np.ndarray) -> None:
            window.decide(seats, **columns)
            ticks.append([seats])

        def reward(self, *given: np.ndarray) -> None:
            window.reward(*given)
            ticks[-1] += map(np.copy, given)
            self.is_full = window.is_full

        take = window.take

    rollouts.window = Noted()  # type: ignore[assignment]
    rollouts.play([choose.choose], rng or np.random.default_rng(2))
    rollouts.window = window
    return tuple(map(np.stack, zip(*ticks, strict=True)))


def test_every_decision_is_learnt_from_once_with_what_was_seen_then() -> None:
    _, rollouts = rollouts_of()
    choose = Chooser()
    lessons = played(rollouts, 5, choose)
    names = np.concatenate([lesson.values for lesson in lessons]).astype(int)
    still = rollouts.window.take()["values"].astype(int)
    assert sorted([*names, *still]) == list(range(len(choose.rows)))
    for lesson in lessons:
        for name, row, mask, action in zip(
            lesson.values.astype(int), lesson.rows, lesson.masks, lesson.actions, strict=True
        ):
            assert (row == choose.rows[name]).all()
            assert mask[action] == 1


def test_where_only_one_move_is_allowed_nobody_is_asked() -> None:
    _, rollouts = rollouts_of()
    assert all((lesson.masks.sum(1) > 1).all() for lesson in played(rollouts, 2, Chooser()))
    _, rollouts = rollouts_of(forced=True)
    assert any((lesson.masks.sum(1) == 1).any() for lesson in played(rollouts, 2, Chooser()))


@pytest.mark.parametrize(("players", "horizon"), [(2, "hand"), (3, "game"), (4, "hand")])
def test_a_return_is_what_the_batch_gave_the_seat_up_to_the_end(players: int, horizon: str) -> None:
    batch, rollouts = rollouts_of(
        rules="all_fives_cribbage",
        players=players,
        horizon=horizon,
        gae_lambda=1,
        games=4,
        n_steps=500,
        forced=True,
    )
    seats, rewards, ended = [], [], []
    step, hands = batch.step, batch.states["public"]["hand_number"]

    def noted(actions: np.ndarray) -> None:
        seats.append(batch.turn.copy())
        before = hands.copy()
        step(actions)
        rewards.append(batch.reward / POINTS_IN_ONE)
        ended.append(batch.terminated | (hands != before if horizon == "hand" else False))

    batch.step = noted  # type: ignore[method-assign]
    lesson = played(rollouts, 1, Chooser())[0]
    complete = 0
    # All games are asked at every tick, in order, so a decision's value says where it was made.
    for name, returned in zip(lesson.values.astype(int), lesson.returns, strict=True):
        tick, game = divmod(name, len(batch))
        last = next((k for k in range(tick, len(seats)) if ended[k][game]), None)
        if last is not None:
            given = [rewards[k][game][seats[tick][game]] for k in range(tick, last + 1)]
            assert returned == pytest.approx(sum(given), abs=1e-2)
            complete += 1
    assert complete > 500


def test_deals_are_those_of_the_seed_and_none_that_are_measured_on() -> None:
    batch, _ = rollouts_of(seed=3)
    assert batch.states["seed"].tolist() == [Stream(3, k).next() for k in range(len(batch))]
    assert batch.states["seed"].min() >= FIRST_OF_STREAMS


def test_the_oracles_rows_are_those_of_the_same_moment() -> None:
    batch, rollouts = rollouts_of(oracle=True)
    seen: dict[bytes, bytes] = {}
    choose = Chooser()

    def noted(rows: np.ndarray, masks: np.ndarray, truths: np.ndarray | None) -> Choice:
        assert truths is not None
        seen.update(
            (row.tobytes(), truth.tobytes()) for row, truth in zip(rows, truths, strict=True)
        )
        return choose.choose(rows, masks, None)

    lesson = rollouts.play([noted], np.random.default_rng(0))
    assert lesson.truths is not None
    assert lesson.truths.shape[1] == batch.oracle.shape[1]
    for row, truth in zip(lesson.rows, lesson.truths, strict=True):
        assert seen[row.tobytes()] == truth.tobytes()


def test_outlook_rewards_sum_up_to_winning_or_losing() -> None:
    batch, rollouts = rollouts_of(
        rules="all_fives_cribbage", reward="outlook", horizon="game", n_steps=700, games=3
    )
    before = rollouts.state()["chances"].copy()
    _, rewards, ended = noted(rollouts, Chooser())
    public = outlook_of(batch.states["public"]["rules"][0])
    assert before[0, 0] == pytest.approx(public[61, 61]) or before[0, 1] == pytest.approx(
        public[61, 61]
    )
    for game in range(len(batch)):
        ends = np.flatnonzero(ended[:, game])
        assert len(ends)
        brought = rewards[: ends[0] + 1, game].sum(0)
        came_to = brought / HANDS_IN_A_CHANCE + before[game]
        assert np.abs(came_to - came_to.round()).max() < 1e-5
        assert came_to[0] == pytest.approx(came_to[2], abs=1e-5)
        assert came_to[:2].sum() == pytest.approx(1, abs=1e-5)


def test_rivals_play_all_sides_but_one_and_are_not_learnt_from() -> None:
    batch, rollouts = rollouts_of(rival_share=0.5, rivals="greedy", forced=True)
    played(rollouts, 2, Chooser())
    seats = noted(rollouts, Chooser())[0]
    assert (seats[:, :3] != NOBODY).all()
    for game in range(3, 6):
        learnt = seats[:, game][seats[:, game] != NOBODY]
        assert 0 < len(learnt) < len(seats)
        assert not batch.terminated[game]
        rivals = rollouts._others[0]
        assert isinstance(rivals, Rivals)
        assert learnt[-1] % 2 == rivals.side[game]


def test_a_partner_plays_one_seat_and_is_not_learnt_from() -> None:
    batch, rollouts = rollouts_of(
        games=40, partner_share=0.5, partners="greedy", players=[4, 3], forced=True
    )
    partners = rollouts._others[1]
    assert isinstance(partners, Partners)
    possible = np.arange(40) < 20
    possible &= batch.states["public"]["rules"]["players"] == 4
    choose, rng, seated = Chooser(), np.random.default_rng(2), set()
    for _ in range(400):
        before, turn = partners.seat.copy(), batch.turn.copy()
        assert ((before != NO_SEAT) == possible).all()
        rollouts.window = SeatTrajectories(1, 40, 4)
        seats = noted(rollouts, choose, rng)[0][0]
        assert ((seats == NOBODY) == (turn == before)).all()
        assert ((partners.seat == before) | batch.terminated).all()
        seated |= set(partners.seat[possible].tolist())
    assert seated == {0, 1, 2, 3}


@pytest.mark.parametrize(("players", "steady"), [(4, 0.209), (2, 0.184)])
def test_after_the_burn_in_as_many_games_are_near_their_end_as_in_a_long_run(
    players: int, steady: float
) -> None:
    batch = Batch(2_000, "five_up", players, seed=1)
    batch.reset()
    burn_in(batch, np.random.default_rng(1))
    public = batch.states["public"]
    rules = public["rules"][0]
    to_go = (rules["target"] - public["scores"][:, : rules["sides"]].max(1)) / rules["unit"]
    assert abs((to_go <= 10).mean() - steady) < 0.04
