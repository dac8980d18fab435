"""The benchmark of readers: other words for the same games, readers of words, and the card."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from fiveup_env import MOVES, Game
from fiveup_env.arena.faults import ArenaError
from fiveup_env.cli import main
from fiveup_env.doors.prompts import prompt
from fiveup_env.doors.text_benchmark.play import text_card, text_card_table
from fiveup_env.doors.text_benchmark.protocol import TEXT_PROTOCOLS, read_text_protocol
from fiveup_env.doors.text_benchmark.readers import READERS, _total_after, listed, make_reader
from fiveup_env.doors.text_benchmark.vocabulary import VOCABULARIES, vocabulary
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import AgentError, OptionError
from fiveup_env.game import move_of_words, move_words
from tests.support import play_randomly

if TYPE_CHECKING:
    from pathlib import Path

V1: Final = read_text_protocol("fiveup-text-v1")
SMALL: Final = replace(V1, rivals=("greedy",), reference="pimc:worlds=8,playout=greedy", quick=2)


class Last:
    """Plays the last move that is listed, and counts tokens."""

    tokens = 0

    def __call__(self, prompt: str) -> str:
        """Return a move."""
        self.tokens += 1
        return listed(prompt)[-1]


class Careless:
    """Writes nonsense, then a move that is not legal, then a legal one."""

    def __init__(self) -> None:
        self.asked = -1

    def __call__(self, prompt: str) -> str:
        """Return an answer."""
        self.asked += 1
        return ("I pass the salt", "pass", listed(prompt)[0])[self.asked % 3]


# --- The protocol


def test_the_protocol_is_the_one_that_was_published() -> None:
    assert TEXT_PROTOCOLS == ("fiveup-text-v1",)
    assert V1.digest == "f59e60cd175e8ddd9fe9826921089fda"
    last = max(task.first for task in V1.tasks) + V1.full
    assert last < FIRST_OF_STREAMS
    assert len({task.name for task in V1.tasks}) == len(V1.tasks)
    V1.check()
    with pytest.raises(ArenaError, match="its prompts in the task five-up are others"):
        replace(V1, tasks=(replace(V1.tasks[0], vocabulary="quarry"),)).check()
    for task in V1.tasks:
        assert task.rules.players == task.players
        assert task.words


# --- Words


def prompts(count: int) -> list[str]:
    """Prompts of all tasks, in our words."""
    found = []
    for k in range(count):
        task = V1.tasks[k % len(V1.tasks)]
        game = play_randomly(Game(task.rules, seed=k), Random(k), k % 12)
        if not game.is_game_over():
            found.append(prompt(game.view()))
    return found


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_move_is_revealed(name: str) -> None:
    words = vocabulary(name)
    for move in MOVES:
        assert move_of_words(words.reveal(words.disguise(move_words(move)))) == move
        assert move_of_words(words.reveal(words.disguise(move_words(move)).upper())) == move


def test_a_disguised_prompt_has_none_of_the_words() -> None:
    words = vocabulary("quarry")
    for text in prompts(30):
        said = {word.lower() for word in re.findall(r"[A-Za-z]+", words.disguise(text))}
        assert not said & words.words.keys()
        assert not re.search(r"\b[0-6]-[0-6]\b", words.disguise(text))


def test_the_same_hands_are_played_in_other_words() -> None:
    plain = text_card(replace(SMALL, tasks=V1.tasks[:1]), "x", Last(), quick=True)
    moved = replace(V1.tasks[1], first=V1.tasks[0].first)
    other = text_card(replace(SMALL, tasks=(moved,)), "x", Last(), quick=True)
    for name in ("margin", "loss", "answers", "decisions"):
        assert plain[name] == other[name]
    assert plain["meetings"][0]["vocabulary"] != other["meetings"][0]["vocabulary"]


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(OptionError, match="there is no vocabulary 'latin'"):
        vocabulary("latin")


# --- Readers


def test_the_greedy_reader_works_out_every_total_from_the_words() -> None:
    seen = 0
    for k in range(60):
        task = V1.tasks[k % len(V1.tasks)]
        game = play_randomly(Game(task.rules, seed=k), Random(k), k % 14)
        if game.is_game_over():
            continue
        text = task.words.disguise(prompt(game.view()))
        for move, words in zip(game.legal_moves, listed(text), strict=True):
            if move.tile is None:
                continue
            after, hand = game.copy(), game.hand_number
            after.push(move)
            total = after.hand_states()[hand][0]["public"]["layout"]["total"]
            assert _total_after(words, (move.tile.high, move.tile.low), text) == total
            seen += 1
    assert seen > 100


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("greedi-reader", "did you mean 'greedy-reader'"),
        ("partner", "there is no reader 'partner'"),
        ("nowhere:Model", "there is no reader 'nowhere:Model'"),
        ("math:pi", "there is no reader 'math:pi'"),
        ("tests.doors.test_text_benchmark:Nothing", "there is no reader"),
        ("builtins:object", "cannot be called"),
    ],
)
def test_what_is_no_reader_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(AgentError, match=sentence):
        make_reader(spec)


def test_a_reader_of_ones_own_is_named_by_its_module() -> None:
    assert type(make_reader("tests.doors.test_text_benchmark:Last")).__name__ == "Last"
    assert {*READERS} >= {"random-reader", "greedy-reader", "mute"}


# --- The card


def test_a_mute_reader_forfeits_every_hand() -> None:
    card = text_card(replace(SMALL, tasks=V1.tasks[2:3]), "mute", make_reader("mute"), quick=True)
    assert card["margin"] == V1.forfeit
    assert (card["unreadable"], card["illegal"]) == (1, 0)
    assert (card["forfeits"], card["answers"]) == (4, 4 * V1.tries)
    assert card["loss"] is None
    assert "mute: fiveup-text-v1, quick" in text_card_table(card)


def test_wrong_answers_are_counted_by_their_kind() -> None:
    card = text_card(replace(SMALL, tasks=V1.tasks[:1]), "x", Careless(), quick=True)
    assert card["unreadable"] == pytest.approx(card["illegal"])
    assert card["unreadable"] == pytest.approx(1 / 3)
    assert card["forfeits"] == 0


def test_a_card_can_be_made_again_and_counts_tokens() -> None:
    cards = [text_card(SMALL, "x", Last(), quick=True) for _ in range(2)]
    assert cards[0] == cards[1]
    assert cards[0]["tokens"] == cards[0]["answers"]
    json.dumps(cards[0])


def test_a_reader_must_write_text() -> None:
    def silent(prompt: str) -> Any:
        del prompt

    with pytest.raises(AgentError, match="a reader returns text, not None"):
        text_card(SMALL, "x", silent, quick=True)


def test_the_command_refuses_what_only_agents_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["benchmark", "fiveup-text-v1", "--agents", "mute", "--quick"]
    assert main([*named, "--report", str(tmp_path / "page.html")]) == 2
    assert "fiveup-text-v1 has no --report" in capsys.readouterr().err
    assert main(["benchmark", "fiveup-text-v1", "--agents", "nobody"]) == 2
    assert "there is no reader 'nobody'" in capsys.readouterr().err
    file = tmp_path / "card.json"
    assert main([*named, "--json", str(file)]) == 0
    assert json.loads(file.read_text())["unreadable"] == 1
