"""Runs of self-play in compiled code: the same bytes, however they are played and kept."""

from __future__ import annotations

import zlib
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import pytest

from fiveup_env import Rules
from fiveup_env.errors import InputError, OptionError
from fiveup_env.learning.learner import LossError
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.learning.threads import Crew, Threads, all_came

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
    for wrong in (b"", b"x" * 99, saved[:-9], saved + b"x", zlib.compress(bytes(100))):
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
