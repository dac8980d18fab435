"""Old import paths: two stay, all others say where the module or the name is now."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from fiveup_env import Batch, Game, __version__, moved
from fiveup_env.envs import sb3
from fiveup_env.game import records
from fiveup_env.moved import DROPPED_IN, KEPT, MOVED


def test_public_names_of_modules_that_moved_are_the_modules_themselves() -> None:
    for old, module in (("fiveup_env.records", records), ("fiveup_env.sb3", sb3)):
        sys.modules.pop(old, None)
        with pytest.warns(DeprecationWarning, match=f"{old} is now {module.__name__}; version"):
            assert import_module(old) is module
    assert set(KEPT) == {"fiveup_env.records", "fiveup_env.sb3"}
    assert records.__spec__ is not None
    assert records.__spec__.name == "fiveup_env.game.records"


def test_a_public_name_works_in_a_new_interpreter_and_warns_where_it_is_imported() -> None:
    code = (
        "from fiveup_env.records import dumps; from fiveup_env import Game;"
        "print(dumps.__module__, dumps(Game(seed=1))[:9])"
    )
    command = [sys.executable, "-W", "default", "-c", code]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["fiveup_env.game.records", '{"format"']
    assert "<string>:1: DeprecationWarning: fiveup_env.records is now " in told.stderr


@pytest.mark.parametrize("old", [name for name in MOVED if name.startswith("fiveup_env")])
def test_a_module_that_moved_says_where_it_is(old: str) -> None:
    with pytest.raises(ImportError, match=f"{old} has moved to {MOVED[old]}"):
        import_module(old)
    import_module(MOVED[old])


@pytest.mark.parametrize(
    ("package", "name", "place"),
    [
        ("engine", "GAME", "state.GAME"),
        ("engine", "TABLE", "state.PUBLIC"),
        ("engine", "FIVES", "scoring.FIVES"),
        ("rules", "FIELDS", "fields.FIELDS"),
        ("rules", "assignment", "fields.parse_assignment"),
        ("game", "ENDINGS", "values.ENDINGS"),
        ("opponents", "get_policy", "registry.get_agent"),
        ("opponents", "random_policy", "agent.random_actions"),
    ],
)
def test_a_name_that_moved_says_where_it_is(package: str, name: str, place: str) -> None:
    where = f"fiveup_env.{package}"
    with pytest.raises(ImportError, match=rf"{where}\.{name} has moved to {where}\.{place}"):
        exec(f"from {where} import {name}", {})
    module, new = place.split(".")
    assert hasattr(import_module(f"{where}.{module}"), new)


def test_other_names_are_missing_as_usual() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from fiveup_env.engine import nonsense", {})
    with pytest.raises(ModuleNotFoundError, match=r"fiveup_env\.nonsense"):
        import_module("fiveup_env.nonsense")
    assert not hasattr(import_module("fiveup_env.engine"), "nonsense")


def test_every_public_name_of_before_is_still_there() -> None:
    belief = (
        "BELIEF BONEYARD GROUP SETTLED WORLD count count_ways count_ways_at fill_marginals "
        "fill_marginals_at fill_worlds fill_worlds_at full marginals read_view sample "
        "worlds_to_games"
    )
    encoders = (
        "ENCODERS Encoder Piece bounds get_encoder offsets piece_of register_encoder row_size "
        "table_of"
    )
    top = (
        "MOVES PRESETS TILES Batch Deal Encoder FiveUpError Game IllegalMoveError "
        "InvalidMoveError Move Piece Rules Tile env get_encoder raw_env register_encoder"
    )
    adapter = "SHORT_NAME FiveUpGame FiveUpObserver FiveUpState load"
    record = (
        "FORMAT VERSION dealt_hands dumps game_of loads read_file record_of tile_name Line Json"
    )
    for place, names in (
        ("fiveup_env", top),
        ("fiveup_env.belief", belief),
        ("fiveup_env.encoders", encoders),
        ("fiveup_env.game.records", record),
        ("fiveup_env.envs.sb3", "FiveUpVecEnv"),
        ("fiveup_env.adapters.openspiel", adapter),
    ):
        if place.endswith("openspiel"):
            pytest.importorskip("pyspiel")
        module = import_module(place)
        assert [name for name in names.split() if not hasattr(module, name)] == []


def test_old_names_of_fields_and_attributes_still_work() -> None:
    view = Game(seed=1).view()
    assert view["table"]["turn"] == view["public"]["turn"]
    batch = Batch(2)
    with pytest.warns(DeprecationWarning, match=r"Batch\.games is now Batch\.states") as told:
        states = batch.games
    assert told[0].filename == __file__
    assert np.shares_memory(states, batch.states)
    with pytest.warns(DeprecationWarning, match=r"Batch\.done is now Batch\.terminated; version"):
        assert batch.done is batch.terminated


def test_old_names_are_dropped_when_they_were_to_be() -> None:
    version, end = (tuple(map(int, text.split(".")[:2])) for text in (__version__, DROPPED_IN))
    assert version < end, f"remove what version {DROPPED_IN} was to drop, see {moved.__file__}"
