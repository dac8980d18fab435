"""The fuzzer's targets before compiled code: views, states and saved batches with any bytes.

Some have bytes of chance. Others keep every rule of what is public, and so pass the check, but come
from deals that cannot be: a hand is led on by plays, draws and passes that hold to the rules and to
no tiles, and then its hands are filled at random.

    NUMBA_BOUNDSCHECK=1 python -m tests.fuzz --target views --target states

With bounds checking, an index outside of an array is an IndexError, and so a failure.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env import Batch, Game, legal_masks, make_agent
from fiveup_env.analysis import chances_of
from fiveup_env.analysis.endings import best_moves
from fiveup_env.analysis.trials import Trials
from fiveup_env.belief import count, marginals, sample, worlds_to_games
from fiveup_env.encoders import ENCODERS, get_encoder, row_size
from fiveup_env.engine import valid
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.state import GAME
from fiveup_env.engine.view import as_game, as_views
from fiveup_env.envs.batch import SAVED as SAVED_BATCH
from fiveup_env.envs.vector import SAVED as SAVED_VECTOR
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import FiveUpError
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.search.action_values import PLAY_ON
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.fields import RULES
from fiveup_env.rules.tiles import TILE_COUNT, set_size
from fiveup_env.sealed import seal, unseal
from tests.fuzz import mutated_bytes, reheaded
from tests.support import play_randomly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz import Target

BYTES: Final = (0, 1, 2, 5, 27, 28, 120, 121, 127, 128, 254, 255)
KINDS: Final[tuple[tuple[str, int, dict[str, Any]], ...]] = (
    ("five_up", 2, {}),
    ("five_up", 3, {"draw": "optional", "reserve": 1}),
    ("five_up", 4, {"lead_tile": "highest_double"}),
    ("five_up", 5, {"hand_size": 2, "reserve": 2}),
    ("all_fives", 2, {}),
    ("muggins", 3, {"max_pip": 4, "hand_size": 2, "lead_tile": "highest_double"}),
    ("mini-2", 2, {}),
    ("mini-3-draw", 2, {}),
)


# --- What agents and encoders do with views


def playing(spec: str) -> Callable[..., object]:
    """Return the door of an agent."""
    agent = make_agent(spec)
    return lambda views: agent(views, np.random.default_rng(0))


def encoding(name: str) -> Callable[..., object]:
    """Return the door of an encoder."""
    encoder = get_encoder(name)
    size = row_size(encoder)
    return lambda views: encoder.encode(views, np.empty((len(views), size), np.int8))


def _worlds(view: np.ndarray) -> np.ndarray:
    return sample(view, 2, np.random.default_rng(0))


AGENTS: Final = (
    *("greedy", "defensive", "positional", "counter", "partner", "student", "policy"),
    *("pimc:worlds=2,aim=hand", "pimc:worlds=6,aim=hand,weighed=3,playout=greedy"),
    "student+search:worlds=2",
)
POLICY, TRIALS = PolicyAgent(), Trials("pimc:worlds=4")
DOORS: Final[dict[str, Callable[..., object]]] = {
    "as_views": as_views,
    "legal_masks": legal_masks,
    "count": count,
    "marginals": marginals,
    "sample": _worlds,
    "worlds_to_games": lambda view: worlds_to_games(view, _worlds(Game(seed=0).view())),
    "trials": lambda view: TRIALS(view, np.array([PLAY_ON]), 0),
    "best_moves": lambda view: best_moves(view, 100),
    "policy's logits": POLICY.logits,
    "policy's values": POLICY.values,
    **{f"encoder {name}": encoding(name) for name in ENCODERS},
    **{f"agent {spec}": playing(spec) for spec in AGENTS},
}


def views(random: Random) -> None:
    """Views with any bytes, or from deals that cannot be, handed to all that reads views."""
    view = altered(random, random.choice(some_views()))
    random.choice(list(DOORS.values()))(view)


def states(random: Random) -> None:
    """States with any bytes, or from deals that cannot be, that are solved or judged."""
    state = altered(random, random.choice(some_states()))
    pick = random.random()
    if pick < 0.4:
        best_moves(state, 1000)
    elif pick < 0.5:
        chances_of(state, TRIALS)
    else:
        as_game(state)


# --- Views and states


@cache
def some_states() -> list[np.ndarray]:
    """Return states of several kinds of games, at all moments: arrays of one GAME struct."""
    states = []
    for seed, (name, players, fields) in enumerate(KINDS):
        for moves in (0, 1, 2, 4, 6, 9, 13, 18, 25):
            random = Random(100 * seed + moves)
            states.append(play_randomly(Game(name, players, seed=seed, **fields), random, moves))
    return [game.state() for game in states]


@cache
def some_views() -> list[np.ndarray]:
    """Return what the seats of these states see: arrays of one VIEW struct."""
    views = []
    for seed, (name, players, fields) in enumerate(KINDS):
        for moves in (0, 1, 2, 4, 6, 9, 13, 18, 25):
            random = Random(100 * seed + moves)
            game = play_randomly(Game(name, players, seed=seed, **fields), random, moves)
            views += [game.view(seat) for seat in range(players)]
    return views


def altered(random: Random, structs: np.ndarray) -> np.ndarray:
    """Return an array of one struct with another content."""
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


def alter_bytes(random: Random, array: np.ndarray) -> None:
    """Set or flip some bytes of an array."""
    content = array.reshape(-1).view(np.uint8)
    for _ in range(random.choice([1, 1, 1, 2, 8, 64])):
        at = random.randrange(len(content))
        flip = random.random() < 0.3
        content[at] = content[at] ^ 1 << random.randrange(8) if flip else random.choice(BYTES)


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


# --- Saved batches, whose digest says nothing of who made it


@cache
def a_batch() -> tuple[Batch, bytes]:
    """Return a batch in which episodes have ended, and its state."""
    batch = Batch(
        4, ["five_up", "mini-3"], 2, episode="hand", seed=1, oracle=True, encoder="tokens"
    )
    batch.reset()
    for _ in range(30):
        batch.step(batch.random_actions(np.random.default_rng(0)))
    return batch, batch.save()


def forged_batches(random: Random) -> None:
    """States of a batch with other content and the right digest; those that load are played on."""
    batch, state = a_batch()
    load(batch, forged_batch(random, state), state)
    try:
        rng = np.random.default_rng(random.getrandbits(32))
        for _ in range(8):
            batch.step(batch.random_actions(rng))
            batch.views()
        assert batch.save()
    finally:
        batch.load(state)


def load(games: Batch | FiveUpVectorEnv, forged: bytes, state: bytes) -> None:
    """Load a state; if it is refused, nothing has changed."""
    try:
        games.load(forged)
    except FiveUpError:
        assert games.save() == state
        raise


def forged_batch(random: Random, state: bytes) -> bytes:
    """Return a saved batch with other content in one of its arrays."""
    arrays, about = unseal(SAVED_BATCH, state)
    if random.random() < 0.6:
        name = random.choice(["_games", "_finals"])
        games = arrays[name].copy().view(GAME)
        at = random.randrange(len(games))
        games[at : at + 1] = altered(random, games[at : at + 1])
        arrays[name] = games.view(np.uint8)
    else:
        alter_one(random, arrays)
    return altered_header(random, seal(SAVED_BATCH, arrays, about))


def altered_header(random: Random, sealed: bytes) -> bytes:
    """Return a saved state, one time in five with another header."""
    return reheaded(random, sealed) if random.random() < 0.2 else sealed


def alter_one(random: Random, arrays: dict[str, np.ndarray]) -> None:
    """Change the content, the type, the size or the name of one of some arrays."""
    name = random.choice(list(arrays))
    array = arrays[name]
    act = random.randrange(6)
    if act < 3 and array.size:
        arrays[name] = array.copy()
        alter_bytes(random, arrays[name])
    elif act == 3:
        arrays[name] = random.choice([array[:-1], array.repeat(2), array[None], array[:0]])
    elif act == 4:
        with np.errstate(invalid="ignore"):  # NaN is no integer
            arrays[name] = array.astype(random.choice(["f4", "i8", "u1", "?", "c8", "S3"]))
    else:
        del arrays[name]
    if name == "batch" and name in arrays and random.random() < 0.7:
        arrays[name] = np.frombuffer(mutated_bytes(random, array.tobytes()), np.uint8)


@cache
def a_vector_environment() -> tuple[FiveUpVectorEnv, bytes]:
    """Return a vector environment in the middle of its games, and its state."""
    envs = FiveUpVectorEnv(4, players=3, episode="hand", seed=1)
    envs.reset(seed=1)
    play(envs, 20)
    return envs, envs.save()


def play(envs: FiveUpVectorEnv, steps: int) -> None:
    """Make random moves."""
    rng = np.random.default_rng(0)
    for _ in range(steps):
        envs.step(envs.batch.random_actions(rng))


def forged_vector_environments(random: Random) -> None:
    """States of a vector environment with other content and the right digests, played on."""
    envs, state = a_vector_environment()
    arrays, about = unseal(SAVED_VECTOR, state)
    if random.random() < 0.4:
        forged = forged_batch(random, arrays["batch"].tobytes())
        arrays["batch"] = np.frombuffer(forged, np.uint8)
    else:
        alter_one(random, arrays)
    load(envs, altered_header(random, seal(SAVED_VECTOR, arrays, about)), state)
    try:
        play(envs, 4)
    finally:
        envs.load(state)


TARGETS: Final[dict[str, Target]] = {
    "views": views,
    "states": states,
    "forged-batches": forged_batches,
    "forged-vector-environments": forged_vector_environments,
}
