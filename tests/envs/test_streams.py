"""What interfaces play on their own: no deal twice, and never one that is kept for evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import fiveup_env
from fiveup_env import Batch
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.streams import FIRST_OF_STREAMS, Stream, derived_seed
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import OptionError, SeedError

# A hand of one tile each: it ends with the first play, so that episodes are quick to count.
SHORT: dict[str, Any] = {"players": 2, "hand_size": 1, "episode": "hand"}
ENVIRONMENTS, EPISODES, RUNS = 64, 50, 10


def assert_distinct(seeds: Iterable[int], count: int) -> None:
    """Assert that no deal comes twice: by chance, even one pair is all but impossible."""
    listed = list(seeds)
    assert len(listed) == count
    assert len(set(listed)) == count
    assert min(listed) >= FIRST_OF_STREAMS


def seeds_of_batch(batch: Batch, episodes: int) -> Iterator[int]:
    """Yield the seeds of the games of a batch, episode by episode."""
    batch.reset()
    for _ in range(episodes):
        yield from batch.states["seed"].tolist()
        batch.begin(np.arange(len(batch)))


def test_no_deal_comes_twice_in_batches_of_neighbouring_run_seeds() -> None:
    seeds = [
        seed
        for run in range(RUNS)
        for seed in seeds_of_batch(Batch(ENVIRONMENTS, seed=run, **SHORT), EPISODES)
    ]
    assert_distinct(seeds, RUNS * ENVIRONMENTS * EPISODES)


def test_the_seed_that_stable_baselines_sets_starts_another_stream_for_each_game() -> None:
    seeds: list[int] = []
    for run in range(RUNS):
        env = FiveUpVecEnv(ENVIRONMENTS, seed=10**6, **SHORT)
        env.seed(run)
        env.reset()
        seeds += env.batch.states["seed"].tolist()
    assert_distinct(seeds, RUNS * ENVIRONMENTS)


def test_no_deal_comes_twice_in_environments_side_by_side() -> None:
    envs, seeds = SyncVectorEnv([partial(FiveUpEnv, **SHORT) for _ in range(ENVIRONMENTS)]), []
    envs.reset(seed=0)
    for _ in range(EPISODES):
        seeds += [env.unwrapped._aec._seed for env in envs.envs]  # type: ignore[attr-defined]
        envs.reset()
    assert_distinct(seeds, ENVIRONMENTS * EPISODES)


def test_environments_in_processes_play_what_those_in_one_process_play() -> None:
    makers = [partial(FiveUpEnv, seat=0, **SHORT) for _ in range(3)]
    here, many = SyncVectorEnv(makers), AsyncVectorEnv(makers)
    try:
        assert (here.reset(seed=5)[0] == many.reset(seed=5)[0]).all()
        assert (here.reset()[0] == many.reset()[0]).all()
    finally:
        many.close()


def test_neighbouring_seeds_indices_and_episodes_share_no_bits() -> None:
    seeds = [Stream(seed, index).next() for seed in range(64) for index in range(64)]
    bits = (np.array(seeds, np.uint64)[:, None] >> np.arange(63, dtype=np.uint64)) & np.uint64(1)
    # Each of 63 bits is set in half of 4,096 seeds: 32 is a standard deviation.
    assert (abs(bits.sum(0).astype(int) - 2048) < 6 * 32).all()
    assert derived_seed(0, 1, 2) != derived_seed(0, 2, 1)
    assert derived_seed(7) == 7


# --- What `reset` means


@pytest.mark.parametrize("kind", ["batch", "vector", "vec_env", "aec", "gymnasium"])
def test_a_seed_starts_a_stream_anew_and_none_goes_on(kind: str) -> None:
    batch, vector, aec = Batch(4), FiveUpVectorEnv(4), fiveup_env.raw_env()
    vec_env, single = FiveUpVecEnv(4), FiveUpEnv()

    def deals(seed: int | None) -> list[int]:
        if kind == "batch":
            batch.reset(seed)
            return list(batch.states["seed"].tolist())
        if kind == "vector":
            vector.reset(seed=seed)
            return list(vector.batch.states["seed"].tolist())
        if kind == "vec_env":
            if seed is not None:
                vec_env.seed(seed)
            vec_env.reset()
            return list(vec_env.batch.states["seed"].tolist())
        if kind == "aec":
            aec.reset(seed)
            return [aec.game.seed]
        single.reset(seed=seed)
        return [single.game.seed]

    assert not set(deals(None)) & set(deals(None))  # a random seed, and its stream
    first, second, third = deals(3), deals(None), deals(None)
    assert len({*first, *second, *third}) == 3 * len(first)
    assert [deals(3), deals(None), deals(None)] == [first, second, third]


def test_deals_that_are_named_are_played_and_the_stream_goes_on_from_there() -> None:
    batch = Batch(3, seed=0)
    batch.reset([5, 5, 7])
    assert batch.states["seed"].tolist() == [5, 5, 7]
    batch.reset()
    later = batch.states["seed"].tolist()
    assert len(set(later)) == 3
    env = gymnasium.make("fiveup/FiveUp-v0", players=2)
    env.reset(options={"deal": 11})
    assert env.unwrapped.game.seed == 11  # type: ignore[attr-defined]
    many = FiveUpVectorEnv(2, players=2, seat=0, seed=0)
    many.reset(options={"deals": [11, 12]})
    assert many.batch.states["seed"].tolist() == [11, 12]


@pytest.mark.parametrize(
    ("error", "match", "seed"),
    [
        (SeedError, "a seed", -1),
        (SeedError, "a seed", 2**64),
        (SeedError, "a seed", 1.5),
        (SeedError, "a seed", "7"),
        (OptionError, "seeds must be 3 integers", [1, 2]),
        (SeedError, "a seed", [1, 2, -3]),
        (OptionError, "seeds must be 3 integers", np.zeros((3, 1), np.int64)),
    ],
)
def test_what_is_not_a_seed_is_refused(error: Any, match: str, seed: Any) -> None:
    with pytest.raises(error, match=match):
        Batch(3, seed=0).reset(seed)
