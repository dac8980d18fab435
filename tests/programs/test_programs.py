"""Programs as agents: the protocol both ways, hostile programs and hostile lines, and no leaks."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import Game, Rules, make_agent
from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.games import Task, Terms
from fiveup_env.arena.play.workers import Player
from fiveup_env.errors import AgentError
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.programs.agent import Program
from fiveup_env.programs.messages import chance_of, hello, line_of, question, rng_of, views_in
from fiveup_env.programs.process import EndedError, ProgramError, serving
from fiveup_env.programs.serve import Server
from tests.support import Here, hidden_otherwise, on_posix, play_randomly

PAGE: Final = Path(__file__).parents[2] / "docs" / "use" / "programs.md"
RULES: Final = Rules.preset(players=2)
SERVED: Final = f"{sys.executable} -m fiveup_env serve"


def views_of(games: int, rules: Rules = RULES) -> np.ndarray:
    """Views of seats to move, in the middle of hands."""
    played = (play_randomly(Game(rules, seed=k), Random(k), 3 + k % 9) for k in range(games))
    return np.concatenate([game.view() for game in played])


def program(command: str) -> Program:
    agent = make_agent(f"program:{command}")
    assert isinstance(agent, Program)
    return agent


def greeted(agent: str = "greedy", *forms: str) -> Server:
    server = Server(make_agent(agent), agent)
    reply = server.reply(line_of(hello() | {"views": list(forms)}))
    assert reply
    assert reply["views"] == (forms[0] if forms else "json")
    return server


# --- What the page says


def test_the_session_on_the_page_is_what_is_said() -> None:
    (session,) = re.findall(r"```text\n(> .*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    server, lines = Server(make_agent("greedy"), "greedy"), []
    for line in session.splitlines():
        if line.startswith(">"):
            lines.append(line)
            if reply := server.reply(line[2:].encode()):
                lines.append(f"< {json.dumps(reply)}")
    assert lines == session.splitlines()


# --- Both ways


@pytest.mark.parametrize("form", ["json", "struct"])
def test_a_question_holds_the_views_and_the_chance(form: str) -> None:
    views, rng = views_of(20, Rules.preset(players=5)), keyed_rng("test")
    rng.random(3, np.float32)
    left = copy.deepcopy(rng)
    asked = json.loads(line_of(question(1, views, chance_of(rng), None, form)))
    assert (views_in(asked) == views).all()
    assert rng_of(asked).bytes(99) == left.bytes(99)
    assert rng.bytes(99) != left.bytes(99)


def test_other_generators_and_shorter_chance_name_a_generator_too() -> None:
    first, second = (chance_of(np.random.Generator(np.random.MT19937(1))) for _ in range(2))
    assert first == second
    for chance in (first, first[:16], f"{first}01234567"):
        asked = {"type": "choose", "chance": chance}
        assert rng_of(asked).bytes(9) == rng_of(asked).bytes(9)


@pytest.mark.parametrize("spec", ["partner", "policy:student,sample=1"])
def test_games_over_the_protocol_are_those_in_this_process(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, terms = Task((spec, "random"), 1, 10), Terms(RULES, "hand", record=True, apart=spec)
    over = Player(terms).play(task)
    for place in ("games", "workers"):
        monkeypatch.setattr(f"fiveup_env.arena.play.{place}.Apart", Here)
    assert Player(terms).play(task).records == over.records


def test_a_program_plays_views_of_several_rules_at_once_and_a_copy_has_its_own_process() -> None:
    views = np.concatenate([views_of(5, Rules.preset(players=n)) for n in (2, 3, 2)])
    agent = program(f"{SERVED} student")
    assert (agent(views, keyed_rng("a")) == make_agent("student")(views, keyed_rng("a"))).all()
    assert agent(views[:0], keyed_rng("a")).shape == (0,)  # without an answer
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert (twin.command, twin.pid) == (agent.command, None)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("program:./nowhere", "there is no program './nowhere' that can be run"),
        ("program:", "program needs its command"),
        ("program:'x", "is not a command"),
        (f"program:{sys.executable},seconds=0", "seconds must be more than 0"),
        (f"program:{sys.executable},second=1", "did you mean 'seconds'"),
    ],
)
def test_a_program_that_cannot_be_run_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(AgentError, match=sentence):
        make_agent(spec)


def test_a_command_may_have_options_with_values() -> None:
    agent = program(f"{sys.executable} --level=3,seconds=2")
    assert (agent.command, agent.seconds) == (f"{sys.executable} --level=3", 2)


# --- Hostile programs

BOT = """
import json, os, sys, time

def say(message):
    sys.stdout.write(message if isinstance(message, str) else json.dumps(message) + "\\n")
    sys.stdout.flush()

way = sys.argv[1]
sys.stdin.readline()
if way == "greets wrongly":
    say({"type": "hello", "protocol": "fiveup-agent", "version": 2})
if way == "greets with what there is not":
    say({"type": "hello", "protocol": "fiveup-agent", "version": 1, "views": "pictures"})
say({"type": "hello", "protocol": "fiveup-agent", "version": 1, "name": way})
for line in sys.stdin:
    asked = json.loads(line)
    moves = [view["legal"][0] for view in asked["views"]]
    right = {"type": "chosen", "id": asked["id"], "moves": moves}
    if way == "hangs behind a child":
        os.system("sleep 999")
    if way == "reads nothing":
        os.close(0)
        time.sleep(999)
    if way == "floods a line":
        while True:
            say("x" * 99_999)
    if way == "floods lines":
        while True:
            say(right)
    if way == "dies":
        os.abort()
    say({
        "nonsense": "no JSON at all\\n",
        "bytes": "\\ud800".encode("utf-8", "surrogatepass").decode("latin-1") + "\\n",
        "another question": right | {"id": 99},
        "too few": right | {"moves": moves[1:]},
        "no list": right | {"moves": "5-5"},
        "no move": right | {"moves": ["5-7"] * len(moves)},
        "not legal": right | {"moves": ["draw"] + moves[1:]},
        "an error of a list": {"type": "error", "id": []},
        "an error": {"type": "error", "id": asked["id"], "message": "I have\\nno idea"},
    }.get(way, right))
"""
ENDS: Final = {
    "greets wrongly": "this is version 1 of fiveup-agent, not version 2",
    "greets with what there is not": "views is json or struct, not 'pictures'",
    "hangs behind a child": "did not answer within",
    "reads nothing": "did not answer within",
    "floods a line": "has more",
    "dies": "ended its process",
    "nonsense": "this is not JSON",
    "bytes": "is not JSON",
    "an error of a list": r"answered request \[\], when 1",
    "another question": "answered request 99, when 1 was asked",
    "too few": "moves, not ",
    "no list": "moves is a list of moves; it is '5-5'",
    "no move": r"moves\[0\] is '5-7'; a move is written",
}


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bots") / "bot.py"
    path.write_text(BOT)
    return f"{sys.executable} {path}"


@on_posix
@pytest.mark.parametrize("way", ENDS)
def test_a_hostile_program_is_ended_and_said_so(bot: str, way: str) -> None:
    agent = program(f"{bot} '{way}',seconds=0.3")
    for _ in range(1 + (way == "dies")):  # the second question starts it anew
        with pytest.raises(EndedError, match=ENDS[way]):
            agent(views_of(2), keyed_rng("a"))
        assert agent._process
        assert agent._process._process.returncode is not None


@on_posix
def test_a_program_that_reports_an_error_goes_on(bot: str) -> None:
    agent, pids = program(f"{bot} 'an error'"), set()
    for _ in range(2):
        with pytest.raises(ProgramError, match="I have no idea"):
            agent(views_of(1), keyed_rng("a"))
        pids.add(agent.pid)
    assert len(pids) == 1


@on_posix
def test_one_move_that_is_not_legal_forfeits_one_game(bot: str) -> None:
    spec = f"program:{bot} 'not legal'"
    for apart in (None, spec):
        terms = Terms(RULES, "hand", forfeit=True, apart=apart)
        played = Player(terms).play(Task((spec, "random"), 1, 6))
        assert "made an illegal move" in played.faults[0]
        assert played.decisions[0] > 12


def test_a_program_outlives_the_thread_that_started_it() -> None:
    agent = program(f"{SERVED} greedy")
    views, pids = views_of(1), list[int | None]()
    for _ in range(2):
        thread = threading.Thread(target=lambda: agent(views, keyed_rng("a")))
        thread.start()
        thread.join()
        pids.append(agent.pid)
    assert agent(views, keyed_rng("a")).shape == (1,)
    assert [*pids, agent.pid] == [agent.pid] * 3


@on_posix
def test_no_process_of_a_program_outlives_it(bot: str) -> None:
    agent = program(f"{bot} 'hangs behind a child',seconds=0.3")
    with pytest.raises(EndedError):
        agent(views_of(1), keyed_rng("a"))
    group = agent.pid
    assert group
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("its child lives on")


# --- Hostile lines


def a_question(form: str = "json") -> dict[str, Any]:
    asked: dict[str, Any] = json.loads(
        line_of(question(1, views_of(2), chance_of(keyed_rng("a")), 1.5, form))
    )
    return asked


def changed(path: str, value: object) -> dict[str, Any]:
    asked = a_question()
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place: Any = asked
    for part in way:
        place = place[part]
    place[last] = value
    return asked


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("id", None, "id is a whole number from 0"),
        ("chance", 5, "chance is 16 to 72 hexadecimal digits; it is 5"),
        ("rules", [], "rules are an object with every field"),
        ("rules/players", 9, "there must be 2 to 5 players"),
        ("rules/colour", "red", "there is no field of the rules 'colour'"),
        ("rules/spinners", [], "there is no value of spinners"),
        ("views", {}, "a list of views, or structs in base64"),
        ("views", [], "there is no view"),
        ("views", "YWJj", "structs of 328 bytes, not 3 bytes"),
        ("views/1", 7, "view 1 is an object, not 7"),
        ("views/1/seat", "0", "view 1: seat must be a whole number from 0 to 1"),
        ("views/1/hand", ["7-7"], "hand must be written with tiles such as 5-3"),
        ("views/1/hand", [], "view 1 is not valid"),
        ("views/1/turn", None, "turn must be null once the hand has ended, and else the seat"),
        ("views/1/scores", [1, 1 << 40], "scores must be whole numbers"),
        ("views/1/ended", "won", "ended must be null, domino, blocked or target"),
        ("views/1/history", [], "view 1"),
        ("views/1/history/0", {"seat": 0}, r"history\[0\] must be an object"),
        ("views/1/history/0/move", "5-5@4", r"history\[0\] must be a move"),
        ("views/1/history/0/seat", 2, r"history\[0\] must be of a seat"),
        ("views/1/history/0/tile", "5-5", "without a tile"),
        ("views/1/layout/total", 99, "layout is .* but the rules and the history give"),
        ("views/1/legal", [], "legal is .* but the rules and the history give"),
        ("views/1/colour", 1, "there is no field of view 1 'colour'"),
    ],
)
def test_a_wrong_question_gets_a_sentence(path: str, value: object, sentence: str) -> None:
    server = greeted()
    wrong, right = (server.reply(line_of(m)) for m in (changed(path, value), a_question()))
    assert wrong
    assert right
    assert (wrong["type"], right["type"]) == ("error", "chosen")
    assert re.search(sentence, wrong["message"])


def test_a_question_before_hello_is_refused() -> None:
    reply = Server(make_agent("greedy"), "greedy").reply(line_of(a_question()))
    assert reply
    assert reply["message"] == "the first message is a hello, not 'choose'"


# --- No leak


@pytest.mark.parametrize("form", ["json", "struct"])
def test_hidden_tiles_change_no_byte_of_a_question(form: str) -> None:
    for seed in range(20):
        game = play_randomly(Game("five_up", players=2 + seed % 3, seed=seed), Random(seed), seed)
        other = hidden_otherwise(game, Random(seed))
        asked = [question(1, each.view(), "0" * 16, None, form) for each in (game, other)]
        assert line_of(asked[0]) == line_of(asked[1])


def test_a_served_agent_has_its_limit() -> None:
    (part,) = Apart("greedy", 2.5).start(np.array([[True]]))
    assert part._seconds == 2.5
    assert serving("greedy")._seconds is None
