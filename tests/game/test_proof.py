"""Deals that are proved: what fits its digests, and what was chosen after the fact."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fiveup_env import Game
from fiveup_env.cli import main
from fiveup_env.errors import RecordError
from fiveup_env.files import Json
from fiveup_env.game.proof import digest_of, fresh_secret, seed_of
from fiveup_env.game.records import game_of, record_of
from tests.support import play_randomly


def proved(secrets: list[str], moves: int = 40) -> Json:
    game = play_randomly(Game(players=2, seed=seed_of(secrets)), Random(1), moves)
    return record_of(game) | {
        "proof": {"secrets": secrets, "digests": [digest_of(secret) for secret in secrets]}
    }


def test_a_record_whose_seed_and_tiles_follow_from_the_secrets_is_valid(
    tmp_path: Path, capsys: Any
) -> None:
    record = proved([fresh_secret(), fresh_secret()])
    assert record_of(game_of(record)) == {k: v for k, v in record.items() if k != "proof"}
    (tmp_path / "games.jsonl").write_text(
        f"{json.dumps(record)}\n{json.dumps(proved(['a' * 20]))}\n"
    )
    assert main(["check", str(tmp_path / "games.jsonl")]) == 0
    said = capsys.readouterr().out
    assert " ".join(record["proof"]["digests"]) in said


def test_whatever_was_changed_after_the_digests_were_shown_is_found() -> None:
    record, other = proved(["a" * 20]), proved(["b" * 20])
    digests = record["proof"]["digests"]
    changes: list[tuple[Json, str]] = [
        ({"proof": {"secrets": ["b" * 20], "digests": digests}}, "do not have these digests"),
        ({"proof": other["proof"]}, "the seed does not follow"),
        ({"seed": other["seed"]}, "the seed does not follow"),
        ({"hands": other["hands"]}, "not those that the seed deals"),
        ({"proof": {"secrets": [], "digests": []}}, "secrets are"),
        ({"proof": {"secrets": ["a b"], "digests": digests}}, "secrets are"),
        ({"proof": None}, "a proof is an object"),
    ]
    for change, sentence in changes:
        with pytest.raises(RecordError, match=sentence):
            game_of(record | change)
