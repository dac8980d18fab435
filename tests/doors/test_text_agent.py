"""Language models as agents: questions in any words, wrong answers, tokens, and the arena."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from fiveup_env import MOVES, Game, Rules, legal_masks, make_agent
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.results import code_of, origin
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.doors.text import TextAgent
from fiveup_env.doors.text.agent import NO_ACTION
from fiveup_env.doors.text.prompts import prompt
from fiveup_env.doors.text.vocabulary import VOCABULARIES, vocabulary
from fiveup_env.errors import AgentError, ModelError
from fiveup_env.game import move_of_words, move_words
from tests.support import play_randomly

RULES = Rules.preset(players=2)


def listed(question: str) -> list[str]:
    """Return the legal moves that a question lists, in its words."""
    (line,) = re.findall(r"Your legal moves: (.*)\.", question)
    return str(line).split(", ")


def last(question: str) -> tuple[str, int]:
    """Answer with the last move that is listed, in five tokens."""
    return f"Let me see.\n{listed(question)[-1]}", 5


def mute(question: str) -> str:
    """Answer with no move."""
    return f"There are {len(question)} characters to think about."


class Careless:
    """Answers with no move, then with one that is not legal, then with a legal one."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    def __call__(self, question: str) -> str:
        """Return the next answer."""
        self.questions.append(question)
        return ("I decline", "pass", listed(question)[0])[len(self.questions) % 3 - 1]


class Interrupted:
    """Answers as `last` does, until there are no more answers."""

    left = 0

    def __call__(self, question: str) -> tuple[str, int]:
        """Return an answer, or raise what a client raises."""
        if not Interrupted.left:
            raise ConnectionError("the line is dead")
        Interrupted.left -= 1
        return last(question)


class Keyless:
    """Cannot be made."""

    def __init__(self) -> None:
        raise KeyError("API_KEY")


def views(count: int) -> np.ndarray:
    """Return the views of random positions."""
    games = [play_randomly(Game(RULES, seed=k), Random(k), k % 12) for k in range(count)]
    return np.concatenate([game.view() for game in games if not game.is_game_over()])


def chosen(agent: TextAgent, positions: np.ndarray) -> list[int]:
    """Return the actions of an agent."""
    actions: list[int] = agent(positions, np.random.default_rng(0)).tolist()
    return actions


# --- Words


@pytest.mark.parametrize("name", VOCABULARIES)
def test_every_move_is_revealed(name: str) -> None:
    words = vocabulary(name)
    for move in MOVES:
        said = words.disguise(move_words(move))
        assert (
            move_of_words(words.reveal(said)) == move_of_words(words.reveal(said.upper())) == move
        )


def test_a_disguised_prompt_has_none_of_the_words() -> None:
    words = vocabulary("quarry")
    for k in range(30):
        text = words.disguise(prompt(views(30)[k : k + 1]))
        assert not {word.lower() for word in re.findall(r"[A-Za-z]+", text)} & words.words.keys()
        assert not re.search(r"\b[0-6]-[0-6]\b", text)


# --- Questions and answers


def test_a_model_plays_the_same_in_other_words_and_however_many_calls_are_made_at_once() -> None:
    positions = views(30)
    masks = legal_masks(positions)
    plain = TextAgent(last)
    expected = [np.flatnonzero(mask)[-1] for mask in masks]
    assert chosen(plain, positions) == expected
    assert chosen(TextAgent(last, words="quarry", calls=4), positions) == expected
    choices = int((masks.sum(1) > 1).sum())  # a forced move is made without asking
    assert plain.usage == {"answers": choices, "tokens": 5 * choices}
    assert choices < len(positions)


def test_calls_are_made_at_the_same_time() -> None:
    together = Barrier(4, timeout=10)

    def patient(question: str) -> tuple[str, int]:
        together.wait()
        return last(question)

    four = np.repeat(views(1), 4)
    assert len(chosen(TextAgent(patient, calls=4), four)) == 4


def test_wrong_answers_are_counted_and_said_and_the_question_comes_again() -> None:
    model = Careless()
    agent = TextAgent(model, words="quarry")
    (action,) = chosen(agent, views(1))
    assert legal_masks(views(1))[0, action]
    assert agent.usage == {"answers": 3, "unreadable": 1, "illegal": 1, "tokens": 0}
    first, second, third = model.questions
    assert re.fullmatch(rf"'I decline' is not a move; .*\n\n{re.escape(first)}", second)
    assert re.fullmatch(rf"'rest' is not legal here; legal: .*\n\n{re.escape(first)}", third)
    assert chosen(TextAgent(mute, tries=2), views(1)) == [NO_ACTION]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("text", "text needs its model"),
        ("text:nowhere:Model", "there is no model 'nowhere:Model', .*: No module named 'nowhere'"),
        ("text:math:Model", "there is no model 'math:Model'"),
        (f"text:{__name__}:Keyless", "there is no model .*Keyless', .*: KeyError: 'API_KEY'"),
        ("text:math:pi", "a model is called with a prompt, and 'math:pi' cannot be"),
        ("text:math:sqrt,prompt=notes", "there is no prompt 'notes'"),
        ("text:math:sqrt,words=latin", "there is no vocabulary 'latin'"),
        ("text:math:sqrt,tries=0", "tries is a whole number from 1 to 1000, not 0"),
        ("text:math:sqrt,calls=0", "calls is a whole number from 1 to 1000, not 0"),
    ],
)
def test_a_model_that_does_not_exist_and_options_out_of_range_are_refused(
    spec: str, sentence: str
) -> None:
    with pytest.raises(AgentError, match=sentence):
        make_agent(spec)


@pytest.mark.parametrize("answer", [None, 5, ("pass", "many"), ("pass", 1, 2)])
def test_a_model_must_return_text(answer: Any) -> None:
    with pytest.raises(ModelError, match="returns text, or text and a number of tokens, not"):
        chosen(TextAgent(lambda _: answer), views(1))


# --- In the arena


def test_a_run_that_a_model_ends_is_continued_where_it_was(tmp_path: Path) -> None:
    spec = f"text:{__name__}:Interrupted"
    tournament = Tournament((spec, "random"), Terms(RULES, "hand", forfeit=True), 6, chunk=1)
    file = tmp_path / "results.jsonl"
    Interrupted.left = 20
    with pytest.raises(ModelError, match="raised ConnectionError: the line is dead"):
        play_tournament(tournament, 1, file)
    kept = file.read_bytes()
    assert len(kept.splitlines()) > 1
    Interrupted.left = 10_000
    outcome = play_tournament(tournament, 1, file)
    assert file.read_bytes().startswith(kept)
    assert len(outcome.played) == 6
    assert all((played.forfeits < 0).all() for played in outcome.played.values())


def test_a_model_of_other_code_is_another_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    code = tmp_path / "a_model.py"
    code.write_text("def model(prompt): return 'pass'")
    before = origin("text:a_model:model,tries=1"), code_of("text:a_model:model")
    code.write_text("def model(prompt): return 'draw'")
    assert origin("text:a_model:model,tries=1") != before[0]
    assert code_of("text:a_model:model") != before[1]
