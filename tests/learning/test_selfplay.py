"""Runs of self-play in compiled code: the same bytes, however they are played and kept."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import pytest

from fiveup_env import Rules
from fiveup_env.errors import InputError, OptionError
from fiveup_env.learning.learner import LossError
from fiveup_env.learning.runs import Run, run_in
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.learning.threads import Crew, Threads, all_came
from fiveup_env.native import uncompiled
from fiveup_env.seats.advantages import WAITING
from tests.engine.test_hostile_bytes import over_hands

RULES = [Rules.preset("five_up", 4), Rules.preset("all_fives", 2)]
SMALL: dict[str, Any] = {"width": 9, "games": 130, "ticks": 9, "batch_size": 300, "seed": 3}


def run_of(threads: int = 1, **settings: Any) -> SelfPlay:
    return SelfPlay.begin(RULES, threads, **(SMALL | settings))


def bytes_of(run: SelfPlay, updates: int) -> bytes:
    for _ in range(updates):
        run.update(0.3)
    return run.save()


KINDS = [
    {"network": "guided", "reward": "outlook", "warm_up": 300, "learning_rate_end": 0.0},
    {"network": "plain", "depth": 2, "reward": "win", "horizon": 1, "epochs": 2},
]


@pytest.mark.parametrize("kind", KINDS, ids=["guided", "plain"])
def test_threads_and_pauses_change_no_byte(kind: dict[str, Any]) -> None:
    alone, together = run_of(**kind), run_of(3, **kind)
    first = bytes_of(alone, 2)
    assert first == bytes_of(together, 2)
    again = SelfPlay.load(first, 2)
    figures = [run.update(0.3) for run in (alone, together, again)]
    assert figures[0] == figures[1] == figures[2]
    assert figures[0]["gradient"] > 0
    assert alone.updates == 3
    assert alone.decisions == again.decisions > 3 * 130 * 9 / 5
    assert alone.save() == together.save() == again.save() != first
    assert run_of(**kind, seed=4).save() != run_of(**kind).save()


def test_settings_that_no_run_has_are_refused() -> None:
    for settings, why in (
        ({"layers": 2}, "setting of a run 'layers'"),
        ({"network": "attention"}, "network 'attention'"),
        ({"width": 0}, "width is out of range: 0"),
        ({"width": 2.5}, "width must be a number that int32 holds"),
        ({"learning_rate": np.nan}, "learning_rate must be a number"),
        ({"learning_rate": 1e300}, "learning_rate is out of range: 1e"),
        ({"batch_size": 130 * 9 + 1}, "2 to games x ticks = 1,170 decisions: 1,171"),
        ({"gamma": 1.1}, "gamma is out of range: 1.1"),
    ):
        with pytest.raises(OptionError, match=why):
            run_of(**settings)
    with pytest.raises(OptionError, match="a run takes 1 to 64 rules, not 0"):
        SelfPlay.begin([])
    for count in (0, -1, 1.5, None):
        with pytest.raises(OptionError, match="there can be 1 to 1024 threads"):
            SelfPlay.begin("five_up", count)  # type: ignore[arg-type]
    for progress in (-0.1, np.nan, "1"):
        with pytest.raises(OptionError, match="progress is a number from 0 on"):
            run_of().update(progress)  # type: ignore[arg-type]


def test_rules_are_named_or_given_alone_or_in_a_list() -> None:
    rules = Rules.preset("five_up", 4)
    saved = {SelfPlay.begin(given, **SMALL).save() for given in ("five_up", rules, [rules])}
    assert len(saved) == 1


def test_bytes_that_no_run_has_saved_are_refused() -> None:
    run = run_of()
    run.update()
    saved = run.save()
    block = bytearray(zlib.decompress(saved))
    rng = np.random.default_rng(1)
    refused = 0
    others: tuple[Any, ...] = b"", b"x" * 99, zlib.compress(bytes(100)), "x", None
    for wrong in (*others, saved[:-9], saved[:-1], saved + b"x"):
        with pytest.raises(InputError, match="not a saved run"):
            SelfPlay.load(wrong)
    for _ in range(60):  # what is not refused goes on, or stops at numbers that are not finite
        changed = bytearray(block)
        for at in rng.integers(0, min(len(block), 400_000), 20):
            changed[at] = rng.integers(256)
        try:
            SelfPlay.load(zlib.compress(bytes(changed), 1)).update()
        except LossError:
            pass
        except InputError:
            refused += 1
    assert refused > 20


def let_wait(run: Run, count: int, entries: int = 0) -> None:
    """Let one seat wait with so many decisions, each with one action."""
    window, decisions = run.window, run.window.decisions
    window.counts[0] = count
    window.following[:count], window.owners[:count], window.targets.chosen[:count] = WAITING, 0, 0
    decisions.entry_ends[: count + 1] = np.arange(count + 1) * entries
    decisions.action_ends[: count + 1] = np.arange(count + 1)
    decisions.entries[: count * entries], decisions.numbers[: count * entries] = 0, 1
    decisions.actions[:count], decisions.units[:count] = 0, 0


def end_a_hand(run: Run) -> None:
    """Put a hand that is over into a part of which no decision waits."""
    let_wait(run, 0)
    run.games.states[0] = over_hands()[0]


def put(field: str, value: float) -> Callable[[Run], None]:
    """Return what sets a field of a run's head, of its settings or of its games."""

    def put(run: Run) -> None:
        for place in (run.head, run.head["settings"]):
            if field in (place.dtype.names or ()):
                place[field] = value
                return
        getattr(run.games, field)[-1] = value

    return put


LARGEST = np.iinfo(np.int64).max
FORGED: dict[str, Callable[[Run], None]] = {
    "more decisions wait than a window has room for": lambda run: let_wait(
        run, len(run.window.values) // len(run.window.counts) - 1
    ),
    "a seat waits twice": lambda run: let_wait(run, 2),
    "a decision has more entries than rows have": lambda run: let_wait(run, 1, 9999),
    "a hand is over": end_a_hand,
    **{
        f"{field}={value}": put(field, value)
        for field, values in {
            "steps": (-1, LARGEST), "updates": (-1, LARGEST), "decisions": (-1, LARGEST), "progress": (np.nan, -1),
            "learning_rate": (np.nan,), "learning_rate_end": (np.nan,), "ent_coef": (np.nan,), "ent_coef_end": (np.nan,),
            "episodes": (-1, LARGEST), "moves": (-1, LARGEST),
        }.items()
        for value in values
    },
}  # fmt: skip


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_run_is_refused(forgery: str) -> None:
    run = run_of()
    run.update()
    block = np.frombuffer(zlib.decompress(run.save()), np.uint8).copy()
    FORGED[forgery](uncompiled(run_in, block))
    with pytest.raises(InputError, match="not a saved run"):
        SelfPlay.load(zlib.compress(block.tobytes(), 1))


def test_a_minibatch_may_have_a_single_decision() -> None:
    run = run_of(games=1, ticks=5, batch_size=2)
    counts = [run.decisions for _ in range(9) if np.isfinite(run.update()["gradient"])]
    assert 1 in np.diff(counts)


def test_a_loss_that_is_not_finite_stops_the_run() -> None:
    for threads in (1, 2):
        run = run_of(threads, network="plain")
        run.update()
        run.network.weights.value_bias[0] = np.nan
        before = run.network.vector.tobytes()
        with pytest.raises(LossError, match="the loss is"):
            run.update()
        assert run.network.vector.tobytes() == before


def test_a_thread_that_fails_leaves_no_other_waiting() -> None:
    threads = Threads(3)

    def work(crew: Crew, failing: int) -> bool:
        if crew.thread == failing:
            raise ValueError("no more")
        return all_came(crew)

    for failing in range(3):
        with pytest.raises(ValueError, match="no more"):
            threads.run(partial(work, failing=failing))
        assert threads.run(all_came)


def test_updates_that_are_asked_for_at_once_are_made_one_after_another() -> None:
    alone, shared = run_of(2), run_of(2)
    saved: list[bytes] = []
    asked = [Thread(target=shared.update, daemon=True) for _ in range(3)]
    asked.append(Thread(target=lambda: saved.append(shared.save()), daemon=True))
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join(60)
        assert not thread.is_alive()
    known = [alone.save()]
    for _ in range(3):
        alone.update()
        known.append(alone.save())
    assert shared.save() == known[-1]
    assert saved[0] in known
