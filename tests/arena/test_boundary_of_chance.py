"""Whatever an agent is handed, at every door: it tells no seed, and it changes no deal.

The thief looks for the seed in all that it is handed: the seeds and states of its generator, the
arrays and what they are parts of, and everything that can be reached from there.
"""

from __future__ import annotations

import ctypes
import gc
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import Game, Rules
from fiveup_env.arena.play import games as arena
from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.clock import STOPPED, TICK, AwakeClock, processor_time
from fiveup_env.arena.play.games import Task, Terms, play_chunk
from fiveup_env.arena.play.workers import Player
from fiveup_env.envs import aec
from fiveup_env.envs import batch as batches
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import IllegalMoveError
from fiveup_env.opponents.agent import Agent, Random
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.play.table import Setup, Table
from fiveup_env.programs.confined import CREATE_RULESET, SCOPED_SINCE
from tests.arena.strangers import MASK
from tests.support import install_agents

SEED: Final = 0x1234_5678_9ABC
STEPS: Final = 6  # how many moves a learner makes
RULES: Final = Rules.preset(players=2)


def landlock_version() -> int:
    """Return the version of Linux's Landlock here, or less than 1."""
    if sys.platform != "linux":
        return 0
    return int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1))


class Thief:
    """Plays at random, and keeps what it is handed."""

    def __init__(self, draws: int = 1) -> None:
        self.draws, self.handed = draws, list[tuple[np.ndarray, np.ndarray, Any]]()
        self.loot = set[int]()  # numbers that it found
        self.bytes = list[bytes]()  # of each call

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return random actions."""
        self.bytes.append(bytes_of(views, rng))
        self.loot |= numbers_in(views, rng)
        for _ in range(self.draws):
            rng.random(1_000)
        return Random()(views, rng)


def bytes_of(views: np.ndarray, rng: np.random.Generator) -> bytes:
    """Return all bytes of arrays and what they are parts of, and the state of the generator."""
    arrays = []
    part: Any = views
    while part is not None:
        arrays.append(bytes(memoryview(part).cast("B")) if part.size else b"")
        part = part.base
    seeds = rng.bit_generator.seed_seq
    state = repr((rng.bit_generator.state, seeds.state))  # type: ignore[attr-defined]
    return b"|".join([*arrays, state.encode()])


def numbers_in(*handed: Any) -> set[int]:
    """Return the numbers that can be reached from what is handed, but through code."""
    numbers, seen, waiting = set[int](), set[int](), list(handed)
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (ModuleType, FunctionType, type)):
            continue
        seen.add(id(item))
        if isinstance(item, int):
            numbers.add(item)
        elif isinstance(item, np.ndarray):
            waiting.append(item.base)
            if item.dtype.itemsize % 8 == 0 and item.flags.c_contiguous:
                numbers |= set(item.view(np.uint8).reshape(-1).view(np.uint64).tolist())
        elif isinstance(item, np.random.Generator):
            waiting += [item.bit_generator.state, item.bit_generator.seed_seq]
        elif isinstance(item, np.random.SeedSequence):
            waiting += [item.state, item.pool]
        else:
            waiting += gc.get_referents(item)
    return numbers


# --- The doors: each plays with an opponent, and returns the seeds that it must not find


def at_the_arena(agent: Agent, seed: int) -> set[int]:
    seeds = np.uint64(seed) + np.arange(3, dtype=np.uint64)
    play_chunk([agent, make_agent("greedy")], ["thief", "greedy"], Terms(RULES), seeds)
    return set(seeds.tolist())


def in_gymnasium(agent: Agent, seed: int) -> set[int]:
    env = FiveUpEnv(players=2, opponents=agent, seat=0)
    env.reset(seed=seed)
    secrets = {seed}
    for _ in range(STEPS):
        secrets.add(env.game.seed)
        if any(env.step(int(env.action_masks().argmax()))[2:4]):
            env.reset()
    return secrets


def in_vectors(agent: Agent, seed: int) -> set[int]:
    env = FiveUpVectorEnv(3, players=2, opponents=agent, seat=0, seed=seed)
    env.reset()
    secrets = {seed, *env.batch.states["seed"].tolist()}
    for k in range(STEPS):
        if k == STEPS // 2:
            env.reset(seed=seed + 1)
            secrets |= {seed + 1, *env.batch.states["seed"].tolist()}
        env.step(env.action_masks().argmax(1))
    return secrets


def with_stable_baselines(agent: Agent, seed: int) -> set[int]:
    env_util = pytest.importorskip(
        "stable_baselines3.common.env_util",
        reason="secrets in Stable-Baselines3 (no Stable-Baselines3)",
    )
    vec_env = env_util.make_vec_env(
        "fiveup/FiveUp-v0", 2, seed, env_kwargs={"players": 2, "opponents": agent, "seat": 0}
    )
    vec_env.reset()
    secrets = {seed, seed + 1}
    for _ in range(STEPS):
        vec_env.step(np.array([mask.argmax() for mask in vec_env.env_method("action_masks")]))
    return secrets


def at_the_table(agent: Agent, seed: int) -> set[int]:
    table = Table(Setup(rules=RULES, seed=seed))
    table._agents = dict.fromkeys(table._agents, agent)
    table.go_on()
    for _ in range(STEPS):
        if table.is_mine:
            table.play(next(iter(table.game.legal_moves)))
    return {seed, table.game.seed}


DOORS: Final = {
    door.__name__: door
    for door in (at_the_arena, in_gymnasium, in_vectors, with_stable_baselines, at_the_table)
}


@pytest.mark.parametrize("door", DOORS)
def test_no_seed_is_found_in_what_an_agent_is_handed(door: str) -> None:
    thief = Thief()
    secrets = DOORS[door](thief, SEED)
    assert len(thief.bytes) > 2
    assert not secrets & thief.loot


def test_the_thief_finds_a_seed_where_there_is_one() -> None:
    game, rng = Game(RULES, seed=SEED), np.random.default_rng([SEED, 1])
    assert SEED in numbers_in(rng)
    assert SEED in numbers_in(game.state()[["seed", "hands"]][0:1])
    assert SEED in numbers_in(game.state())


@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"with_stable_baselines"}))
def test_what_an_agent_draws_changes_no_deal(door: str) -> None:
    few, many = (DOORS[door](Thief(draws), SEED) for draws in (0, 3))
    assert few == many


# --- Same view, other hidden tiles


def leads(door: str, seed: int) -> bool:
    """Return whether the agent that is handed something makes the first move of a game."""
    seen: list[int] = []

    def agent(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        seen.append(int(views["public"]["plies"].max()))
        return Random()(views, rng)

    DOORS[door](agent, seed)
    return seen[0] == 0


def hide_otherwise(games: np.ndarray, indices: np.ndarray) -> None:
    """Deal the tiles that the seat to move does not see in another way."""
    for game in (games[i] for i in indices):
        mover, players = int(game["public"]["turn"]), int(game["public"]["rules"]["players"])
        others = [seat for seat in range(players) if seat != mover]
        hands = {s: [t for t in range(28) if game["hands"][s] >> t & 1] for s in others}
        boneyard = game["order"][game["order"] >= 0].tolist()
        hidden = sum(hands.values(), boneyard)
        hidden = hidden[1:] + hidden[:1]
        game["order"][: len(boneyard)] = hidden[: len(boneyard)]
        rest = hidden[len(boneyard) :]
        for seat, held in hands.items():
            own, rest = rest[: len(held)], rest[len(held) :]
            game["hands"][seat] = sum(1 << tile for tile in own)


@pytest.mark.parametrize("door", ["at_the_arena", "in_gymnasium", "in_vectors"])
def test_hidden_tiles_change_no_byte_of_what_an_agent_is_handed(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = next(seed for seed in range(SEED, SEED + 99) if leads(door, seed))
    first = []
    for changed in (False, True):
        states = []
        for module in (arena, aec, batches):
            real = module.start_episodes

            def start(games: Any, indices: Any, seeds: Any, real: Any = real) -> None:
                real(games, indices, seeds)
                if changed:  # noqa: B023
                    hide_otherwise(games, indices)
                states.append(games["hands"].copy())  # noqa: B023

            monkeypatch.setattr(module, "start_episodes", start)
        thief = Thief()
        with suppress(IllegalMoveError):  # other tiles, so other legal moves than in the record
            DOORS[door](thief, seed)
        first.append((states[0], thief.bytes[0]))
        monkeypatch.undo()
    assert (first[0][0] != first[1][0]).any()
    assert first[0][1] == first[1][1]


# --- Agents apart


@pytest.fixture
def pickpocket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the agent what to look for."""
    monkeypatch.setenv("WANTED", str(SEED ^ MASK))


def what_it_said(where: str) -> str:
    """Return why the agent apart forfeited its games on the secret deal, if it did."""
    spec = f"tests.arena.strangers:Pickpocket,where={where}"
    player = Player(Terms(RULES, "hand", forfeit=True, apart=spec))
    return player.play(Task((spec, "greedy"), SEED, 2)).faults[0]


@pytest.mark.usefixtures("pickpocket")
def test_an_agent_apart_finds_no_seed_in_its_process() -> None:
    assert what_it_said("here") == ""


@pytest.mark.usefixtures("pickpocket")
@pytest.mark.skipif(
    landlock_version() < 1, reason="what keeps an agent out of the arena's memory (no Landlock)"
)
def test_an_agent_apart_cannot_read_the_memory_of_the_arena() -> None:
    assert what_it_said("parent") == "raised ProgramError: RuntimeError: was kept out"


@pytest.mark.usefixtures("pickpocket")
@pytest.mark.skipif(
    landlock_version() < SCOPED_SINCE,
    reason="what keeps an agent from stopping the arena (no recent Landlock)",
)
def test_an_agent_apart_cannot_stop_the_arena() -> None:
    assert what_it_said("stop") == "raised ProgramError: RuntimeError: was kept out"


POOL = '''
"""An agent of another package that remembers the hands that it has seen."""

from dataclasses import dataclass, field

import numpy as np

from fiveup_env import legal_masks


@dataclass(frozen=True)
class Pool:
    """Raises an error when it has seen two seats."""

    seats: set = field(default_factory=set)

    def __call__(self, views, rng):
        if len(views) > 1:
            self.seats.update(views["seat"].tolist())
        if len(self.seats) > 1:
            raise RuntimeError("knows two hands of a deal")
        return legal_masks(views).argmax(1)
'''


def test_no_process_of_an_agent_sees_two_hands_of_a_deal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_agents(tmp_path, "pools", POOL, "Pool")
    monkeypatch.syspath_prepend(tmp_path)
    for apart in ("pool", None):
        player = Player(Terms(Rules.preset(), "hand", forfeit=True, apart=apart))
        why = player.play(Task(("pool", "greedy"), 1, 3)).faults[0]
        assert why == ("" if apart else "raised RuntimeError: knows two hands of a deal")


# --- Time


def test_a_clock_stands_still_while_its_process_is_stopped() -> None:
    code = (
        "import sys, time\nfrom fiveup_env.arena.play.clock import AwakeClock\n"
        "with AwakeClock() as clock:\n"
        "    before = clock.now()\n    print(flush=True)\n    sys.stdin.readline()\n"
        "    time.sleep(0.3)\n    print(clock.now() - before)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5 * STOPPED)
        process.send_signal(signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        took = float(process.stdout.readline())
    assert 0.3 - 2 * TICK <= took < 1.5 * STOPPED  # a look is late by a tick at most


@pytest.mark.skipif(
    sys.platform != "linux", reason="the processor time of an agent apart (no Linux)"
)
def test_the_processor_time_of_an_agent_apart_is_known() -> None:
    apart = Apart("pimc:worlds=100")
    (part,) = apart.start(np.array([[True]]))
    before = processor_time(part.pid)
    part(Game(seed=1).view(), keyed_rng("test"))
    assert processor_time(part.pid) > before


@pytest.mark.parametrize("late", ["clock", "processor"])
def test_the_longer_of_wall_and_processor_time_counts(
    late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 10**9, 100))
    if late == "clock":
        monkeypatch.setattr(AwakeClock, "now", lambda _: float(next(ticks)))
    else:
        monkeypatch.setattr(arena, "processor_time", lambda _: float(next(ticks)))
    pair = [make_agent("greedy"), make_agent("greedy")]
    terms = Terms(RULES, "hand", forfeit=True, move_limit=10)
    assert "took" in play_chunk(pair, ["a", "b"], terms, np.arange(2, dtype=np.uint64)).faults[0]


# --- Generators


def test_a_key_names_a_generator_and_neighbours_have_nothing_in_common() -> None:
    keys: list[tuple[Any, ...]] = [("a", 1), ("a", 2), ("a", 1, 0), ("b", 1), ("a", "1"), ("a1",)]
    drawn = [tuple(keyed_rng(*key).integers(1 << 62, size=4).tolist()) for key in keys]
    assert len({number for row in drawn for number in row}) == 4 * len(keys)
