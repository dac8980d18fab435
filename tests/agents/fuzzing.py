"""The fuzzer's targets in the laboratory: policies, students, checkpoints, results, configs and more."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
import yaml
from safetensors.torch import load, save

import tests.fuzz as fuzzer
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import Shape, build
from agents.runs.checkpoints import checkpoints_in, read_newest, write_checkpoint
from agents.runs.config import CONFIGS, KEYS, load_config, make_config, parse_changes
from agents.runs.metrics import read_metrics
from fiveup_env import Game, Rules
from fiveup_env.arena.benchmark.card import card_text
from fiveup_env.arena.benchmark.entries import Entry, read_json
from fiveup_env.arena.benchmark.leaderboard import page_of_entries
from fiveup_env.arena.games import Terms
from fiveup_env.arena.results import ResultsFile
from fiveup_env.arena.tournament import Tournament, play_tournament
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.opponents.networks.files import DESCRIPTION, WEIGHTS, digest_of
from fiveup_env.opponents.networks.policy import Student
from fiveup_env.opponents.search.network_search import reward_of
from tests.fuzz import mutated, mutated_bytes, mutated_json, mutated_text, odd, reheaded

if TYPE_CHECKING:
    from random import Random

    from tests.fuzz import Target

torch.set_num_threads(1)

TOURNAMENT: Final = Tournament(
    ("random", "greedy"), Terms(Rules.preset("mini-2", 2), "hand"), deals=4, seed=3, chunk=2
)


@cache
def a_policy(kind: str) -> tuple[bytes, bytes]:
    """Return the two files of a small policy."""
    torch.manual_seed(0)
    network = build(Shape(kind, 4, 1, shared=kind == "guided"))
    save_policy("policy", network, {"config": {"reward": "margin"}})
    return Path("policy", WEIGHTS).read_bytes(), Path("policy", DESCRIPTION).read_bytes()


def an_altered_policy(random: Random, kind: str) -> Path:
    """Return a policy with altered files, or with altered contents whose digest is right."""
    weights, text = a_policy(kind)
    if random.random() < 0.4:
        files = [weights, text]
        which = random.randrange(2)
        files[which] = mutated_bytes(random, files[which], files[1 - which])
        weights, text = files
    else:
        description = json.loads(text)
        if random.random() < 0.5:
            weights = save(_altered(random, load(weights)))
        else:
            description = mutated(random, description)
        try:
            if isinstance(description, dict):
                description["digest"] = digest_of(weights, description)
            text = json.dumps(description).encode()
        except (TypeError, ValueError, RecursionError):  # it holds what JSON does not
            text = mutated_json(random, json.loads(text))
    folder = Path("altered")
    folder.mkdir(exist_ok=True)
    (folder / WEIGHTS).write_bytes(weights)
    (folder / DESCRIPTION).write_bytes(text)
    return folder


def policies(random: Random) -> None:
    """Policies that PyTorch plays."""
    network, about = load_policy(an_altered_policy(random, "plain"))
    rows = torch.zeros(1, row_size(get_encoder(network.shape.encoder)), dtype=torch.int8)
    network.logits(rows)
    reward_of(about)


def students(random: Random) -> None:
    """Policies that compiled code plays, which checks no index."""
    folder, game = an_altered_policy(random, "guided"), Game(seed=0)
    actions = Student(str(folder))(game.view(), np.random.default_rng(0))
    assert game.action_mask()[actions[0]]


def _altered(random: Random, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return tensors of which one is of another shape, type, name or content."""
    name = random.choice(list(weights))
    one = weights.pop(name)
    act = random.randrange(6)
    if act == 0:
        weights[name] = one[..., :-1].contiguous()
    elif act == 1:
        weights[name] = one.to(
            random.choice([torch.int8, torch.float16, torch.bfloat16, torch.bool, torch.float64])
        )
    elif act == 2:
        weights[mutated_text(random, name).replace("\ud800", "")] = one
    elif act == 3:
        weights[name] = one * random.choice([float("nan"), float("inf"), 1e30, 0.0])
    elif act == 4:
        weights[name] = one.flatten()
    return weights


@cache
def a_checkpoint() -> bytes:
    """Return the content of a checkpoint."""
    arrays: dict[str, np.ndarray] = {"a": np.arange(20.0).reshape(4, 5), "b": np.zeros(3, np.uint8)}
    return write_checkpoint(Path("one"), 1, arrays, {"updates": 1}).read_bytes()


def checkpoints(random: Random) -> None:
    """Checkpoints: the older one is read if the newer one is damaged, or has another header."""
    good, folder = a_checkpoint(), Path("checkpoints")
    folder.mkdir(exist_ok=True)
    for path in checkpoints_in(folder):
        path.unlink()
    both = random.random() < 0.2
    (folder / "1.checkpoint").write_bytes(mutated_bytes(random, good) if both else good)
    sealed_anew = random.random() < 0.5
    newer = reheaded(random, good) if sealed_anew else mutated_bytes(random, good)
    (folder / "2.checkpoint").write_bytes(newer)
    read = read_newest(folder)
    if not sealed_anew:
        assert np.array_equal(read.arrays["a"], np.arange(20).reshape(4, 5))
        assert read.about["updates"] == 1


@cache
def some_results() -> bytes:
    """Return the content of a results file."""
    play_tournament(TOURNAMENT, 1, "played.jsonl")
    return Path("played.jsonl").read_bytes()


def results(random: Random) -> None:
    """Results files: what is read from a damaged one is what was played."""
    content = some_results()
    lines = content.splitlines()
    if random.random() < 0.5:
        at = random.randrange(len(lines))
        lines[at] = mutated_json(random, json.loads(lines[at]))
        altered = b"\n".join(lines) + b"\n"
    else:
        altered = mutated_bytes(random, content)
    path = Path("results.jsonl")
    path.write_bytes(altered)
    file = ResultsFile(path, TOURNAMENT.header, TOURNAMENT.agents)
    file.close()
    kept = path.read_bytes()
    whole = kept[: kept.rfind(b"\n") + 1].splitlines()
    assert set(whole[1:]) <= set(content.splitlines())


def configs(random: Random) -> None:
    """Configs as files, and changes of their keys."""
    path = random.choice(sorted(CONFIGS.glob("*.yaml")))
    pick = random.randrange(4)
    if pick == 0:
        altered = Path("altered.yaml")
        altered.write_bytes(mutated_bytes(random, path.read_bytes()))
        load_config(str(altered))
    elif pick == 1:
        make_config(_keys(mutated(random, yaml.safe_load(path.read_text("utf-8")))))
    elif pick == 2:
        make_config({random.choice(KEYS): odd(random)})
    else:
        key, value = random.choice(list(load_config("smoke").as_dict().items()))
        change = random.choice(
            [mutated_text(random, f"{key}={value}"), f"{key}={random.choice(fuzzer.WORDS)}"]
        )
        make_config(parse_changes([change]))


def _keys(values: Any) -> dict[Any, Any]:
    return values if isinstance(values, dict) else {}


@cache
def some_entries() -> list[Any]:
    """Return the entries of the leaderboard."""
    folder = Path(__file__).parents[2] / "leaderboard"
    return [read_json(path) for path in sorted(folder.glob("*.json"))]


def entries(random: Random) -> None:
    """Entries of the leaderboard and their score cards, as files: those that pass can be printed."""
    path = Path("entry.json")
    path.write_bytes(mutated_json(random, random.choice(some_entries())))
    entry = Entry(read_json(path))
    entry.check_figures()
    entry.check_agent()
    card_text(entry.card)
    page_of_entries([entry.content | {"file": path.name}])


def metrics(random: Random) -> None:
    """Metrics files: damaged lines are left out."""
    line = {
        "update": 1,
        "decisions": 100,
        "entropy": 0.5,
        "panel": {"greedy": [[0.5, 0.4, 0.6], [0.1, 0.0, 0.2]]},
    }
    path = Path("metrics.jsonl")
    path.write_bytes(b"\n".join(mutated_json(random, line) for _ in range(2)))
    for read in read_metrics(path):
        assert read["update"] + read["decisions"] is not None


TARGETS: Final[dict[str, Target]] = {
    "policies": policies,
    "students": students,
    "checkpoints": checkpoints,
    "results": results,
    "configs": configs,
    "entries": entries,
    "metrics": metrics,
}
