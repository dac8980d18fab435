"""A fuzzer of everything that takes input from outside.

    python -m tests.fuzz --inputs 20000 --seed 0

The promise is that any input is accepted, or refused by a FiveUpError (or an OSError, for files)
whose message is one line: never another exception, a hang or a crash. Input number k of a target
depends on the seed, the target and k alone, so any of them can be repeated. The targets of the
laboratory are left out where `agents` cannot be imported.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import io
import json
import os
import signal
import string
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from unittest import mock

import numpy as np

from fiveup_env import Batch, Deal, FiveUpError, Game, Move, Rules, Tile
from fiveup_env.checks import whole
from fiveup_env.cli import main as fiveup
from fiveup_env.cli import record as recording
from fiveup_env.drawing.transcript import transcript
from fiveup_env.encoders import ENCODERS, get_encoder, register_encoder
from fiveup_env.engine.chance import checked_seed
from fiveup_env.envs.aec import raw_env
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.game import (
    move_of_words,
    view_json,
    view_line,
    view_of,
    view_of_line,
    view_text,
)
from fiveup_env.game.records import dumps, game_of, loads, read_file, record_of
from fiveup_env.opponents.programs.messages import message_in, question, views_in
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.text.prompts import move_in
from fiveup_env.rules.fields import FIELDS, parse_assignment
from fiveup_env.rules.presets import NAMED_RULES
from fiveup_env.sealed import _digest
from tests.support import play_randomly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Makes an input from chance alone and hands it over; what it raises is judged.
Target: TypeAlias = "Callable[[Random], object]"
TARGETS: Final[dict[str, Target]] = {}

DEPTH: Final = 20  # to which structures are mutated
SECONDS: Final = 30  # of processor time after which an input counts as a hang
WAITING: Final = 20  # times as many seconds may pass, for the machine may be busy
SECONDS_FIRST: Final = 600  # and the first one, for which code is compiled
SHOWN: Final = 20  # failures of a target that are printed
EXIT_STATUSES: Final = {0, 1, 2}

WORDS: Final = (
    "", " ", "\0", "a\0b", "\n", "\x1b[31m", "\u2028", "\ud800", "\U0001f600", "٣", "é", "9" * 5000,
    "1e999", "nan", "-inf", "-0", "--5", "0x10", "1_000", "None", "true", "[", "{}", "*a", "&a x", "!!x y",
    "=", ":", ",", ",,", "a=b=c", "%s", "'", '"', "\\", "..", "x" * 10_000,
)  # fmt: skip
NUMBERS: Final = (
    0, 1, 2, 3, 5, 6, 7, -1, -2, 28, 120, 121, 127, 128, 255, 2**31, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30,
    10**400, 10**5000, 0.0, 0.5, -0.0, 1.0, 3.0, 1e308, float("nan"), float("inf"), -float("inf"), 1j,
)  # fmt: skip
OTHERS: Final[tuple[Any, ...]] = (
    None, True, False, (), [], {}, [[]], {"a": 1}, b"", b"\xff", frozenset({1}), range(3), object, Ellipsis,
    np.int64(3), np.uint8(255), np.uint64(2**64 - 1), np.float64("nan"), np.float32(3), np.bool_(True), np.array(3),
    np.array(True), np.array([1, 2]), np.array([[3]]), np.array([]), np.str_("greedy"), np.array(["5-3"]), np.zeros(2, "i4,i4"),
)  # fmt: skip


def target(function: Target) -> Target:
    """Register a target by the name of its function."""
    TARGETS[function.__name__.replace("_", "-")] = function
    return function


# --- Mutations


def odd(random: Random) -> Any:
    """Return a value that is rarely expected."""
    pick = random.random()
    if pick < 0.02:
        return nested(random.choice([10, 900, 3000]))
    if pick < 0.3:
        return random.choice(WORDS)
    if pick < 0.6:
        return random.choice(NUMBERS)
    if pick < 0.7:
        return random.randint(-300, 300)
    return copy.deepcopy(random.choice(OTHERS))


def nested(depth: int) -> list[Any]:
    """Return lists inside lists."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def mutated(random: Random, value: Any) -> Any:
    """Return a structure of lists and dicts with some of its values changed."""
    value = copy.deepcopy(value)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        value = _mutated_once(random, value)
    return value


def _mutated_once(random: Random, value: Any) -> Any:
    places = list(_places(value))
    if not places or random.random() < 0.01:
        return odd(random)
    owner, key = random.choice(places)
    act = random.choice(["odd", "odd", "near", "drop", "add", "twice", "swap"])
    if act == "odd":
        owner[key] = odd(random)
    elif act == "near":
        owner[key] = _near(random, owner[key])
    elif act == "drop":
        del owner[key]
    elif act == "swap":
        other, place = random.choice(places)
        with contextlib.suppress(LookupError, TypeError):  # one may have been inside the other
            owner[key], other[place] = other[place], owner[key]
    elif isinstance(owner, dict):
        names = [k for _, k in places if isinstance(k, str)]
        owner[random.choice([*names, *WORDS, 3, None])] = (
            owner[key] if act == "twice" else odd(random)
        )
    else:
        owner.insert(key, owner[key] if act == "twice" else odd(random))
    return value


def _near(random: Random, value: Any) -> Any:
    """Return a value like another, but not the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        changed = value + random.choice([-1, 1, 7])
        return random.choice([changed, 0.5, bool(value), -value, np.int64(0), [value]])
    if isinstance(value, str):
        return mutated_text(random, value)
    if isinstance(value, list):
        return tuple(value)
    return [value]


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a structure, as its owner and its key."""
    for key in (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    ):
        yield value, key
        if depth < DEPTH:
            yield from _places(value[key], depth + 1)


def mutated_text(random: Random, text: str) -> str:
    """Return a text with some characters changed, cut, repeated or put in, but no new slash."""
    for _ in range(random.choice([1, 1, 2, 4])):
        start, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
        act = random.randrange(5)
        if act == 0:
            text = text[:start] + random.choice(WORDS) + text[start:]
        elif act == 1:
            text = text[:start] + text[min(end, start + 3) :]
        elif act == 2:
            text = (
                text[:start] + random.choice(string.printable.replace("/", "")) + text[start + 1 :]
            )
        elif act == 3:
            text = text[:end] + text[start:end][:50] + text[end:]
        else:
            text = random.choice([text.upper(), text[::-1], text[:start], f" {text}", f"{text}\n"])
    return text


def mutated_bytes(random: Random, content: bytes, other: bytes = b"") -> bytes:
    """Return bytes with some of them flipped, cut, repeated, put in or spliced from others."""
    data = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 8])):
        at = random.randrange(len(data) + 1)
        act = random.randrange(8)
        if act < 3 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif act == 3:
            del data[at : at + random.choice([1, 2, 16, 300])]
        elif act == 4:
            data[at:at] = random.randbytes(random.choice([1, 2, 16, 300]))
        elif act == 5:
            del data[at:]
        elif act == 6:
            data[at:] = (other or content)[random.randrange(len(other or content) + 1) :]
        else:
            data[at:at] = data[at : at + random.choice([1, 16, 300])]
    return bytes(data)


def mutated_json(random: Random, value: Any) -> bytes:
    """Return JSON of a structure, changed as a structure or as text, with keys that come twice."""
    try:
        text = json.dumps(mutated(random, value) if random.random() < 0.6 else value)
    except (TypeError, ValueError, RecursionError):  # it holds what JSON does not
        text = json.dumps(value)
    if random.random() < 0.1:
        at = text.find("{", random.randrange(len(text))) + 1
        text = f'{text[:at]}"players": {json.dumps(random.choice(WORDS))}, {text[at:]}'
    content = text.encode(errors="surrogatepass")
    return mutated_bytes(random, content) if random.random() < 0.4 else content


def reheaded(random: Random, sealed: bytes) -> bytes:
    """Return sealed bytes whose header is altered as JSON, under the right digest."""
    _, header, arrays = sealed.split(b"\n", 2)
    content = mutated_json(random, json.loads(header)) + b"\n" + arrays
    return _digest(content) + b"\n" + content


# --- Targets of the library


@cache
def some_games() -> list[Game]:
    """Return games of several kinds: finished, cut off, with partners, with optional draws."""
    kinds: list[tuple[str, int, dict[str, Any]]] = [
        ("five_up", 4, {}),
        ("five_up", 3, {"draw": "optional", "reserve": 1, "target": 5}),
        ("all_fives", 2, {"target": 30}),
        ("mini-2", 2, {}),
        ("mini-3-draw", 2, {}),
    ]
    return [
        play_randomly(Game(name, players, seed=seed, **fields), Random(seed), 30)
        for seed, (name, players, fields) in enumerate(kinds)
    ]


@cache
def some_records() -> list[Any]:
    """Return the records of some games."""
    return [record_of(game, legal=legal) for game in some_games() for legal in (False, True)]


@target
def records(random: Random) -> None:
    """Records as structures, as lines of JSON, and as files."""
    record = random.choice(some_records())
    pick = random.random()
    if pick < 0.4:
        games = [game_of(mutated(random, record))]
    elif pick < 0.8:
        games = [loads(mutated_json(random, record))]
    elif pick < 0.82:
        games = [loads(odd(random))]
    else:
        lines = [mutated_json(random, record) for _ in range(2)]
        path = Path("games.jsonl")
        path.write_bytes(mutated_bytes(random, b"\n".join(lines)))
        games = [line.game for line in read_file(path) if line.game is not None]
    for game in games:
        dumps(game)
        transcript(game)


@target
def rules(random: Random) -> None:
    """Rule fields, presets, and changes of fields on the command line."""
    base = random.choice([Rules.preset(name, 2) for name in NAMED_RULES])
    fields = {"players": 2, "teams": False, **base.fields()}
    pick = random.randrange(5)
    if pick == 0:
        made = Rules(**fields | _named(mutated(random, fields)))
    elif pick == 1:
        changes = {name: odd(random) for name in random.sample(FIELDS, 2)}
        made = Rules.preset(
            random.choice([*NAMED_RULES, odd(random)]),
            random.choice([2, 4, odd(random)]),
            **changes,
        )
    elif pick == 2:
        made = Rules.of(
            random.choice([odd(random), base]), odd(random), **{random.choice(FIELDS): odd(random)}
        )
    elif pick == 3:
        made = Rules.of(base, **{random.choice([*FIELDS, "teams", "taget"]): odd(random)})
    else:
        name, value = random.choice(list(base.fields().items()))
        field, given = parse_assignment(mutated_text(random, f"{name}={value}"))
        made = Rules.of(base, **{field: given})
    assert Rules.from_struct(made.to_struct().reshape(1)[0]) == made
    play_randomly(Game(made, seed=random.getrandbits(64)), random, 5)


def _named(fields: Any) -> dict[str, Any]:
    """Return what can be keyword arguments of Rules: others are Python's own affair."""
    known = {*FIELDS, "players", "teams"}
    return {k: v for k, v in fields.items() if k in known} if isinstance(fields, dict) else {}


@target
def moves(random: Random) -> None:
    """Moves as numbers, as texts and as parts; made in a game, or asked for."""
    game = random.choice(some_games()).copy()
    name = random.choice(["5-3", "5-3@5", "5-3@5x", "draw", "pass", *map(str, game.legal_moves)])
    given = random.choice([odd(random), mutated_text(random, name)])
    pick = random.randrange(5)
    if pick == 0:
        str(Move(odd(random)))
    elif pick == 1:
        str(Move.parse(given))
    elif pick == 2:
        tile = random.choice([Tile(5, 3), Tile(random.randint(-1, 9), 2), odd(random)])
        str(Move.of(tile, odd(random), random.choice(["plain", "double", odd(random)])))
    elif pick == 3:
        game.parse(given)
    else:
        game.push(given)


@target
def positions(random: Random) -> None:
    """Positions as lines and as JSON, whole and in messages; moves in words, and answers."""
    game = random.choice(some_games())
    view, pick = game.view(random.randrange(game.rules.players)), random.randrange(5)
    if pick == 0:
        view_text(view_of_line(mutated_text(random, view_line(view))))
    elif pick == 1:
        view_json(view_of(mutated(random, view_json(view))))
    elif pick == 2:
        move_of_words(random.choice([odd(random), mutated_text(random, "set 5-3 on the double 5")]))
    elif pick == 3:
        move_in(mutated_text(random, "note: one\nMy move: lead 5-3"), view)
    else:
        asked = question(1, view, "0" * 64, None, random.choice(["json", "struct"]))
        views_in(message_in(mutated_json(random, asked), 1 << 20))


@target
def tiles(random: Random) -> None:
    """Tiles as texts and as pairs."""
    pair = [random.choice([3, odd(random)]), odd(random)]
    Tile.parse(random.choice([odd(random), mutated_text(random, "5-3"), pair, tuple(pair)]))


@target
def deals(random: Random) -> None:
    """Deals by hand."""
    record = random.choice(some_records())
    rules = Rules(players=record["players"], teams=record["teams"], **_own(record))
    dealt = record["hands"][0]
    parts = {"hands": dealt["deal"], "boneyard": dealt["boneyard"], "lead": 0}
    altered = {name: mutated(random, parts[name]) for name in random.choices([*parts])}
    deal: Any = Deal(**parts | altered)
    given: Any = random.choice([[deal], [deal], [deal], [deal, odd(random)], odd(random)])
    play_randomly(Game(rules, deals=given, seed=1), random, 5)


def _own(record: Any) -> dict[str, Any]:
    return {name: value for name, value in record["rules"].items() if name != "preset"}


@target
def seeds(random: Random) -> None:
    """Seeds of games."""
    seed = random.choice([odd(random), random.randint(-(2**65), 2**65)])
    assert 0 <= checked_seed(seed) < 2**64
    Game("mini-2", players=2, seed=seed)


SPECS: Final = [
    "greedy", "random", "partner", "pimc:worlds=20,playout=greedy", "pimc:ms=3,aim=hand,weighed=2",
    "policy:nowhere", "policy:partners,sample=1",
    "policy+search:nowhere,worlds=3,trust=0.5", "openspiel:simulations=3",
]  # fmt: skip


@target
def specs(random: Random) -> None:
    """Specs of agents, with odd separators, options and values."""
    spec = random.choice(SPECS)
    pick = random.random()
    if pick < 0.05:
        get_agent(odd(random))
    elif pick < 0.4:
        name, _, options = spec.partition(":")
        parts = [*options.split(","), *random.choices(WORDS, k=random.randrange(3))]
        random.shuffle(parts)
        get_agent(
            name
            + random.choice([":", "=", "::", ",", ""])
            + random.choice([",", ",,", ";"]).join(parts)
        )
    else:
        get_agent(mutated_text(random, spec))


@target
def encoders(random: Random) -> None:
    """Encoders that are registered, or asked for."""
    known = dict(ENCODERS)
    parts = {"name": "own", "version": 1, "pieces": (), "encode": print}
    parts = _named_parts(mutated(random, parts))
    try:
        if random.random() < 0.5:
            register_encoder(random.choice([SimpleNamespace(**parts), odd(random)]))
        get_encoder(random.choice(["flat", "own", odd(random), mutated_text(random, "tokens")]))
    finally:
        ENCODERS.clear()
        ENCODERS.update(known)


def _named_parts(parts: Any) -> dict[str, Any]:
    return {k: v for k, v in parts.items() if isinstance(k, str)} if isinstance(parts, dict) else {}


@cache
def a_batch() -> tuple[Batch, bytes, bytes]:
    """Return a batch, a state of it, and a state of another batch."""
    batch, other = Batch(4, "mini-3", 2, seed=1), Batch(4, "mini-2", 2, seed=1)
    for one in (batch, other):
        one.reset()
        one.step(one.random_actions(np.random.default_rng(1)))
    return batch, batch.save(), other.save()


OPTIONS: Final[dict[str, Any]] = {
    "rules": "mini-2", "players": 2, "episode": "hand", "reward": "margin", "max_hands": 2, "encoder": "flat",
    "illegal": "terminate", "illegal_reward": -1.0, "scaled": True,
}  # fmt: skip
OPTIONS_OF: Final[dict[str, dict[str, Any]]] = {
    "raw_env": {"render_mode": "ansi"},
    "FiveUpEnv": {"render_mode": "svg", "opponents": "greedy", "seat": 1},
    "Batch": {"games": 3, "seed": 1, "threads": 1, "oracle": True},
    "FiveUpVectorEnv": {"num_envs": 3, "opponents": "greedy", "seed": 1, "autoreset_mode": "SameStep"},
}  # fmt: skip
CALLS: Final = (
    "step",
    "reset",
    "views",
    "advance",
    "begin",
    "observations_of",
    "final_observations_of",
)


@target
def environments(random: Random) -> None:
    """Options of environments, and what their methods are called with."""
    name = random.choice(list(OPTIONS_OF))
    kind = {"raw_env": raw_env, "FiveUpEnv": FiveUpEnv, "Batch": Batch}.get(name, FiveUpVectorEnv)
    options = (
        {"games" if name == "Batch" else "num_envs": 3} if "V" in name or name == "Batch" else {}
    )
    known = OPTIONS | OPTIONS_OF[name]
    options |= {one: known[one] for one in random.sample([*known], random.randrange(4))}
    pick = random.random()
    if pick < 0.2:
        options = _named_parts(mutated(random, options or known))
    elif pick < 0.25:
        options[mutated_text(random, random.choice([*known]))] = odd(random)
    elif pick < 0.3:
        options[random.choice(FIELDS)] = odd(random)
    if whole(options.get("games", options.get("num_envs", 3)), 1, 100) is None:
        options |= {"games": 3} if name == "Batch" else {"num_envs": 3}  # memory is not promised
    env: Any = kind(**options)
    env.reset()
    _called(env, random, name)
    env.reset()


def _called(env: Any, random: Random, name: str) -> None:
    """Call one method of an environment, with something odd or with what is right."""
    integers = [
        np.arange(3),
        np.array([0, 2]),
        np.array([5, -1, 121]),
        np.zeros((3, 1), int),
        [0, 1, 2],
    ]
    given = [
        random.choice([*integers, *integers, odd(random), random.randint(-2, 130)])
        for _ in range(2)
    ]
    if name == "Batch" and random.random() < 0.3:
        env.step(env.random_actions(np.random.default_rng(1)))
    elif name == "Batch":
        call = random.choice(CALLS)
        taken = 2 if call in {"advance", "observations_of", "final_observations_of"} else 1
        getattr(env, call)(*given[:taken])
    elif random.random() < 0.3:
        env.reset(seed=random.choice([None, 3, given[0]]))
    elif name != "raw_env" and random.random() < 0.4:
        option = random.choice(["deal", "deals", "reset_mask", "deel"])
        env.reset(options=random.choice([None, given[0], {option: given[1]}]))
    else:
        env.step(given[0])


@target
def saved_batches(random: Random) -> None:
    """States of a batch; one that is refused leaves the batch as it was."""
    batch, state, other = a_batch()
    try:
        batch.load(
            random.choice(
                [mutated_bytes(random, state, other), mutated_bytes(random, state), odd(random)]
            )
        )
    finally:
        assert batch.save() == state
    batch.step(batch.random_actions(np.random.default_rng(random.getrandbits(32))))
    batch.load(state)


@cache
def a_vector_environment() -> Any:
    """Return games of Stable-Baselines3, and a state of theirs."""
    from fiveup_env.envs.sb3 import FiveUpVecEnv

    env = FiveUpVecEnv(4, "mini-3", 2, seed=1)
    env.reset()
    return env, env.save()


def saved_vector_environments(random: Random) -> None:
    """States of a Stable-Baselines3 vector environment."""
    env, state = a_vector_environment()
    batch_state = a_batch()[1]
    try:
        env.load(
            random.choice([mutated_bytes(random, state, batch_state), batch_state, odd(random)])
        )
    finally:
        assert env.save() == state


if find_spec("stable_baselines3"):
    target(saved_vector_environments)


COMMANDS: Final = [
    "record --games 2 --max-hands 1 -o out.jsonl",
    "record --rules all_fives --players 2 --seed 3 --legal --set hand_size=7 -o out.jsonl",
    "record --set target=5 --set exact_target=true -o no/such/out.jsonl",
    "record -o .",
    "check games.jsonl",
    "show games.jsonl --game 1",
    "show nothing.jsonl",
    "replay games.jsonl --game 0 -o game.html",
    "rules",
    "rules mini-2",
    "--version",
    "--help",
]  # fmt: skip


@target
def command_lines(random: Random) -> None:
    """Command lines, run in this process, with files that are damaged. No game is long."""
    record = random.choice(some_records())
    Path("games.jsonl").write_bytes(b"\n".join(mutated_json(random, record) for _ in range(2)))
    words = random.choice(COMMANDS).split()
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        at = random.randrange(len(words))
        act = random.randrange(4)
        if act == 0:
            words[at] = mutated_text(random, words[at])
        elif act == 1:
            words.insert(at, random.choice(random.choice(COMMANDS).split()))
        elif act == 2:
            words.insert(
                at, str(random.choice([*WORDS, random.randint(-9, 99), -(10**30), 10**30]))
            )
        elif len(words) > 1:
            del words[at]

    def few(options: argparse.Namespace, rules: Rules) -> Any:
        options.games, options.max_hands = min(options.games, 2), min(options.max_hands, 2)
        return play(options, rules)

    play = recording._random_games
    output = io.StringIO()
    with (
        mock.patch.object(recording, "_random_games", few),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        try:
            status = fiveup(words)
        except SystemExit as left:
            status = int(left.code or 0)
    assert status in EXIT_STATUSES
    if status == 2:
        raise FiveUpError(output.getvalue().strip().rpartition("\n")[2])


# --- Running


class Hang(BaseException):
    """An input that took too long."""


@contextlib.contextmanager
def in_scratch_folder() -> Iterator[None]:
    """Work in a folder that is removed afterwards: some inputs are files, and some write them."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Interrupt what takes more processor time, or waits for long, where the system has timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: object) -> None:
        raise Hang(f"more than {seconds} s")

    timers = (
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, WAITING * seconds),
    )
    before = [signal.signal(number, ring) for number, _, _ in timers]
    for _, timer, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def verdict(name: str, seed: int, number: int, seconds: int) -> tuple[str, str]:
    """Return whether an input was `accepted`, `refused` or `failed`, and in which words."""
    try:
        with time_limit(seconds):
            TARGETS[name](Random(f"{seed} {name} {number}"))
    except (FiveUpError, OSError) as error:
        said = str(error)
        if not said or "\n" in said:
            return "failed", f"the message of {type(error).__name__} is not one line: {said!r}"
        return "refused", f"{type(error).__name__}: {said}"
    except (Exception, Hang) as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "failed",
            f"{type(error).__name__}: {str(error)[:200]!r} at {where.filename}:{where.lineno}",
        )
    return "accepted", ""


def fuzz(names: list[str], inputs: int, seed: int) -> int:
    """Try inputs for every target in turn, print what happened, and return how many failed."""
    counts = {name: Counter[str]() for name in names}
    for name in names:
        verdict(name, seed, 0, SECONDS_FIRST)  # some of it is compiled
    for number in range(inputs):
        name, k = names[number % len(names)], number // len(names)
        kind, words = verdict(name, seed, k, SECONDS)
        counts[name][kind] += 1
        if kind == "failed" and counts[name][kind] <= SHOWN:
            print(f"{words}\n    python -m tests.fuzz --seed {seed} --target {name} --only {k}")
    print(f"{'target':<26}{'accepted':>10}{'refused':>10}{'failed':>10}")
    total = sum(counts.values(), Counter[str]())
    for name, count in {**counts, "all": total}.items():
        print(f"{name:<26}{count['accepted']:>10}{count['refused']:>10}{count['failed']:>10}")
    return total["failed"]


def main() -> int:
    """Run the command line, and return its exit status."""
    from tests import fuzz_bytes

    TARGETS.update(fuzz_bytes.TARGETS)
    try:
        from tests.agents import fuzzing

        TARGETS.update(fuzzing.TARGETS)
    except ModuleNotFoundError as error:
        print(f"without the targets of the laboratory: {error}")
    if find_spec("starlette") and find_spec("httpx"):
        from tests import fuzz_requests

        TARGETS.update(fuzz_requests.TARGETS)
    else:
        print("without requests to the table: pip install 'fiveup-env[web]' httpx")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=20_000, help="for all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all of them")
    parser.add_argument("--only", type=int, metavar="K", help="run input K of one target again")
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    faulthandler.enable()
    warnings.simplefilter("error")
    with in_scratch_folder():
        if options.only is None:
            return 1 if fuzz(names, options.inputs, options.seed) else 0
        kind, words = verdict(names[0], options.seed, options.only, SECONDS_FIRST)
        print(kind, words)
        return 1 if kind == "failed" else 0


if __name__ == "__main__":
    sys.exit(main())
