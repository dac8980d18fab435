"""Decision data: rows that their games give, the same bytes from a seed, splits that share no game."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from agents.data import __main__ as command
from agents.data.files import CARD, make_data, read_data
from agents.data.games import MOST_HANDS, Columns, rows_of_shard
from agents.data.plan import COLUMNS, SPLITS, DataError, Plan
from fiveup_env import MOVES, Rules, legal_masks
from fiveup_env.belief import marginals
from fiveup_env.envs.aec import raw_env
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import FiveUpError
from fiveup_env.game import move_words, rules_text

PLAN = Plan(agents=("greedy", "partner"), positions=60, values="pimc:worlds=8")
TEXT = {"prompt", "moves", "deductions"}


def wrong(views: np.ndarray, rng: Any) -> np.ndarray:
    """Return an action that is hardly ever legal."""
    del rng
    return np.zeros(len(views), np.int64)


def floats(views: np.ndarray, rng: Any) -> np.ndarray:
    """Return legal actions as floats."""
    del rng
    return legal_masks(views).argmax(1) + np.zeros(len(views))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data") / "made", PLAN)


def games(rows: Columns) -> Iterator[Columns]:
    for seed in np.unique(rows["seed"]):
        yield {name: column[rows["seed"] == seed] for name, column in rows.items()}


def played_again(plan: Plan, rows: Columns) -> Columns:
    """Return the rows of a game as PettingZoo's environment gives them, with the same actions."""
    rules = Rules.preset(str(rows["preset"][0]), int(rows["players"][0]))
    actions, log = iter(rows["action"].tolist()), []
    env = raw_env(rules, encoder=plan.encoder, reward="margin", max_hands=MOST_HANDS)
    env.reset(int(rows["seed"][0]))
    while not any(env.terminations.values()):
        seen, view = env.observe(env.agent_selection), env.view(env.agent_selection)
        mask, belief = seen["action_mask"].copy(), marginals(view)[0]
        belief[: rules.players] = np.roll(belief[: rules.players], -int(view["seat"][0]), 0)
        env.step(int(mask.argmax()) if mask.sum() == 1 else next(actions))
        rewards = [env.rewards[agent] for agent in env.possible_agents]
        log.append((view[0], seen["observation"].copy(), mask, belief.ravel(), rewards))
    assert not list(actions)
    views, observations, masks, beliefs, points = map(np.array, zip(*log, strict=True))
    hands, seats, choice = views["public"]["hand_number"], views["seat"], masks.sum(1) > 1
    brought = [
        points[k:][hands[k:] == hand, seat].sum()
        for k, (hand, seat) in enumerate(zip(hands, seats, strict=True))
    ]
    outcome = env.game.outcome()
    assert outcome
    return {
        "hand": hands[choice],
        "decision": np.flatnonzero(choice),
        "seat": seats[choice],
        "observation": observations[choice],
        "mask": masks[choice],
        "marginals": beliefs[choice],
        "margin_return": np.array(brought)[choice],
        "win_return": np.where(seats % rules.sides == outcome.winner, 1, -1 / (rules.sides - 1))[
            choice
        ],
    }


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        replace(
            PLAN,
            players=(2, 3),
            rules=("five_up", "all_fives"),
            values="pimc:worlds=8,aim=hand",
            encoder="tokens",
        ),
    ],
    ids=["default", "other"],
)
def test_every_row_is_what_its_game_gives(plan: Plan) -> None:
    rows = rows_of_shard(plan, plan.shards[0])
    assert rows["hand"].max() < MOST_HANDS
    assert rows.keys() == COLUMNS.keys() - TEXT
    for game in games(rows):
        for name, column in played_again(plan, game).items():
            assert np.allclose(game[name], column), name


def test_splits_are_large_enough_and_share_no_game(folder: Path) -> None:
    rows = {split: read_data(folder, split, ["seed"])["seed"] for split in SPLITS}
    assert [
        len(seeds) >= PLAN.positions // part
        for seeds, part in zip(rows.values(), SPLITS.values(), strict=True)
    ]
    seeds = np.concatenate([np.unique(each) for each in rows.values()])
    assert len(np.unique(seeds)) == len(seeds)
    assert seeds.min() >= FIRST_OF_STREAMS
    others = rows_of_shard(replace(PLAN, seed=1), PLAN.shards[1])["seed"]
    assert not np.isin(others, seeds).any()


def test_a_split_of_many_positions_is_in_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.data.plan.POSITIONS_IN_SHARD", 50)
    shards = PLAN.shards
    assert [(shard.file, shard.positions) for shard in shards] == [
        ("train-00000-of-00002.parquet", 50),
        ("train-00001-of-00002.parquet", 10),
        ("validation-00000-of-00001.parquet", 3),
        ("test-00000-of-00001.parquet", 3),
    ]
    first, other = (rows_of_shard(PLAN, shard)["seed"] for shard in shards[:2])
    assert not {*first.tolist()} & {*other.tolist()}


@pytest.mark.slow
def test_two_cores_make_the_same_bytes_as_one(folder: Path, tmp_path: Path) -> None:
    make_data(tmp_path / "two", PLAN, cores=2)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == len(PLAN.shards) + 1
    for name in names:
        assert (tmp_path / "two" / name).read_bytes() == (folder / name).read_bytes()


def test_a_folder_is_whole_or_not_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="is there already: choose another folder"):
        make_data(folder, PLAN)
    made: list[Any] = []

    def interrupted(plan: Plan, shard: Any) -> Columns:
        made.append(shard)
        if len(made) == len(plan.shards):
            raise KeyboardInterrupt
        return rows_of_shard(plan, shard)

    monkeypatch.setattr("agents.data.files.rows_of_shard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_data(tmp_path / "data", PLAN)
    assert not list(tmp_path.iterdir())


def test_the_card_says_what_a_hub_reads_and_describes_every_column(folder: Path) -> None:
    _, head, page = (folder / CARD).read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["license"] == "mit"
    patterns = {part["split"]: part["path"] for part in about["configs"][0]["data_files"]}
    assert patterns.keys() == SPLITS.keys()
    assert all(list(folder.glob(pattern)) for pattern in patterns.values())
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == COLUMNS.keys() - TEXT
    assert f"make_data(folder, {PLAN})" in page


def test_rows_of_text_say_what_their_numbers_do() -> None:
    plan = replace(PLAN, positions=60, text=True, rules=("five_up", "muggins"))
    rows = rows_of_shard(plan, plan.shards[0])
    for k, moves in enumerate(rows["moves"]):
        legal = [move_words(MOVES[action]) for action in rows["mask"][k].nonzero()[0]]
        assert moves.split("\n") == legal
        assert f"Your legal moves: {', '.join(legal)}." in rows["prompt"][k]
        rules = Rules.preset(rows["preset"][k], int(rows["players"][k]))
        assert rules_text(rules) in rows["prompt"][k]
        certain = (rows["marginals"][k].reshape(6, 28)[1:] == 1).sum()
        assert len(re.findall(r" 100 %", rows["deductions"][k])) >= certain


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"split": "trian"}, "holds no decision data of the split 'trian'"),
        ({"columns": ["valeus"]}, "did you mean 'values'"),
    ],
)
def test_an_unknown_split_or_column_is_refused(
    folder: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        read_data(folder, **options)


def test_damage_in_a_file_is_noticed(folder: Path, tmp_path: Path) -> None:
    (file,) = folder.glob("test-*.parquet")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / file.name).write_bytes(content)
    with pytest.raises(DataError, match="holds damaged files"):
        read_data(tmp_path, "test")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"positions": 0}, "--positions must be from 1 to"),
        ({"agents": ()}, "name at least one agent"),
        ({"agents": ("gredy",)}, "did you mean 'greedy'"),
        ({"agents": ("pimc:ms=5",)}, "pimc:ms=5 has a budget of time"),
        ({"values": "greedy"}, "greedy has no values with errors"),
        ({"seed": -1}, "seed"),
        ({"rules": ("five_upp",)}, "did you mean 'five_up'"),
        ({"encoder": "flatt"}, "did you mean 'flat'"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FiveUpError, match=sentence):
        replace(PLAN, **change)


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        ("wrong", "wrong move: game .*allowed: "),
        ("floats", "actions of .*:floats must be .* integers, not an array of float64"),
    ],
)
def test_an_agent_at_fault_is_named(agent: str, sentence: str) -> None:
    plan = replace(PLAN, agents=(f"{__name__}:{agent}",))
    with pytest.raises(FiveUpError, match=sentence):
        rows_of_shard(plan, plan.shards[0])


def test_the_command_makes_data_and_refuses_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--agents", "greedy", "--positions", "9", "--values", "pimc:worlds=8", "--cores"]
    made = tmp_path / "data"
    assert command.main([*words, "1", "--rules", "mini-2", "--players", "2", "-o", str(made)]) == 0
    assert capsys.readouterr().out.strip() == str(made / CARD)
    assert len(read_data(made)["seed"]) >= 9
    assert command.main([*words, "0", "-o", str(made)]) == 2
    assert capsys.readouterr().err == "data: --cores must be at least 1, not 0\n"
