"""Decision data: the same bytes from a seed, rows that their games give, and nothing half written."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
import yaml

from agents.data import __main__ as command
from agents.data import making
from agents.data.card import CARD, made_by, read_complete
from agents.data.checks import check_data, derived
from agents.data.dataset import make_dataset
from agents.data.games import MOST_HANDS, decisions_of_group, rows_of_shard
from agents.data.making import make_data
from agents.data.plan import SPLITS, DataError, Plan, split_of
from agents.data.shards import digest_of, read_rows, write_shard
from fiveup_env import MOVES, Game, Rules, legal_masks
from fiveup_env.belief import marginals
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import FiveUpError
from fiveup_env.game import move_words, rules_text
from fiveup_env.opponents.registry import register_agent
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agents.data.card import Card
    from agents.data.games import Columns

PLAN = Plan(agents=("greedy", "partner"), positions=400, shards=2, values="pimc:worlds=8")
NAMES = [column.name for column in PLAN.columns]


@dataclass
class Wrong:
    """Plays an action that is hardly ever legal."""

    def __call__(self, views: np.ndarray, rng: Any) -> np.ndarray:
        """Return the first action of all."""
        del rng
        return np.zeros(len(views), np.int64)


@dataclass
class Float:
    """Returns floats."""

    def __call__(self, views: np.ndarray, rng: Any) -> np.ndarray:
        """Return legal actions as floats."""
        del rng
        return legal_masks(views).argmax(1) + np.zeros(len(views))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("data") / "made"
    make_data(made, PLAN)
    return made


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "data")
    return tmp_path / "data"


def games(rows: Columns) -> Iterator[Columns]:
    for seed in np.unique(rows["seed"]):
        yield {name: column[rows["seed"] == seed] for name, column in rows.items()}


def rewritten(card: Card, rows: Columns) -> None:
    """Write other rows as the first shard, with a card that agrees."""
    write_shard(card, 0, rows)
    about = json.loads((card.folder / CARD).read_text())
    about["shards"][0]["digest"] = digest_of(card.shards[0])
    (card.folder / CARD).write_text(json.dumps(about))


def test_agents_are_handed_a_generator_from_which_nothing_else_is_drawn() -> None:
    handed: list[dict[str, Any]] = []

    def watching(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        handed.append(dict(rng.bit_generator.state))
        return legal_masks(views).argmax(1)

    next(decisions_of_group(PLAN, [watching] * 2, 0, 0))
    fresh = keyed_rng("games of data", PLAN.seed, 0, 0).bit_generator.state
    assert len(handed) > 50
    assert all(state == fresh for state in handed)


def test_two_cores_make_the_same_bytes_as_one(folder: Path, tmp_path: Path) -> None:
    assert (
        make_data(tmp_path / "two", PLAN, cores=2).about["shards"]
        == (read_complete(folder).about["shards"])
    )


def test_another_seed_makes_other_games() -> None:
    one, other = (rows_of_shard(replace(PLAN, seed=seed, shards=4), 0) for seed in (0, 1))
    assert not set(one["seed"]) & set(other["seed"])
    assert min(one["seed"].min(), other["seed"].min()) >= FIRST_OF_STREAMS


def test_shards_are_different_games_that_together_are_enough(folder: Path) -> None:
    card = read_complete(folder)
    seeds = [set(read_rows(card, number, ("seed",))["seed"].tolist()) for number in range(2)]
    assert not seeds[0] & seeds[1]
    assert card.about["counts"]["games"] == len(seeds[0] | seeds[1])
    assert card.about["counts"]["positions"] >= PLAN.positions


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        replace(PLAN, players=(2, 3), rules=("five_up", "all_fives"), shards=1),
        replace(PLAN, agents=("random",), players=(3,), shards=4),
        replace(PLAN, values="student+search:worlds=8", encoder="tokens", shards=4),
        replace(PLAN, values="pimc:worlds=8,aim=hand", shards=4),
    ],
    ids=["default", "rules", "random", "student", "points"],
)
def test_every_row_is_what_its_game_gives(plan: Plan) -> None:
    rows = rows_of_shard(plan, 0)
    assert rows["hand"].max() < MOST_HANDS
    assert sorted(rows) == sorted(NAMES)
    for game in games(rows):
        for name, column in derived(plan, game).items():
            assert (
                np.allclose(game[name], column, equal_nan=True)
                if (column.dtype.kind == "f")
                else (game[name] == column).all()
            ), name


def test_a_row_can_be_found_again_by_hand(folder: Path) -> None:
    rows = next(games(read_rows(read_complete(folder), 0, NAMES)))
    game = Game(str(rows["preset"][0]), players=int(rows["players"][0]), seed=int(rows["seed"][0]))
    k = 0
    while game.outcome() is None:
        mask = game.action_mask()
        action = int(mask.argmax())
        if mask.sum() > 1:
            assert (mask == rows["mask"][k]).all()
            found = marginals(game.view())
            found[:4] = np.roll(found[:4], -int(rows["seat"][k]), 0)
            assert np.allclose(rows["marginals"][k], found.ravel())
            action = rows["action"][k]
            k += 1
        game.push(MOVES[action])
    assert k == len(rows["action"])


def test_a_better_action_is_worth_more_and_errors_say_how_surely(folder: Path) -> None:
    rows = read_rows(read_complete(folder), 0, NAMES)
    legal = rows["mask"] > 0
    assert (np.isfinite(rows["values"]) == legal).all()
    assert (np.isfinite(rows["errors"]) == legal).all()
    best = rows["values"].argmax(1)
    assert (rows["errors"][np.arange(len(best)), best] == 0).all()
    assert (np.nan_to_num(rows["errors"]) >= 0).all()


@pytest.mark.parametrize("name", ["observation", "mask", "decision", "seat", "marginals", "values"])
def test_an_edited_row_is_found_by_its_column(copied: Path, name: str) -> None:
    card = read_complete(copied)
    rows = {key: column.copy() for key, column in read_rows(card, 0, NAMES).items()}
    for game in games(rows):
        first = np.flatnonzero(rows["seed"] == game["seed"][0])[0]
        rows[name][first] += 1
    write_shard(card, 0, rows)
    with pytest.raises(DataError, match="not what was made"):
        check_data(copied, games=0, shards=0)
    rewritten(card, rows)
    with pytest.raises(DataError, match=rf"shard-00000.parquet: `{name}` of game \d+, decision"):
        check_data(copied, games=20, shards=0)


@pytest.mark.parametrize("name", ["win_return", "margin_return", "errors"])
def test_edited_returns_are_found(copied: Path, name: str) -> None:
    card = read_complete(copied)
    rows = {key: column.copy() for key, column in read_rows(card, 0, NAMES).items()}
    rows[name] = rows[name] * np.float32(-2)
    rewritten(card, rows)
    with pytest.raises(DataError, match=f"`{name}` of game"):
        check_data(copied, games=20, shards=0)


def test_rows_that_were_left_out_are_missed(copied: Path) -> None:
    card = read_complete(copied)
    rows = read_rows(card, 0, NAMES)
    rewritten(card, {name: column[:-1] for name, column in rows.items()})
    with pytest.raises(DataError, match=r"has no row with a legal action|rows, not"):
        check_data(copied, games=20, shards=1)


def test_an_agent_that_did_not_choose_the_action_is_found_by_making_the_shard_again(
    copied: Path,
) -> None:
    card = read_complete(copied)
    rows = read_rows(card, 0, NAMES)
    swapped = np.where(rows["agent"] == "greedy", "partner", "greedy")
    rewritten(card, rows | {"agent": swapped})
    with pytest.raises(DataError, match="`agent` of game"):
        check_data(copied, games=0, shards=2)


def test_an_interrupted_folder_goes_on_and_makes_damaged_shards_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = making._make, tmp_path / "data"

    def interrupted(card: Card, number: int) -> None:
        if number:
            (card.folder / ".shard-00001.parquet.0123456789abcdef").write_bytes(b"half")
            raise KeyboardInterrupt
        real(card, number)

    monkeypatch.setattr(making, "_make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_data(made, PLAN)
    with pytest.raises(DataError, match="is not complete; to go on: make_data"):
        make_dataset(made)
    monkeypatch.setattr(making, "_make", real)
    said: list[str] = []
    first = made / "shard-00000.parquet"
    first.write_bytes(first.read_bytes()[:-100])
    assert (
        make_data(made, PLAN, say=said.append).about["shards"]
        == (read_complete(folder).about["shards"])
    )
    assert len(said) == 1
    assert "shard-00000.parquet is damaged or half written" in said[0]
    assert sorted(path.name for path in made.iterdir()) == [
        ".lock",
        "card.json",
        "card.md",
        "shard-00000.parquet",
        "shard-00001.parquet",
    ]


def test_what_is_complete_is_not_made_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_make", lambda *_: pytest.fail("made again"))
    assert make_data(copied, PLAN).about == read_complete(copied).about


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 1}, "made with seed 0, not 1"),
        ({"agents": ("greedy",)}, r"made with origins .*, not .*greedy"),
        ({"encoder": "tokens"}, "made with encoder 'flat', not 'tokens'"),
    ],
)
def test_other_data_are_never_mixed_in(copied: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        make_data(copied, replace(PLAN, **change))


def test_a_shard_of_other_data_is_refused(copied: Path) -> None:
    shutil.copy(copied / "shard-00001.parquet", copied / "shard-00000.parquet")
    with pytest.raises(DataError, match=r"shard-00000.parquet is a shard of other data"):
        make_dataset(copied)


def test_damage_anywhere_in_a_shard_is_noticed(copied: Path) -> None:
    path = copied / "shard-00000.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"shard-00000.parquet is damaged"):
        make_dataset(copied)


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="holds no decision data: choose another"):
        make_data(tmp_path, PLAN)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "card.json is damaged"),
        ('{"format": "fiveup-data", "version": 1, "plan": {}}', "card.json is damaged"),
        ('{"format": "fiveup-data", "version": 9}', "of version 9; this code reads"),
        ('{"format": "fiveup-data", "version": 1, "plan": {"agents": 3}}', "card.json is damaged"),
        (
            '{"format": "fiveup-data", "version": 1, "plan": {"agents": ["gredy"], "positions": 3}}',
            "does not fit this code: there is no agent 'gredy'",
        ),
        (json.dumps(made_by(PLAN) | {"counts": {}, "shards": []}), "card.json is damaged"),
        (
            json.dumps(made_by(PLAN) | {"command": "", "counts": {}, "shards": [{"digest": ""}]}),
            "card.json is damaged",
        ),
    ],
)
def test_a_card_that_cannot_be_read_is_refused(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / CARD).write_text(content)
    with pytest.raises(DataError, match=told):
        make_dataset(tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"positions": 0}, "--positions must be from 1 to"),
        ({"positions": True}, "--positions must be from 1 to"),
        ({"shards": 401}, "--shards must be from 1 to 400"),
        ({"agents": ()}, "name at least one agent"),
        ({"agents": ("gredy",)}, "did you mean 'greedy'"),
        ({"agents": ("pimc:ms=5",)}, "pimc:ms=5 has a budget of time"),
        ({"values": "pimc:ms=5"}, "pimc:ms=5 has a budget of time"),
        ({"values": "greedy"}, "greedy has no values with errors"),
        ({"seed": -1}, "seed"),
        ({"rules": ("five_upp",)}, "did you mean 'five_up'"),
        ({"players": (9,)}, "9"),
        ({"encoder": "flatt"}, "did you mean 'flat'"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(FiveUpError, match=told):
        replace(PLAN, **change)


def test_a_plan_of_numpys_integers_can_be_written_as_json() -> None:
    four = np.int64(4)
    shards, positions = np.int32(2), np.int64(400)
    numbers = {"positions": positions, "shards": shards, "seed": four, "players": (four,)}
    plan = replace(PLAN, **cast("dict[str, Any]", numbers))
    assert json.dumps(plan.as_dict()) == json.dumps(replace(PLAN, seed=4).as_dict())


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (Wrong, "wrong move: game .*allowed: "),
        (Float, "actions of float must be .* integers, not an array of float64"),
    ],
)
def test_an_agent_at_fault_is_named(
    agent: type, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fiveup_env.opponents.registry._AGENTS", {})
    name = agent.__name__.lower()
    register_agent(name, agent)
    register_agent("pimc", "fiveup_env.opponents.search.pimc:Pimc")
    with pytest.raises(FiveUpError, match=told):
        rows_of_shard(replace(PLAN, agents=(name,)), 0)


def test_splits_are_by_game_and_make_up_all(folder: Path) -> None:
    parts = [make_dataset(folder, split, ("hand", "action")) for split in SPLITS if split]
    every = make_dataset(folder, "all")
    assert sum(map(len, parts)) == len(every)
    counts = read_complete(folder).about["counts"]["splits"]
    assert [len(part) for part in parts] == [split["positions"] for split in counts.values()]
    shares = [split_of(seed) for seed in range(1000, 1200)]
    assert {name: shares.count(name) for name in SPLITS} == {
        "train": 180,
        "validation": 10,
        "test": 10,
    }


def test_the_data_set_gives_rows_to_a_data_loader(folder: Path) -> None:
    from torch.utils.data import DataLoader

    data = make_dataset(folder, "all", ("observation", "values"))
    batch = next(iter(DataLoader(data, batch_size=8)))
    assert {name: tuple(column.shape) for name, column in batch.items()} == {
        "observation": (8, 557),
        "values": (8, 121),
    }
    assert (batch["observation"] == data[:8]["observation"]).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"split": "trian"}, "did you mean 'train'"),
        ({"columns": ("valeus",)}, "did you mean 'values'"),
        ({"columns": ("seed",)}, "no column of numbers 'seed'"),
        ({"columns": ()}, "name at least one column"),
    ],
)
def test_an_unknown_split_or_column_is_refused(
    folder: Path, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        make_dataset(folder, **options)


def test_minari_holds_what_the_environment_would_have_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("minari")
    from agents.data.export import export_to_minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    card = make_data(tmp_path / "data", replace(PLAN, agents=("partner",), shards=1))
    made = export_to_minari(card.folder, "fiveup/partner-v0", seat=1)
    rows = read_rows(card, 0, NAMES)
    seeds = {
        option["options"]["deal"]
        for option in made.storage.get_episode_metadata(range(made.total_episodes))
    }
    assert seeds == set(rows["seed"][rows["split"] == "train"].tolist())
    env = made.recover_environment()
    for episode in made:
        deal = next(made.storage.get_episode_metadata([episode.id]))["options"]
        own = (rows["seed"] == deal["deal"]) & (rows["seat"] == 1)
        assert episode.rewards.sum() == rows["win_return"][own][0]
        chosen = episode.infos["action_mask"][:-1].sum(1) > 1
        assert (episode.actions[chosen] == rows["action"][own]).all()
        assert (episode.observations[:-1][chosen] == rows["observation"][own]).all()
        assert episode.terminations.tolist() == [False] * (len(episode) - 1) + [True]
        observation, info = env.reset(options=deal)
        assert (observation == episode.observations[0]).all()
        assert (info["action_mask"] == episode.infos["action_mask"][0]).all()
    with pytest.raises(DataError, match="Minari refuses"):
        export_to_minari(card.folder, "fiveup/partner-v0", seat=1)
    with pytest.raises(DataError, match="seat must be from 0 to 3, not 4"):
        export_to_minari(card.folder, "fiveup/other-v0", seat=4)


def test_the_command_makes_and_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = str(tmp_path / "data")
    words = [
        "make",
        "--agents",
        "greedy,partner",
        "--positions",
        "300",
        "--values",
        "pimc:worlds=8",
        "--cores",
        "1",
    ]
    monkeypatch.setattr("sys.argv", ["data", *words, "-o", made])
    assert command.main([*words, "-o", made]) == 0
    assert f"games are in {made}; read {made}/card.md" in capsys.readouterr().out
    assert "python -m agents.data make --agents greedy,partner" in (
        (tmp_path / "data" / "card.md").read_text()
    )
    assert command.main(["check", made, "--games", "2"]) == 0
    assert "2 games and 1 shards, made again, are the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("make --agents gredy --positions 9 -o x", "did you mean 'greedy'"),
        ("make --agents greedy --positions 9 -o x --cores 0", "--cores must be at least 1"),
        ("check nowhere --games -1", "--games must be from 0 to 1,000,000, not -1"),
        ("check nowhere --shards -1", "--shards must be from 0 to 1,000,000, not -1"),
        ("check nowhere", "nowhere holds no decision data"),
        ("minari nowhere --name a-v0", "nowhere holds no decision data"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if words.startswith("minari"):
        pytest.importorskip("minari")
    assert command.main(words.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("data: ")
    assert told in said
    assert said.count("\n") == 1


def test_the_page_of_a_folder_begins_with_what_a_hub_reads(folder: Path) -> None:
    _, head, _ = (folder / "card.md").read_text("utf-8").split("---\n", 2)
    told = yaml.safe_load(head)
    assert (told["license"], told["size_categories"]) == ("mit", ["n<1K"])
    assert list(folder.glob(told["configs"][0]["data_files"]))


def test_rows_of_text_say_what_their_numbers_do(tmp_path: Path) -> None:
    plan = replace(PLAN, positions=60, shards=1, text=True, rules=("five_up", "muggins"))
    make_data(tmp_path / "data", plan)
    card = check_data(tmp_path / "data", games=2)
    names = ["prompt", "moves", "deductions", "mask", "values", "marginals", "preset", "players"]
    rows = read_rows(card, 0, names)
    for k, moves in enumerate(rows["moves"]):
        legal = [move_words(MOVES[action]) for action in rows["mask"][k].nonzero()[0]]
        assert moves.split("\n") == legal
        assert np.isfinite(rows["values"][k]).sum() == len(legal)
        assert f"Your legal moves: {', '.join(legal)}." in rows["prompt"][k]
        rules = Rules.preset(rows["preset"][k], int(rows["players"][k]))
        assert rules_text(rules) in rows["prompt"][k]
        certain = (rows["marginals"][k].reshape(6, 28)[1:] == 1).sum()
        assert len(re.findall(r" 100 %", rows["deductions"][k])) >= certain
