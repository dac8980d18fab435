"""What cannot be used is refused by an error of this package, in one line, whatever it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fiveup_env import (
    Batch,
    Deal,
    FiveUpError,
    Game,
    Move,
    Rules,
    Tile,
    get_encoder,
    register_encoder,
)
from fiveup_env.checks import is_one_of, whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import (
    AgentError,
    DealError,
    EncoderError,
    InvalidMoveError,
    MissingExtraError,
    RecordError,
    RulesError,
    SeatError,
    SeedError,
    TileError,
    shown,
)
from fiveup_env.game.records import loads, read_file
from fiveup_env.opponents.registry import get_agent, make_agent
from fiveup_env.rules.fields import parse_assignment
from fiveup_env.sealed import SealError

NESTED: list[Any] = []
for _ in range(5000):
    NESTED = [NESTED]


def test_numpys_integers_are_whole_numbers() -> None:
    values: list[Any] = [3, np.int8(3), np.uint64(3), np.array(3), np.array(3, np.uint8)]
    for value in values:
        number = whole(value, 3, 3)
        assert (number, type(number)) == (3, int)
        assert Rules.preset(players=value, reserve=value - 1).players == 3
        assert Move(value) == Move(3)
        assert Tile.parse((5, value)) == Tile(5, 3)
        assert checked_seed(value) == 3


@pytest.mark.parametrize(
    "value",
    [True, np.bool_(True), np.array(True), 3.0, np.float64(3), "3", None, [3], np.array([3]), 10**30, -1, NESTED],
)  # fmt: skip
def test_nothing_else_is_a_whole_number(value: Any) -> None:
    assert whole(value, 0, 2**64) is None
    for call, error in (
        (lambda: Rules.preset(players=value), SeatError),
        (lambda: Rules.preset(hand_size=value), RulesError),
        (lambda: Move(value), InvalidMoveError),
        (lambda: Tile.parse((5, value)), TileError),
        (lambda: checked_seed(value), SeedError),
        (lambda: Game(seed=1).hand_of(value), SeatError),
    ):
        with pytest.raises(error):
            call()


def test_only_words_are_words_and_texts_give_fields_and_values() -> None:
    assert is_one_of("all", ("all", "none"))
    for value in ("al", ["all"], None, np.array(["all"])):
        assert not is_one_of(value, ("all", "none"))
    for text, parsed in (
        ("hand_size=7", ("hand_size", 7)),
        ("exact_target=True", ("exact_target", True)),
        ("teams=false", ("teams", False)),
        ("draw=optional", ("draw", "optional")),
        ("target=" + "9" * 5000, ("target", "9" * 5000)),
    ):
        assert parse_assignment(text) == parsed
    for text, said in (("hand_size", "--set takes FIELD=VALUE"), ("hand_siz=7", "'hand_size'")):
        with pytest.raises(RulesError, match=said):
            parse_assignment(text)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: Rules.of([1]), RulesError, r"no preset \[1\]"),  # type: ignore[arg-type]
        (lambda: Rules.of(Rules.preset(), players=0), SeatError, "2 to 5 players, not 0"),
        (lambda: Rules.preset(spinners=[]), RulesError, r"no value of spinners \[\]"),  # type: ignore[arg-type]
        (lambda: Rules.preset(target=10**5000), RulesError, "not <int that cannot be shown>"),
        (lambda: Move.parse(np.array(["pass", "draw"])), InvalidMoveError, "not a valid move"),
        (lambda: Game(deals=3), DealError, "lists, not 3"),  # type: ignore[arg-type]
        (lambda: Move.of(Tile(5, 3), [5]), InvalidMoveError, r"pip \[5\]"),  # type: ignore[arg-type]
        (lambda: Game(deals=[Deal(3, [])]), DealError, "lists, not 3"),  # type: ignore[arg-type]
        (lambda: Game(deals=[Deal([np.array(3)], [])]), DealError, "lists, not array"),
        (lambda: loads(None), RecordError, "not NoneType"),  # type: ignore[arg-type]
        (lambda: loads("[" * 100_000), RecordError, "not valid JSON"),
        (lambda: list(read_file("a\0b")), OSError, "not a file name"),
        (lambda: make_agent(3), AgentError, "the spec of an agent is text"),  # type: ignore[arg-type]
        (lambda: get_agent(None), AgentError, "the spec of an agent is text"),  # type: ignore[arg-type]
        (lambda: make_agent("greedy\0"), AgentError, "did you mean 'greedy'"),
        (lambda: make_agent("pimc:worlds=" + "9" * 5000), AgentError, "worlds must be a int"),
        (lambda: register_encoder(SimpleNamespace(name="own", version="1", pieces=(), encode=print)), EncoderError, "it needs name, version"),
        (lambda: get_encoder([]), EncoderError, r"no encoder \[\]"),  # type: ignore[arg-type]
        (lambda: Batch(2).load(b"PK\3\4 torn"), SealError, "not a saved batch, or a damaged one"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_a_message_is_one_line_that_is_not_long_whatever_it_quotes() -> None:
    for value in ("a\nb", "x" * 9999, 10**5000, NESTED, np.zeros((50, 50)), "\ud800\x1b"):
        for text in (
            shown(value),
            str(RulesError(f"no preset {value}" if isinstance(value, str) else "")),
        ):
            assert text.isprintable()
        assert len(shown(value)) <= 100
    assert str(FiveUpError("a\nb\ud800")) == str(MissingExtraError("a\nb\ud800")) == r"a\nb\ud800"
