"""The module plays what Python plays: the same bytes, the same moves, the same values, in node."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pytest

import fiveup_env
from fiveup_env import Game, Move, Rules, belief, legal_masks
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.opponents.heuristics.ladder import LADDER, READER
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.portable.describe import as_json, source_digest
from fiveup_env.portable.weights import CHANCES, HEAD, POINTS, pack, write_block
from fiveup_env.rules.presets import FAMILY, MINIS

BINDING: Final = Path(fiveup_env.__file__).parent / "portable" / "fiveup.mjs"
HERE: Final = Path(__file__).parent
NODE: Final = shutil.which("node")
GAMES: Final = 200
MOST_MOVES: Final = 90  # of a game: some two hands of most
VIEWS: Final = 80
KEY: Final = 12345
POLICIES: Final = ("student", "partners")

# Deals of the double-2 set, one with a tile twice, and one with a tile too many.
GOOD: Final = "{ hands: [['0-0'], ['1-0']], boneyard: ['1-1', '2-0', '2-1', '2-2'] }"
BAD_DEAL: Final = GOOD.replace("2-2", "2-1")
LONG: Final = GOOD.replace("'2-2'", "'2-2', '0-0'")

pytestmark = pytest.mark.skipif(NODE is None, reason="the WebAssembly module (no Node)")


def rule_sets() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield presets for every number of players, and rules that differ from them in a field."""
    for name in FAMILY:
        for players in (2, 3, 4, 5):
            yield name, players, {}
            yield name, players, {"draw": "optional", "reserve": 2}
        yield name, 4, {"teams": False}
    for name in MINIS:
        yield name, 2, {}
    yield "five_up", 3, {"leader": "rotate", "lead_tile": "highest_double", "target": 100}
    yield "five_up_armanino", 3, {"block_pays": "difference", "round_per": "all"}
    yield "five_up", 4, {"exact_target": True, "hand_end": "winner_takes"}
    yield "all_fives", 2, {"multiple": 3}
    yield "five_up", 2, {"max_pip": 4, "hand_size": 3, "multiple": 4}
    yield "muggins", 5, {"hand_size": 2, "spinners": "all"}


def random_games() -> Iterator[tuple[dict[str, Any], list[str], Game]]:
    """Yield games as the module is asked for them, what is seen of them, and the games."""
    sets = list(rule_sets())
    for seed in range(GAMES):
        name, players, fields = sets[seed % len(sets)]
        chance, choices = Random(seed), []
        game = Game(name, players, seed=seed * 0x9E3779B97F4A7C15 % 2**64, **fields)
        seen = [game.state().tobytes()]
        for _ in range(chance.randrange(1, MOST_MOVES)):
            moves = np.flatnonzero(game.action_mask())
            if not len(moves):
                break
            choices.append(chance.randrange(len(moves)))
            seen.append(",".join(str(Move(int(move))) for move in moves).encode())
            game.push(Move(int(moves[choices[-1]])))
            seen.append(game.state().tobytes())
        asked = {
            "rules": name,
            "players": players,
            "fields": fields,
            "seed": str(game.seed),
            "choices": choices,
        }
        yield asked, [hashlib.sha256(b"".join(seen)).hexdigest()], game


class Fixed:
    """A source of chance that always gives the same number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def integers(self, _most: int) -> int:
        """Return the number."""
        return self.number


def doubles(numbers: Any) -> str:
    return np.asarray(numbers, np.float64).tobytes().hex()


def shown_view(view: np.ndarray) -> list[str]:
    """Return a view's legal moves, and its belief."""
    moves = ",".join(str(Move(int(move))) for move in np.flatnonzero(legal_masks(view)[0]))
    return [moves, str(belief.count(view)), doubles(belief.marginals(view))]


def answer(agent: Any, view: np.ndarray, key: int) -> list[str]:
    """Return what an agent says about a view: a move, and for searches all values."""
    if not hasattr(agent, "search"):
        return [str(Move(int(agent(view, Fixed(key))[0])))]
    result = agent.search(view, Fixed(key))
    tried = np.flatnonzero(result.means[0] > -np.inf)
    rows = [result.means[0, tried], np.nan_to_num(result.errors[0, tried]), result.scores[0, tried]]
    names = ",".join(str(Move(int(action))) for action in tried)
    return [str(Move(int(result.choices[0]))), names, doubles(np.stack(rows, 1))]


# Agents as the binding makes them, and as Python does.
ASKED: Final[list[tuple[str, dict[str, Any], str]]] = [
    *((rung, {}, rung) for rung in (*LADDER, READER)),
    ("casual", {}, "casual"),
    (
        "casual",
        {"rung": "partner", "tiles": 0.3, "points": 0.4, "doubles": 0.5, "others": 0.6},
        "casual:partner,tiles=0.3,points=0.4,doubles=0.5,others=0.6",
    ),
    ("student", {"policy": "student"}, "student"),
    ("policy", {"policy": "partners"}, "policy:partners"),
    ("pimc", {"worlds": 40, "aim": "hand"}, "pimc:worlds=40,aim=hand"),
    (
        "pimc",
        {"worlds": 33, "weighed": 8, "playout": "partner", "aim": "hand"},
        "pimc:worlds=33,weighed=8,playout=partner,aim=hand",
    ),
    ("pimc", {"worlds": 20, "looks": True}, "pimc:worlds=20,looks=1"),
    ("student+search", {"policy": "student", "worlds": 64}, "student+search:worlds=64"),
    ("policy+search", {"policy": "partners", "worlds": 64}, "policy+search:partners,worlds=64"),
]


# Runs that learn: guided and plain, by rewards of all kinds.
RUNS: Final[list[dict[str, Any]]] = [
    {"network": "guided", "width": 9, "reward": "outlook", "games": 70, "learning_rate_end": 0},
    {"network": "plain", "depth": 2, "reward": "win", "horizon": 1, "games": 130, "epochs": 2},
    {"network": "guided", "width": 16, "depth": 2, "games": 64, "warm_up": 400, "seed": 2**63},
]


def learnt(settings: dict[str, Any], updates: int) -> list[str]:
    """Return what is learnt in some updates and one more: decisions, all bytes, and the policy."""
    run = SelfPlay.begin([Rules.preset("five_up", 4)], **settings)
    for _ in range(updates):
        run.update(0.3)
    run.update(0.5)
    network = run.network
    block = np.zeros(len(HEAD) + network.vector.size, np.float32)
    aim = POINTS if run.settings["reward"] == "margin" else CHANCES
    write_block(network.vector, network.shape, network.factors, aim, block)
    held = zlib.decompress(run.save()), block.tobytes()
    return [str(run.decisions), *(hashlib.sha256(data).hexdigest() for data in held)]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What Python finds, and a folder with the same questions for a module."""
    folder = tmp_path_factory.mktemp("cases")
    games, digests = [], []
    views: list[np.ndarray] = []
    for question, digest, game in random_games():
        games.append(question)
        digests += digest
        if len(views) < VIEWS and game.turn is not None and len(game.legal_moves) > 1:
            views.append(game.view())
    for name in POLICIES:
        (folder / f"{name}.weights").write_bytes(pack(name))
    every, first = list(range(len(views))), views[0]["public"]["rules"]
    usual = [i for i in every if views[i]["public"]["rules"] == first]  # a grid takes a second
    questions, answers = [], []
    for name, options, spec in ASKED:
        agent = make_agent(spec)
        indices = usual if getattr(agent, "aim", "hand") == "game" else every
        questions.append({"name": name, "options": options, "views": indices, "key": KEY})
        answers.append([answer(agent, views[i], KEY + i) for i in indices])
    runs = [settings | {"ticks": 20, "batch_size": 300} for settings in RUNS]
    student = PolicyAgent("student")
    mine = {
        "games": digests,
        "views": [shown_view(view) for view in views],
        "logits": [
            doubles([logit for logit in student.logits(view)[0] if logit > -np.inf])
            for view in views
        ],
        "asked": answers,
        "runs": [learnt(settings, 2) for settings in runs],
    }
    cases = {
        "games": games,
        "policies": POLICIES,
        "views": [view.tobytes().hex() for view in views],
        "asked": questions,
        "runs": [
            {"settings": settings | {"seed": str(settings.get("seed", 0))}, "updates": 2}
            for settings in runs
        ],
    }
    (folder / "cases.json").write_text(json.dumps(cases))
    return mine, folder


def in_node(*command: str) -> str:
    """Return what a script of this folder prints."""
    return subprocess.run(
        [str(NODE), *command], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout


def test_games_views_networks_agents_and_runs_are_the_same_bit_for_bit(
    asked: tuple[dict[str, Any], Path],
) -> None:
    mine, folder = asked
    theirs = json.loads(in_node("node.mjs", str(BINDING), str(folder)))
    assert len(mine["games"]) == GAMES
    assert len(mine["views"]) == VIEWS
    assert all(mine["asked"])
    for (_, _, spec), answers, expected in zip(ASKED, theirs["asked"], mine["asked"], strict=True):
        assert answers == expected, spec
    for part in ("games", "views", "logits", "runs"):  # states, masks, worlds, marginals
        assert theirs[part] == mine[part], part


def test_searches_take_no_memory_and_two_modules_do_not_disturb_each_other() -> None:
    assert in_node("lasting.mjs", str(BINDING)) == "same\n"


def test_arguments_of_all_kinds_are_refused_or_answered() -> None:
    assert in_node("fuzz.mjs", "10000", "1").startswith("10000 calls")


# What is refused, with its code and a word of its sentence.
BAD: Final = [
    ("new Game({ rules: 'domino' })", "UNKNOWN", "five_up, "),
    ("new Game({ players: 3, teams: true })", "BAD_RULES", "four players"),
    ("new Game({ tagret: 61 })", "UNKNOWN", "target"),
    ("new Game({ seed: -1 })", "BAD_SEED", "0 to"),
    ("new Game({ seed: 1 }).push('6-6@6')", "ILLEGAL", "allowed here"),
    ("new Game({ seed: 1 }).pop()", "ILLEGAL", "just begun"),
    ("new Game().view(4)", "BAD_SEAT", "0 to 3"),
    ("new Game({ deals: [{ hands: [['9-9']], boneyard: [] }] })", "UNKNOWN", "9-9"),
    (f"new Game({{ ...mini, deals: [{GOOD}, {BAD_DEAL}] }})", "BAD_TILES", ""),
    (f"new Game({{ ...mini, deals: [{LONG}] }})", "BAD_TILES", "7 of 6"),
    ("new View(new Uint8Array(3))", "BAD_VIEW", "bytes"),
    ("new View(new Uint8Array(info.structs.view.size)).worlds()", "BAD_VIEW", "not a valid view"),
    ("agent('strong')", "UNKNOWN", "partner"),
    ("agent('casual', { tiles: 1.5 })", "BAD_OPTIONS", "tiles is a chance from 0 to 1"),
    ("agent('student')", "BAD_OPTIONS", "policy"),
    ("agent('pimc', { world: 10 })", "UNKNOWN", "worlds"),
    ("agent('pimc', { weighed: 0 }).ask(new Game().view())", "BAD_OPTIONS", "option"),
    ("agent('policy', { policy: no_policy }).ask(new Game().view())", "BAD_WEIGHTS", "policy"),
    ("agent('greedy').ask(new Game({ seed: 1 }).view(3))", "NOT_PLAYING", "another seat"),
]


def test_bad_input_gets_a_code_and_a_sentence() -> None:
    calls = ", ".join(f"() => {script}" for script, _, _ in BAD)
    code = f"""
        const {{ Game, View, Policy, agent, info }} = await import({str(BINDING)!r});
        const mini = {{ players: 2, max_pip: 2, hand_size: 1 }};
        const no_policy = new Policy(new Uint8Array(8));
        for (const call of [{calls}]) {{
            try {{ call(); console.log("accepted"); }}
            catch (error) {{ console.log(error.name, error.message); }}
        }}
    """
    lines = in_node("--input-type=module", "-e", code).splitlines()
    for (script, kind, word), line in zip(BAD, lines, strict=True):
        assert re.match(f"{kind} .*{word}", line), (script, line)


def test_games_are_taken_back_copied_and_dealt_as_told() -> None:
    code = f"""
        const {{ Game }} = await import({str(BINDING)!r});
        const deal = {{
            hands: [["0-0", "1-0", "1-1"], ["2-0", "2-1", "2-2"]],
            boneyard: ["3-0", "3-1", "3-2", "3-3"], lead: 1,
        }};
        const game = new Game({{ players: 2, max_pip: 3, hand_size: 3, deals: [deal], seed: 5 }});
        const twin = game.copy();
        console.log(game.turn, game.hand(0).join(), game.legalMoves().join());
        game.push("2-2"), game.push(game.legalMoves()[0]), game.pop(), game.pop();
        console.log(game.moves.length, twin.bytes.join() === game.bytes.join());
    """
    printed = in_node("--input-type=module", "-e", code)
    assert printed == "1 0-0,1-0,1-1 2-0,2-1,2-2\n0 true\n"


def test_the_module_was_built_from_this_source() -> None:
    made = json.loads(BINDING.with_name("fiveup.json").read_text())
    hint = "run python -m fiveup_env.portable wasm32 -o fiveup_env/portable/fiveup.wasm"
    assert made["made"]["sources"] == source_digest(), hint
    assert made == json.loads(as_json()) | {"made": made["made"]}, hint
