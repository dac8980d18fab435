"""A fuzzer of everything that takes input from outside.

    python -m tests.fuzz --inputs 20000 --seed 0

Any input is accepted, or refused by a FiveUpError (or, for files, an OSError) whose message is one
line: never another exception, a warning, a hang or a crash. Input k of a target depends on the
seed, the target and k alone, so any of them can be repeated. What is accepted is used afterwards.
With NUMBA_BOUNDSCHECK=1, an index outside of an array is an IndexError, and so a failure. Targets
whose packages are not installed are left out.
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
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import numpy as np

from fiveup_env import Batch, Deal, FiveUpError, Game, Move, Rules, Tile, legal_masks, make_agent
from fiveup_env.analysis import chances_of
from fiveup_env.analysis.trials import Trials
from fiveup_env.arena.benchmark.card import card_text
from fiveup_env.arena.benchmark.entries import Entry, read_json
from fiveup_env.arena.benchmark.leaderboard import page_of_entries
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.results import ResultsFile
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.belief import count, marginals, sample, worlds_to_games
from fiveup_env.cli import main as fiveup
from fiveup_env.doors.text.prompts import move_in
from fiveup_env.drawing.transcript import transcript
from fiveup_env.encoders import ENCODERS, get_encoder, register_encoder, row_size
from fiveup_env.engine import valid
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.state import GAME
from fiveup_env.engine.view import as_game, as_views
from fiveup_env.envs.aec import raw_env
from fiveup_env.envs.batch import SAVED as SAVED_BATCH
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import SAVED as SAVED_VECTOR
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.game import move_of_words, view_json, view_line, view_of, view_of_line, view_text
from fiveup_env.game.records import dumps, game_of, loads, read_file, record_of
from fiveup_env.game.view_json import RULE_KEYS, rules_json, rules_of
from fiveup_env.learning.runs import Run, run_in
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.native import Array, compiled, uncompiled
from fiveup_env.opponents.networks.files import DESCRIPTION, WEIGHTS, digest_of
from fiveup_env.opponents.networks.policy import PolicyAgent, Student
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.search.action_values import PLAY_ON
from fiveup_env.opponents.search.network_search import reward_of
from fiveup_env.programs.messages import hello, line_of, question
from fiveup_env.programs.serve import Server
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.fields import FIELDS, RULES, parse_assignment
from fiveup_env.rules.presets import NAMED_RULES
from fiveup_env.rules.tiles import TILE_COUNT, set_size
from fiveup_env.sealed import _digest, seal, unseal
from fiveup_env.seats.advantages import WAITING
from tests.support import play_randomly

# Makes an input from chance alone and hands it over; what it raises is judged.
Target: TypeAlias = "Callable[[Random], object]"
TARGETS: Final[dict[str, Target]] = {}

SECONDS: Final = 30  # of processor time after which an input counts as a hang
SECONDS_FIRST: Final = 600  # and the first one, for which code is compiled
SHOWN: Final = 20  # failures of a target that are printed

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
BYTES: Final = (0, 1, 2, 5, 27, 28, 120, 121, 127, 128, 254, 255)
FAR_FLOATS: Final = (0.0, -1.0, 1e30, 3e38, float("nan"), float("inf"), -float("inf"))
FAR_INTEGERS: Final = (0, -1, 2**31 - 1, 2**53 - 1, 2**63 - 1, -(2**63))


def target(*needs: str) -> Callable[[Target], Target]:
    """Register a target by the name of its function, where these packages can be imported."""

    def register(function: Target) -> Target:
        if all(map(find_spec, needs)):
            TARGETS[function.__name__.replace("_", "-")] = function
        return function

    return register


# --- Mutations


def odd(random: Random) -> Any:
    """Return a value that is rarely expected."""
    if random.random() < 0.01:
        nested: list[Any] = []
        for _ in range(random.choice([10, 900, 3000])):
            nested = [nested]
        return nested
    return copy.deepcopy(random.choice(random.choice([WORDS, NUMBERS, OTHERS])))


def mutated(random: Random, value: Any) -> Any:
    """Return a value, such as a structure of lists and dicts, with some of it changed."""
    root = [copy.deepcopy(value)]
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        places = list(_places(root))
        owner, key = random.choice(places or [(root, 0)])
        act = random.choice(["odd", "near", "near", "drop", "add", "twice", "swap"])
        if owner is root:
            root[:] = [_near(random, root[0]) if act == "near" else odd(random)]
        elif act == "near":
            owner[key] = _near(random, owner[key])
        elif act == "odd":
            owner[key] = odd(random)
        elif act == "drop":
            del owner[key]
        elif act == "swap":
            other, place = random.choice(places)
            with contextlib.suppress(LookupError, TypeError):  # one may have been inside the other
                owner[key], other[place] = other[place], owner[key]
        else:
            new = owner[key] if act == "twice" else odd(random)
            if isinstance(owner, list):
                owner.insert(key, new)
            else:
                owner[random.choice([*[k for _, k in places if isinstance(k, str)], "", 3])] = new
    return root[0]


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a structure, as its owner and its key."""
    if depth < 20 and isinstance(value, (list, dict)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key], depth + 1)


def _near(random: Random, value: Any) -> Any:
    """Return a value like another, but not the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return random.choice([value - 1, value + 1, value + 7, 0.5, -value, np.int64(0), [value]])
    if isinstance(value, str):
        return mutated_text(random, value)
    return tuple(value) if isinstance(value, list) else [value]


def mutated_text(random: Random, text: str) -> str:
    """Return a text with some characters changed, cut, repeated or put in, but no new slash."""
    for _ in range(random.choice([1, 1, 2, 4])):
        start, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
        new = random.choice([*WORDS, *string.printable.replace("/", "")])
        text = random.choice(
            [
                text[:start] + new + text[start:],
                text[:start] + new[:1] + text[start + 1 :],
                text[:start] + text[min(end, start + 3) :],
                text[:end] + text[start:end][:50] + text[end:],
                random.choice([text.upper(), text[::-1], text[:start], f" {text}", f"{text}\n"]),
            ]
        )
    return text


def mutated_bytes(random: Random, content: bytes, other: bytes = b"") -> bytes:
    """Return bytes with some of them flipped, cut, repeated, put in or spliced from others."""
    data = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 8])):
        at, size = random.randrange(len(data) + 1), random.choice([1, 2, 16, 300])
        act = random.randrange(8)
        if act < 3 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        elif act == 3:
            del data[at : at + size]
        elif act == 4:
            data[at:at] = random.randbytes(size)
        elif act == 5:
            del data[at:]
        elif act == 6:
            data[at:] = (other or content)[random.randrange(len(other or content) + 1) :]
        else:
            data[at:at] = data[at : at + size]
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


def mutated_lines(random: Random, content: bytes) -> bytes:
    """Return lines of JSON of which one is changed, or their bytes."""
    if random.random() < 0.3:
        return mutated_bytes(random, content)
    lines = content.splitlines()
    at = random.randrange(len(lines))
    lines[at] = mutated_json(random, json.loads(lines[at]))
    return b"\n".join(lines) + b"\n"


def altered_arrays(random: Random, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays of which one has another content, type, size or name."""
    name = random.choice(list(arrays))
    array, act = arrays[name].copy(), random.randrange(6)
    rest = {other: kept for other, kept in arrays.items() if other != name}
    if act < 3 and array.size:
        alter_bytes(random, array)
    elif act == 3:
        array = random.choice([array[:-1], array.repeat(2), array[None], array[:0], array * 0])
    elif act == 4:
        with np.errstate(all="ignore"):  # NaN is no integer
            array = array.astype(random.choice(["f2", "f4", "f8", "i8", "u1", "?"]))
    elif act == 5:
        return rest
    return {**rest, name: array}


def alter_bytes(random: Random, array: np.ndarray) -> None:
    """Set or flip some bytes of an array."""
    content = array.reshape(-1).view(np.uint8)
    for _ in range(random.choice([1, 1, 1, 2, 8, 64])):
        at = random.randrange(len(content))
        flip = random.random() < 0.3
        content[at] = content[at] ^ 1 << random.randrange(8) if flip else random.choice(BYTES)


class Text(str):
    """A text in place of which only another text is given."""

    __slots__ = ()


def call(random: Random, *calls: tuple[Any, ...]) -> Any:
    """Make one of some calls, each a function and good arguments of which some are mutated."""
    function, *arguments = random.choice(calls)
    for k in {random.randrange(len(arguments)) for _ in range(random.choice([0, 1, 1, 1, 2]))}:
        change = mutated_text if isinstance(arguments[k], Text) else mutated
        arguments[k] = change(random, arguments[k])
    return function(*arguments)


def keywords(value: object, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return what can be keyword arguments: others are Python's own affair."""
    named = value if isinstance(value, dict) else {}
    return {k: v for k, v in named.items() if (isinstance(k, str) if known is None else k in known)}


# --- Values


KINDS: Final[tuple[tuple[str, int, dict[str, Any]], ...]] = (
    ("five_up", 2, {}),
    ("five_up", 3, {"draw": "optional", "reserve": 1, "target": 5}),
    ("five_up", 4, {"lead_tile": "highest_double"}),
    ("five_up", 5, {"hand_size": 2, "reserve": 2}),
    ("all_fives", 2, {"target": 30}),
    ("muggins", 3, {"max_pip": 4, "hand_size": 2, "lead_tile": "highest_double"}),
    ("mini-2", 2, {}),
    ("mini-3-draw", 2, {}),
)
MOMENTS: Final = (0, 1, 2, 4, 6, 9, 13, 18, 25, 300)  # moves made; most games are over at the last


@cache
def some_games() -> list[Game]:
    """Return a game of every kind at every moment."""
    return [
        play_randomly(Game(name, players, seed=seed, **fields), Random(100 * seed + moves), moves)
        for moves in MOMENTS
        for seed, (name, players, fields) in enumerate(KINDS)
    ]


@cache
def some_records() -> list[Any]:
    """Return the records of the longest games."""
    games = some_games()[-2 * len(KINDS) :]
    return [record_of(game, legal=legal) for game in games for legal in (False, True)]


@target()
def records(random: Random) -> None:
    """Records as structures, as lines of JSON, and as files."""
    record, pick = random.choice(some_records()), random.random()
    if pick < 0.4:
        games = [game_of(mutated(random, record))]
    elif pick < 0.8:
        games = [loads(mutated_json(random, record))]
    elif pick < 0.82:
        games = [loads(odd(random))]
    else:
        lines = read_file(written(random, "games.jsonl", some_lines(random)))
        games = [line.game for line in lines if line.game is not None]
    for game in games:
        dumps(game)
        transcript(game)


def some_lines(random: Random) -> bytes:
    """Return the content of a file of two records."""
    return b"\n".join(json.dumps(record).encode() for record in random.sample(some_records(), 2))


@target()
def rules(random: Random) -> None:
    """Rule fields, presets, and changes of fields on the command line."""
    name = random.choice(list(NAMED_RULES))
    base = Rules.preset(name, 2)
    changes = {field: base.fields()[field] for field in random.sample(FIELDS, 2)}

    def assigned(text: str) -> Rules:
        field, value = parse_assignment(text)
        return Rules.of(base, **{field: value})

    made = call(
        random,
        (lambda fields: Rules(**rules_json(base) | keywords(fields, RULE_KEYS)), rules_json(base)),
        (lambda name, players, fields: Rules.preset(name, players, **keywords(fields)), name, 2, changes),
        (lambda name, players, fields: Rules.of(name, players, **keywords(fields)), name, 2, changes),
        (rules_of, rules_json(base)),
        *((assigned, Text(f"{field}={value}")) for field, value in changes.items()),
    )  # fmt: skip
    assert Rules.from_struct(made.to_struct().reshape(1)[0]) == made
    play_randomly(Game(made, seed=random.getrandbits(64)), random, 5)


@target()
def values(random: Random) -> None:
    """Tiles, moves, deals, seeds, positions, words and messages."""
    game = random.choice(some_games()[len(KINDS) : -len(KINDS)]).copy()
    view = game.view(random.randrange(game.rules.players))
    move = random.choice(["5-3", "5-3@5", "5-3@5x", "draw", *map(str, game.legal_moves)])
    dealt = record_of(game)["hands"][0]

    def played(deals: Any) -> Game:
        return play_randomly(Game(game.rules, deals=deals, seed=1), random, 5)

    if random.random() < 0.1:
        asked = question(1, view, "0" * 64, None, random.choice(["json", "struct"]))
        server = Server(make_agent("greedy"), "greedy")
        server.reply(line_of(hello()))
        reply = server.reply(mutated_json(random, asked))
        if reply and reply["type"] == "error":
            raise FiveUpError(reply["message"])
        return
    call(
        random,
        (Tile.parse, "5-3"),
        (Tile.parse, [5, 3]),
        (lambda action: str(Move(action)), 7),
        (lambda text: str(Move.parse(text)), move),
        (lambda *parts: str(Move.of(*parts)), Tile(5, 3), 5, "plain"),
        (game.parse, move),
        (game.push, move),
        (lambda *parts: played([Deal(*parts)]), dealt["deal"], dealt["boneyard"], 0),
        (played, [Deal(dealt["deal"], dealt["boneyard"], 0)]),
        (lambda seed: Game("mini-2", 2, seed=checked_seed(seed)), 7),
        (lambda line: view_text(view_of_line(line)), Text(view_line(view))),
        (lambda content: view_json(view_of(content)), view_json(view)),
        (move_of_words, "set 5-3 on the double 5"),
        (lambda answer: move_in(answer, view), Text("note: one\nMy move: lead 5-3")),
    )


@target()
def specs(random: Random) -> None:
    """Specs of agents, and encoders that are registered, or asked for."""
    known = dict(ENCODERS)
    parts = {"name": "own", "version": 1, "pieces": (), "encode": print}
    try:
        call(
            random,
            (get_agent, "greedy"),
            (get_agent, "pimc:worlds=20,playout=greedy"),
            (get_agent, "pimc:ms=3,aim=hand,weighed=2"),
            (get_agent, "policy:partners,sample=1"),
            (get_agent, "policy+search:nowhere,worlds=3,trust=0.5"),
            (get_agent, "openspiel:simulations=3"),
            (get_encoder, "tokens"),
            (lambda parts: register_encoder(SimpleNamespace(**keywords(parts))), parts),
        )
    finally:
        ENCODERS.clear()
        ENCODERS.update(known)


# --- Environments

OPTIONS: Final[dict[str, Any]] = {
    "rules": "mini-2", "players": 2, "episode": "hand", "reward": "margin", "max_hands": 2, "encoder": "flat",
    "illegal": "terminate", "illegal_reward": -1.0, "scaled": True,
}  # fmt: skip
ENVIRONMENTS: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (raw_env, {"render_mode": "ansi"}),
    (FiveUpEnv, {"render_mode": "svg", "opponents": "greedy", "seat": 1}),
    (Batch, {"num_envs": 3, "seed": 1, "threads": 1, "oracle": True}),
    (FiveUpVectorEnv, {"num_envs": 3, "opponents": "greedy", "seed": 1, "autoreset_mode": "SameStep"}),
)  # fmt: skip


@target()
def environments(random: Random) -> None:
    """Options of environments, and what their methods are called with."""
    kind, own = random.choice(ENVIRONMENTS)
    known = OPTIONS | own
    options = {name: known[name] for name in random.sample([*known], random.randrange(4))}
    if random.random() < 0.3:
        options = keywords(mutated(random, options))
    elif random.random() < 0.1:
        options[random.choice([*FIELDS, "hand_siz"])] = odd(random)
    if "num_envs" in known:  # whether so many fit into the memory is not promised
        options["num_envs"] = random.choice([3] * 20 + [0, -1, "3", None, 2.5, True])
    env: Any = kind(**options)
    env.reset()
    actions = np.array([5, -1, 121]) if random.random() < 0.5 else np.zeros(3, int)
    games = random.choice([np.arange(3), np.array([0, 2]), [2, 0], [-1], np.zeros((3, 1), int)])
    calls: list[tuple[Any, ...]] = [(env.step, actions), (lambda seed: env.reset(seed=seed), 3)]
    if kind is Batch:
        calls = [
            *((env.step, env.action_mask.argmax(1)), (env.reset, games), (env.begin, games)),
            *((env.views, games), (env.advance, actions, games)),
            *((env.observations_of, games, [0, 1]), (env.final_observations_of, games, [0, 1])),
        ]
    elif kind is not raw_env:
        option = random.choice(["deal", "deals", "reset_mask", "deel"])
        calls.append((lambda options: env.reset(options=options), {option: [True, False, True]}))
    call(random, *calls)
    env.reset()


@cache
def saved_environments() -> list[tuple[Any, str, bytes]]:
    """Return environments in the middle of their games, with the kind and the bytes of a state."""
    batch = Batch(4, ["five_up", "mini-3"], 2, episode="hand", seed=1, oracle=True)
    envs = FiveUpVectorEnv(4, players=3, episode="hand", seed=1)
    batch.reset()
    envs.reset(seed=1)
    step_on(batch, 0, 30)
    step_on(envs, 0, 20)
    return [(batch, SAVED_BATCH, batch.save()), (envs, SAVED_VECTOR, envs.save())]


def step_on(env: Batch | FiveUpVectorEnv, seed: int, steps: int) -> None:
    """Make random moves."""
    batch, rng = env if isinstance(env, Batch) else env.batch, np.random.default_rng(seed)
    for _ in range(steps):
        env.step(batch.random_actions(rng))


@target()
def saved(random: Random) -> None:
    """States of environments; one that is refused changes nothing, others are played on."""
    env, kind, state = random.choice(saved_environments())
    other = random.choice(saved_environments())[2]
    pick = random.random()
    if pick < 0.2:
        given = random.choice([mutated_bytes(random, state, other), other, odd(random)])
    else:
        given = forged(random, kind, state)
    try:
        env.load(given)
    except FiveUpError:
        assert env.save() == state
        raise
    try:
        step_on(env, random.getrandbits(32), 8)
        assert env.save()
    finally:
        env.load(state)


def forged(random: Random, kind: str, state: bytes) -> bytes:
    """Return a saved state with another content, and with the digest of that."""
    if random.random() < 0.2:
        return reheaded(random, state)
    arrays, about = unseal(kind, state)
    if kind == SAVED_VECTOR and random.random() < 0.4:
        batch = forged(random, SAVED_BATCH, arrays["batch"].tobytes())
        arrays["batch"] = np.frombuffer(batch, np.uint8)
    elif kind == SAVED_BATCH and random.random() < 0.6:
        name = random.choice(["_games", "_finals"])
        games = arrays[name].copy().view(GAME)
        at = random.randrange(len(games))
        games[at : at + 1] = altered(random, games[at : at + 1])
        arrays[name] = games.view(np.uint8)
    else:
        arrays = altered_arrays(random, arrays)
    return seal(kind, arrays, about)


def reheaded(random: Random, sealed: bytes) -> bytes:
    """Return sealed bytes whose header is altered as JSON, under the right digest."""
    _, header, arrays = sealed.split(b"\n", 2)
    content = mutated_json(random, json.loads(header)) + b"\n" + arrays
    return _digest(content) + b"\n" + content


@cache
def some_run() -> bytes:
    """Return the block of a run of self-play in the middle of its games."""
    rules = [Rules.preset("five_up", 4), Rules.preset("mini-2", 2)]
    small: dict[str, Any] = {
        "width": 4,
        "games": 70,
        "ticks": 5,
        "batch_size": 64,
        "reward": "outlook",
    }
    run = SelfPlay.begin(rules, **small)
    for _ in range(2):
        run.update()
    return zlib.decompress(run.save())


@target()
def runs(random: Random) -> None:
    """Saved runs of self-play with any content; one that is not refused learns on."""
    block = np.frombuffer(some_run(), np.uint8).copy()
    run = uncompiled(run_in, block)
    for _ in range(random.choice([1, 1, 2, 5])):
        forge(random, run)
    given: Any = zlib.compress(block.tobytes(), 1)
    if random.random() < 0.1:
        given = random.choice([mutated_bytes(random, given), odd(random)])
    again = SelfPlay.load(given)
    for _ in range(3):
        again.update()
        again.save()


def forge(random: Random, run: Run) -> None:
    """Change a game, some numbers or bytes, or the decisions that wait in the first part."""
    pick, states, window = random.random(), run.games.states, run.window
    at = random.randrange(len(states))
    if pick < 0.2:
        states[at : at + 1] = altered(random, states[at : at + 1])
    elif pick < 0.4:
        most = len(window.values) // len(window.counts) - 1
        count, decisions = random.choice([1, 2, 320, 321, most]), window.decisions
        entries, owners = random.choice([0, 0, 1, 9]), random.choice([1, 5, 320])
        window.counts[0], window.following[:count] = count, WAITING
        window.owners[:count] = np.arange(count) % owners
        decisions.entry_ends[: count + 1] = np.arange(count + 1) * entries
        decisions.action_ends[: count + 1] = np.arange(count + 1)
    else:
        arrays = [run.head, *run.games, *run.optimizer[:2], *window.decisions, *window.targets]
        array = random.choice([each for each in [*arrays, *window[2:]] if each.size])
        if array.dtype.names or random.random() < 0.3:
            alter_bytes(random, array)
        else:
            start = random.randrange(array.size)
            number = random.choice(FAR_FLOATS if array.dtype.kind == "f" else FAR_INTEGERS)
            part = slice(start, random.choice([start + 1, None]))
            array.reshape(-1)[part] = np.array(number).astype(array.dtype)


# --- Views and states, whose bytes compiled code would believe

AGENTS: Final = (
    *("greedy", "defensive", "positional", "counter", "partner", "reader", "student", "policy"),
    *("pimc:worlds=2,aim=hand", "pimc:worlds=6,aim=hand,weighed=3,playout=greedy"),
    "student+search:worlds=2",
)
DOORS: Final = (
    *("as_views", "legal_masks", "count", "marginals", "sample", "worlds_to_games", "trials"),
    *("network logits", "network values"),
    *(f"encoder {name}" for name in ENCODERS),
    *(f"agent {spec}" for spec in AGENTS),
)


@cache
def door(name: str) -> Callable[[np.ndarray], object]:
    """Return a function that reads views."""
    kind, _, rest = name.partition(" ")
    if kind == "agent":
        agent = make_agent(rest)
        return lambda views: agent(views, np.random.default_rng(0))
    if kind == "encoder":
        encoder = get_encoder(rest)
        size = row_size(encoder)
        return lambda views: encoder.encode(views, np.empty((len(views), size), np.int8))
    if kind == "network":
        return getattr(PolicyAgent(), rest)
    if kind == "trials":
        trials = Trials("pimc:worlds=4")
        return lambda view: trials(view, np.array([PLAY_ON]), 0)
    doors: dict[str, Callable[[np.ndarray], object]] = {
        "as_views": as_views,
        "legal_masks": legal_masks,
        "count": count,
        "marginals": marginals,
        "sample": _worlds,
        "worlds_to_games": lambda view: worlds_to_games(view, _worlds(Game(seed=0).view())),
    }
    return doors[kind]


def _worlds(view: np.ndarray) -> np.ndarray:
    return sample(view, 2, np.random.default_rng(0))


@target()
def views(random: Random) -> None:
    """Views with any bytes, or from deals that cannot be, handed to all that reads views."""
    game = random.choice(some_games())
    view = game.view(random.randrange(game.rules.players))
    door(random.choice(DOORS))(altered(random, view))


@target()
def states(random: Random) -> None:
    """States with any bytes, or from deals that cannot be, that are solved or judged."""
    state = altered(random, random.choice(some_games()).state())
    if random.random() < 0.1:
        chances_of(state, Trials("pimc:worlds=4"))
    else:
        as_game(state)


def altered(random: Random, structs: np.ndarray) -> np.ndarray:
    """Return an array of one struct with another content.

    Some have bytes of chance. Others keep every rule of what is public, and so pass the check, but
    come from deals that cannot be: a hand is led on by plays, draws and passes that hold to the
    rules and to no tiles, and then its hands are filled at random.
    """
    structs = structs.copy()
    pick = random.random()
    if pick < 0.6:
        for _ in range(random.choice([1, 3, 10, 40])):
            lead_on(random, structs)
        if random.random() < 0.9:
            fill_hands(random, structs[0])
    if pick > 0.5:
        alter_bytes(random, structs)
    return structs


def lead_on(random: Random, structs: np.ndarray) -> None:
    """Change a hand by one play, draw or pass that the rules allow, whatever tiles there are."""
    before = structs.copy()
    public = structs[0]["public"]
    rules, turn = public["rules"], int(public["turn"])
    players, plies, drawn = int(rules["players"]), int(public["plies"]), int(public["drawn"])
    pick = random.random()
    if pick < 0.4 and plies < TILE_COUNT:
        public["play_seat"][plies], public["play_action"][plies] = turn, random.randrange(DRAW)
        public["plies"], public["turn"] = plies + 1, (turn + 1) % players
    elif pick < 0.6 and drawn < TILE_COUNT:
        public["draw_seat"][drawn], public["draw_ply"][drawn] = turn, plies
        public["drawn"] = drawn + 1
    elif pick < 0.8:
        public["turn"] = (turn + 1) % players
    elif pick < 0.93:
        public["play_action"][random.randrange(max(1, plies))] = random.randrange(DRAW)
    elif pick < 0.95:  # rarely, for every set of rules takes time to prepare
        name = random.choice(RULES.names or ())
        rules[name] += random.choice([-1, 1])
        if name == "players" and random.random() < 0.9:
            rules["sides"] = rules["players"]
        held = int(rules["players"]) * int(rules["hand_size"])
        public["boneyard"] = np.int8(set_size(min(6, max(0, int(rules["max_pip"])))) - held)
    else:
        public["lead"] = random.randrange(players)
    if not follow(structs["public"]):
        structs[:] = before


@compiled
def follow(publics: Array) -> bool:
    """Store what follows from a public history; return False if the rules do not allow it."""
    public, past = publics[0], np.zeros(1, valid.PAST)[0]
    if valid._fault_of_public(public, past, valid.COMPARE) not in (valid.SOUND, valid.SUMS_WRONG):
        return False
    public.layout = past.layout
    public.sizes[:], public.draws[:] = past.sizes, past.draws
    public.lacked[:], public.passes, public.turn = past.lacked, past.passes, past.turn
    public.lack_ply[:], public.lack_draws[:] = past.lack_ply, past.lack_draws
    return True


def fill_hands(random: Random, struct: np.void) -> None:
    """Give the seats, or the viewer, any tiles that agree with the history in their number."""
    public = struct["public"]
    tiles = list(range(set_size(int(public["rules"]["max_pip"]))))
    random.shuffle(tiles)
    plays = zip(public["play_seat"].tolist(), public["play_action"].tolist(), strict=True)
    set_by = [(seat, int(ACTION_TILE[action])) for seat, action in list(plays)[: public["plies"]]]
    for _, tile in set_by:
        tiles.remove(tile)
    drawers = public["draw_seat"][: public["drawn"]].tolist()
    alone = "seat" in (struct.dtype.names or ())
    seats = [int(struct["seat"])] if alone else range(public["rules"]["players"])
    for seat in seats:
        size = int(public["sizes"][seat])
        hand, tiles = tiles[:size], tiles[size:]
        mask = sum(1 << tile for tile in hand)
        if alone:
            struct["hand"] = mask
        else:
            struct["hands"][seat] = mask
        held = hand + [tile for by, tile in set_by if by == seat]
        random.shuffle(held)
        for k, drawer in enumerate(drawers):
            if drawer == seat and held:
                struct["drawn" if alone else "order"][k] = held.pop()
            elif alone:
                struct["drawn"][k] = -1
    if not alone:
        rest = slice(len(drawers), len(drawers) + len(tiles))
        struct["order"][rest] = tiles[: len(struct["order"][rest])]


# --- Files


def written(random: Random, name: str, content: bytes) -> Path:
    """Write a file that was altered by the kind that its name says."""
    path = Path(name)
    if path.suffix == ".json":
        content = mutated_json(random, json.loads(content))
    elif path.suffix == ".jsonl":
        content = mutated_lines(random, content)
    else:
        content = mutated_bytes(random, content)
    path.write_bytes(content)
    return path


TERMS: Final = Terms(Rules.preset("mini-2", 2), "hand")
TOURNAMENT: Final = Tournament(("random", "greedy"), TERMS, deals=4, seed=3, chunk=2)


@cache
def some_results() -> bytes:
    """Return the content of a results file."""
    play_tournament(TOURNAMENT, 1, "played.jsonl")
    return Path("played.jsonl").read_bytes()


@target()
def results(random: Random) -> None:
    """Results files: what is read from a damaged one is what was played."""
    path = written(random, "results.jsonl", some_results())
    ResultsFile(path, TOURNAMENT.header, TOURNAMENT.agents).close()
    whole = path.read_bytes().rpartition(b"\n")[0].splitlines()
    assert {*whole[1:]} <= {*some_results().splitlines()}


@target("agents")
def entries(random: Random) -> None:
    """Entries of the leaderboard and their score cards: those that pass can be printed."""
    paths = sorted((Path(__file__).parents[1] / "leaderboard").glob("*.json"))
    entry = Entry(read_json(written(random, "entry.json", random.choice(paths).read_bytes())))
    entry.check_agent()
    card_text(entry.card)
    page_of_entries([entry.content | {"file": "entry.json"}])


@cache
def a_policy(kind: str) -> tuple[bytes, Any]:
    """Return the weights of a small policy, and its description."""
    import torch

    from agents.policies.files import save_policy
    from agents.policies.networks import Shape, build

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = build(Shape(kind, 4, 1, shared=kind != "residual"))
    save_policy("policy", network, {"config": {"reward": "margin"}})
    return Path("policy", WEIGHTS).read_bytes(), json.loads(
        Path("policy", DESCRIPTION).read_bytes()
    )


@target("agents", "torch")
def policies(random: Random) -> None:
    """Policies, with the digest of what they hold or another, played by PyTorch or compiled code."""
    import torch
    from safetensors.numpy import load, save

    from agents.policies.files import load_policy

    kind = random.choice(["plain", "guided", "residual"])
    weights, description = a_policy(kind)
    if random.random() < 0.3:
        weights = mutated_bytes(random, weights)
    elif random.random() < 0.5:
        weights = save(altered_arrays(random, load(weights)))
    else:
        description = mutated(random, description)
    if isinstance(description, dict) and random.random() < 0.9:
        with contextlib.suppress(TypeError, ValueError, RecursionError):  # as JSON may not hold it
            description = description | {"digest": digest_of(weights, description)}
    try:
        text = json.dumps(description, default=str)
    except (ValueError, RecursionError):
        return  # no file holds this
    Path("policy", WEIGHTS).write_bytes(weights)
    Path("policy", DESCRIPTION).write_text(text, "utf-8", "surrogatepass")
    if kind == "residual":
        network, about = load_policy("policy")
        network.logits(
            torch.zeros(1, row_size(get_encoder(network.shape.encoder)), dtype=torch.int8)
        )
        reward_of(about)
    else:
        game = Game(seed=0)
        (action,) = Student("policy")(game.view(), np.random.default_rng(0))
        assert game.action_mask()[action]


# --- Commands, and requests to the table

COMMANDS: Final = ("check games.jsonl", "show games.jsonl --game 1", "show --game 0 nothing.jsonl",
    "replay games.jsonl --game 0 -o game.html", "replay games.jsonl -o .", "rules mini-2", "--help",
)  # fmt: skip


@target()
def command_lines(random: Random) -> None:
    """Command lines, run in this process, with files that are damaged."""
    written(random, "games.jsonl", some_lines(random))
    words, output = random.choice(COMMANDS).split(), io.StringIO()
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        at, word = random.randrange(len(words) + 1), random.choice(random.choice(COMMANDS).split())
        word = random.choice([word, mutated_text(random, word), str(random.randint(-9, 10**30))])
        words[at : at + random.randrange(2)] = random.choice([[word], [word], []])
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = fiveup(words)
        except SystemExit as left:
            status = int(left.code or 0)
    assert status in {0, 1, 2}
    if status == 2:
        raise FiveUpError(output.getvalue().strip().rpartition("\n")[2])


VIEW: Final = {"view": Game(players=2, seed=7).view().tobytes().hex(), "key": "7"}


@target("starlette", "httpx")
def requests(random: Random) -> None:
    """Requests with altered paths, methods, headers and bodies, to a server without a network."""
    from fiveup_env.play.folder import Folder, game_in
    from fiveup_env.play.server import Offer
    from tests.web import client_of

    path = "/api/" + random.choice(["ask", "check", "studied", "games/a-game", "games/..%2fup"])
    if random.random() < 0.2:
        path = "/" + quote(mutated_text(random, path[1:]), safe="/%?&=", errors="replace")
    study = {"format": "fiveup-study", "record": random.choice(some_records())}
    specs = ("greedy", "pimc:worlds=4,playout=greedy", "greedi")
    content = mutated_json(
        random, random.choice([*({"spec": spec} | VIEW for spec in specs), study])
    )
    kind = random.choice(["application/json"] * 9 + ["text/plain"])
    method = random.choice(["POST"] * 6 + ["GET", "GET", "PUT"])
    with tempfile.TemporaryDirectory() as folder, client_of(Offer(folder=Folder(folder))) as client:
        answer = client.request(method, path, content=content, headers={"content-type": kind})
        assert all(map(game_in, Path(folder).glob("*.json")))  # what was kept can be read
    if answer.status_code >= 400:
        sentence = answer.json()["error"]
        assert answer.status_code < 500, sentence
        raise FiveUpError(sentence)


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
    """Interrupt what takes more processor time, where the system has such a timer."""

    def ring(_number: int, _frame: object) -> None:
        raise Hang(f"more than {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def verdict(name: str, seed: int, number: int, seconds: int = SECONDS) -> tuple[str, str]:
    """Return whether an input was `accepted`, `refused` or `failed`, and in which words."""
    try:
        with time_limit(seconds):
            TARGETS[name](Random(f"{seed} {name} {number}"))
    except (FiveUpError, OSError) as error:
        sentence = str(error)
        kind = "refused" if sentence and "\n" not in sentence else "failed"
        return kind, f"{type(error).__name__}: {sentence!r}"
    except (Exception, Hang) as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        sentence = str(error)[:200]
        return "failed", f"{type(error).__name__}: {sentence!r} at {place.filename}:{place.lineno}"
    return "accepted", ""


def fuzz(names: list[str], inputs: int, seed: int) -> int:
    """Try inputs for every target in turn, print what happened, and return how many failed."""
    counts = {name: Counter[str]() for name in names}
    for name in names:
        verdict(name, seed, 0, SECONDS_FIRST)  # some of it is compiled
    for number in range(inputs):
        name, k = names[number % len(names)], number // len(names)
        kind, words = verdict(name, seed, k)
        counts[name][kind] += 1
        if kind == "failed" and counts[name][kind] <= SHOWN:
            print(f"{words}\n    python -m tests.fuzz --seed {seed} --target {name} --only {k}")
    total = sum(counts.values(), Counter[str]())
    for name, count_of in {**counts, "all": total}.items():
        kinds = (f"{count_of[kind]:>8} {kind}" for kind in ("accepted", "refused", "failed"))
        print(f"{name:<16}{''.join(kinds)}")
    return total["failed"]


def main() -> int:
    """Run the command line, and return its exit status."""
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
