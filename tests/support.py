"""What several tests share: games from hand-made deals, and random play."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from random import Random
from subprocess import CompletedProcess, run
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import Batch, Deal, Game, Rules, Tile, legal_masks
from fiveup_env.belief import sample, worlds_to_games
from fiveup_env.encoders import ENCODERS
from fiveup_env.opponents import registry
from fiveup_env.opponents.agent import Agent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_TILE
from fiveup_env.rules.presets import FAMILY
from fiveup_env.rules.tiles import TILES, set_size, tiles_in

ROOT: Final = Path(__file__).parents[1]  # of the clone

# What Windows does not have: permissions for groups, pipes with names, /dev, Ctrl-C for one process.
on_posix = pytest.mark.skipif(os.name == "nt", reason="signals, pipes and permissions (no POSIX)")

# Every way to sit down: players, and whether four are partners.
SEATINGS = [(2, False), (3, False), (4, True), (4, False), (5, False)]
EVERY_PRESET = [
    Rules.preset(name, players, teams=teams) for name in FAMILY for players, teams in SEATINGS
]


def label(rules: Rules) -> str:
    """A name for a test's parameter."""
    return f"{rules.name}-{rules.players}{'-partners' if rules.teams else ''}"


def deal(*hands: str, lead: int = 0, top: str = "", max_pip: int = 6) -> Deal:
    """A deal from hands such as `5-5 5-3`; the boneyard is `top`, then the rest by number."""
    dealt = [[Tile.parse(name) for name in hand.split()] for hand in hands]
    boneyard = [Tile.parse(name) for name in top.split()]
    placed = {tile for tiles in (*dealt, boneyard) for tile in tiles}
    rest = [tile for tile in TILES[: set_size(max_pip)] if tile not in placed]
    return Deal(dealt, boneyard + rest, lead)


def game_of(*hands: str, lead: int = 0, top: str = "", **fields: Any) -> Game:
    """A game whose first hand is dealt like this; the hand size follows from the hands."""
    given = deal(*hands, lead=lead, top=top, max_pip=fields.get("max_pip", 6))
    rules = Rules.preset(players=len(hands), hand_size=len(hands[0].split()), **fields)
    return Game(rules, deals=[given], seed=0)


def impossible_view() -> np.ndarray:
    """A view that follows from its plays by the rules, but that no deal leads to."""
    game = push_all(game_of("2-2 2-1 1-1", "0-0 1-0 2-0", max_pip=2), "2-1")
    view = game.view(0)
    # A seat that lacks 1 and 2 can hold 0-0 alone, and this one has three tiles.
    public = view[0]["public"]
    public["turn"], public["passes"], public["lacked"][1] = 0, 1, 0b110
    public["lack_ply"][1, 1:3], public["lack_draws"][1, 1:3] = 1, 0
    return view


def python(*words: str, cwd: Path = ROOT, **environment: str) -> CompletedProcess[str]:
    """Run Python with some words, with these variables beside those of its environment."""
    line, variables = [sys.executable, *words], os.environ | environment
    return run(line, capture_output=True, text=True, check=False, cwd=cwd, env=variables)


def push_all(game: Game, moves: str) -> Game:
    """Make moves written one after the other."""
    for move in moves.split():
        game.push(move)
    return game


def hidden_otherwise(game: Game, random: Random, seat: int | None = None) -> Game:
    """Return the same game in another world that agrees with the view of a seat, or of the mover.

    What it cannot see lies otherwise, also at all moments before, and other hands are to come.
    """
    view, rng = game.view(seat), np.random.default_rng(random.getrandbits(32))
    worlds = worlds_to_games(view, sample(view, 1, rng))
    deals = [_deal_of(state[0]) for state in (*game.hand_states()[:-1], worlds)]
    other = Game(game.rules, seed=game.seed ^ 1, deals=deals)
    for move in game.moves:
        other.push(move)
    return other


def _deal_of(state: np.void) -> Deal:
    """Return the deal of a hand from its GAME struct at any moment."""
    public, order = state["public"], [tile for tile in state["order"].tolist() if tile >= 0]
    hands: list[int] = state["hands"].tolist()
    for seat, action in zip(public["play_seat"], public["play_action"], strict=True):
        if action >= 0:
            hands[seat] |= 1 << int(ACTION_TILE[action])
    for seat, tile in zip(public["draw_seat"][: public["drawn"]], order, strict=False):
        hands[seat] &= ~(1 << tile)
    dealt = hands[: public["rules"]["players"]]
    boneyard = [TILES[tile] for tile in order]
    return Deal([list(tiles_in(hand)) for hand in dealt], boneyard, int(public["lead"]))


def lowest(views: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
    """Return the lowest legal action of every view."""
    return legal_masks(views).argmax(1)


def lowest_after_draws(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same actions, after drawing from the generator."""
    rng.random(100)
    return lowest(views, rng)


def ending_of(game: Game) -> str | None:
    """How the last finished hand of a game ended."""
    end = game.last_hand()
    return end.ended if end else None


def play_randomly(game: Game, random: Random, moves: int = 10_000) -> Game:
    """Make n random moves, or fewer if the game ends."""
    for _ in range(moves):
        if game.outcome():
            break
        game.push(random.choice(list(game.legal_moves)))
    return game


def before_an_end(rules: Rules) -> Game:
    """A game whose mover has one tile left, which ends the hand."""
    random = Random(3)
    game = play_randomly(Game(rules, seed=3), random, 5)
    while len(game.hand_of(game.turn or 0)) > 1:
        play_randomly(game, random, 1)
    return game


def random_views(games: int, moves: int, players: Sequence[int] = (2, 3, 4, 5)) -> np.ndarray:
    """Return the views of the seats to move after random moves in games of several kinds."""
    presets = ["five_up", "all_fives", "muggins"]
    batch, rng = Batch(games, presets, players, draw="optional", seed=0), np.random.default_rng(2)
    batch.reset()
    for _ in range(moves):
        batch.step(batch.random_actions(rng))
    return batch.views()


def code_in(pages: Iterable[Path]) -> list[Any]:
    """Return the Python examples of some pages, as parameters of a test."""
    return [
        pytest.param(code, id=f"{page.parent.name}-{page.name}-{number}")
        for page in sorted(pages)
        for number, code in enumerate(
            re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        )
    ]


def run_example(code: str) -> None:
    """Run the code of a page; encoders and agents that it registers are forgotten afterwards."""
    registries: list[dict[str, Any]] = [ENCODERS, registry._AGENTS]
    before = [dict(known) for known in registries]
    try:
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    finally:
        for known, kept in zip(registries, before, strict=True):
            known.clear()
            known.update(kept)


def play_every_game(spec: str) -> None:
    """Let an agent play all games of a mixed batch; an action that is not allowed is an error."""
    agent = make_agent(spec)
    batch = Batch(12, ["five_up", "all_fives", "muggins"], [2, 3, 4, 5], draw="optional", seed=1)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(100):
        batch.step(agent(batch.views(), rng))


def chosen(spec: str, game: Game, seed: int = 0) -> str:
    """What an agent plays for the seat to move."""
    return str(game.ask(make_agent(spec), np.random.default_rng(seed)))


def views_read_anyhow_give_the_same_actions(spec: str) -> None:
    """Let an agent choose from views as they are, read back, read-only, unaligned and strided."""
    games = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(3)]
    views = np.concatenate([game.view() for game in games])
    agent = make_agent(spec)
    file = BytesIO()
    np.save(file, views)
    file.seek(0)
    fixed, strided = views.copy(), views.repeat(2)[::2]
    fixed.flags.writeable = False
    odd = np.frombuffer(b"." + views.tobytes(), np.uint8)[1:].view(views.dtype)
    expected = agent(views, np.random.default_rng(0))
    for same in (np.load(file), fixed, odd, strided):
        assert (agent(same, np.random.default_rng(0)) == expected).all()


def the_same_seed_gives_the_same_action(spec: str) -> None:
    """Let an agent choose twice, alone."""
    game = play_randomly(Game(seed=3), Random(3), 7)
    assert chosen(spec, game, seed=5) == chosen(spec, game, seed=5)


def no_views_give_no_actions(spec: str) -> None:
    """Ask an agent for nothing, as a loop does whose games have all ended."""
    views = Game(seed=0).view()[:0]
    assert make_agent(spec)(views, np.random.default_rng(0)).shape == (0,)


# What holds for every agent.
PROMISES_OF_AGENTS: Final = (
    play_every_game,
    the_same_seed_gives_the_same_action,
    views_read_anyhow_give_the_same_actions,
    no_views_give_no_actions,
)


def choices(spec: str, game: Game) -> set[str]:
    """All that an agent plays, by the chances of twenty seeds."""
    return {chosen(spec, game, seed) for seed in range(20)}


def install_agents(folder: Path, package: str, source: str, *agents: str) -> None:
    """Install a package that offers agents, classes of its source, through entry points."""
    (folder / f"{package}.py").write_text(source)
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    offers = "".join(f"{name.lower()} = {package}:{name}\n" for name in agents)
    (about / "entry_points.txt").write_text(f"[fiveup.agents]\n{offers}")


class Here:
    """The agent of a spec in this process, which starts sooner than one apart and plays the same."""

    ended = False

    def __init__(self, spec: str, _move_limit: float) -> None:
        self._agent = make_agent(spec)

    def start(self, _wanted: np.ndarray) -> list[Any]:
        """Start nothing."""
        return []

    def part(self, _way: int, _seat: int) -> Agent:
        """Return the one agent for every seat."""
        return self._agent
