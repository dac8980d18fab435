"""The server of the table: every route, every refusal, and that nobody sees what is not theirs."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fiveup_env import Game
from fiveup_env.cli import main
from fiveup_env.errors import InputError, MissingExtraError
from fiveup_env.game.records import loads, record_of
from tests.support import on_posix, play_randomly, tiles_named
from tests.web import BASE, QUICK, Client, httpx, visitors

launch = pytest.importorskip("fiveup_env.play.launch")
studies = pytest.importorskip("fiveup_env.play.studies")
tables = pytest.importorskip("fiveup_env.play.tables")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fiveup_env import Tile
    from fiveup_env.files import Json


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """What brings in a new visitor of one server."""
    with visitors() as new:
        yield new


@pytest.fixture
def visitor(server: Callable[[], Client]) -> Client:
    """A new visitor."""
    return server()


def wait_for(visitor: Client, study: str) -> Json:
    """The verdicts of a study, once they are there."""
    while True:
        answer = visitor.get(f"/api/studies/{study}/verdicts").json()
        if answer["verdicts"]:
            found: Json = answer["verdicts"]
            return found
        time.sleep(0.05)


def play_on(visitor: Client, state: Json, random: Random, moves: int = 10_000) -> Json:
    """The state of a table after some moves that score what they can, or at the end of its game."""
    while not state["over"] and moves:
        moves -= 1
        best = max(state["choices"], key=lambda choice: (choice.get("points", 0), random.random()))
        answer = visitor.move(state, best["move"])
        assert answer.status_code == 200, answer.text
        state = {"table": state["table"], **answer.json()}
    return state


SHORT = {"rules": "five_up", "players": 2, "opponents": "random", "seed": 3}


# --- Every route


@pytest.mark.parametrize("path", ["/", "/study", "/assets/style.css", "/assets/table.js"])
def test_pages_are_served_with_the_headers_that_protect_them(visitor: Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 200
    assert answer.text.strip()
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<!-- " not in answer.text


def test_a_page_holds_no_script_or_style_of_its_own(visitor: Client) -> None:
    for path in ("/", "/study"):
        page = visitor.get(path).text
        assert "<style" not in page
        assert "style=" not in page
        assert " onclick" not in page


def test_choices_name_what_can_be_played(visitor: Client) -> None:
    choices = visitor.get("/api/choices").json()
    assert {"five_up", "muggins"} <= set(choices["rules"])
    assert {"partner", "pimc", "student"} <= set(choices["agents"])
    assert choices["players"] == [2, 3, 4, 5]
    assert choices["advisers"] == [QUICK]


def test_a_whole_game_is_played_and_then_studied_and_saved(visitor: Client) -> None:
    state = play_on(visitor, visitor.sit_down(**SHORT), Random(1))
    assert state["choices"] == []
    assert state["frames"][-1]["kind"] == "over"
    table = state["table"]
    answer = visitor.post(f"/api/tables/{table}/study", {"version": state["version"]})
    assert answer.status_code == 201
    study = answer.json()["study"]
    about = visitor.get(f"/api/studies/{study}").json()
    assert about["names"] == ["you", "random"]
    verdicts = wait_for(visitor, study)
    assert len(verdicts["chances"]) == len(about["moments"])
    saved = visitor.get(f"/api/studies/{study}/study.json")
    assert loads(json.dumps(saved.json()["record"])).outcome()
    assert "attachment" in saved.headers["content-disposition"]
    page = visitor.get(f"/api/studies/{study}/study.html")
    assert page.text.startswith("<!doctype html>")
    there = visitor.post(f"/api/studies/{study}/table", {"move": 2, "opponents": "greedy"})
    assert there.status_code == 201
    assert len(there.json()["frames"]) >= 1
    over = visitor.post(f"/api/studies/{study}/table", {"move": about["moments"][-1]["move"]})
    assert over.status_code == 409


def test_a_table_is_where_it_was_after_a_reload(visitor: Client) -> None:
    assert visitor.get("/api/tables").json() == {"table": None}
    state = visitor.sit_down(**SHORT)
    moved = visitor.move(state, state["choices"][0]["move"]).json()
    latest = visitor.get("/api/tables").json()["table"]
    assert latest == state["table"]
    again = visitor.get(f"/api/tables/{latest}").json()
    assert again["version"] == moved["version"]
    assert again["choices"] == moved["choices"]
    assert again["frames"][-1]["hand"] == moved["frames"][-1]["hand"]


def test_undo_and_the_same_deal_once_more(visitor: Client) -> None:
    state = visitor.sit_down(**SHORT)
    table = f"/api/tables/{state['table']}"
    moved = visitor.move(state, state["choices"][0]["move"]).json()
    assert moved["undo"]
    back = visitor.post(f"{table}/undo", {"version": moved["version"]}).json()
    assert back["choices"] == state["choices"]
    assert not back["undo"]
    anew = visitor.post(f"{table}/again", {"version": back["version"]}).json()
    assert [f["said"] for f in anew["frames"]] == [f["said"] for f in state["frames"]]


@pytest.mark.parametrize("eye", ["moves", "hidden", "chance"])
def test_eyes_see_what_the_seat_could_work_out(visitor: Client, eye: str) -> None:
    state = visitor.sit_down(**SHORT)
    answer = visitor.post(
        f"/api/tables/{state['table']}/eyes", {"eye": eye, "version": state["version"]}
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["eye"] == eye
    if eye == "moves":
        assert {row["move"] for row in found["moves"]} == {c["move"] for c in state["choices"]}
    elif eye == "hidden":
        assert int(found["worlds"]) > 1
    else:
        assert 0 < found["value"] < 1


def test_a_narrow_page_gets_narrow_pictures(visitor: Client) -> None:
    wide = visitor.post("/api/tables", SHORT).json()["frames"][0]
    narrow = visitor.post("/api/tables?narrow", SHORT).json()["frames"][0]
    assert 'viewBox="0 0 960 ' in wide["board"]
    assert 'viewBox="0 0 400 ' in narrow["board"]


def test_a_study_rests_while_nobody_asks_and_then_goes_on_to_the_same_verdicts(
    visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = play_randomly(Game(players=2, seed=1), Random(1), 5)
    go_on, rests = studies.Study.go_on, threading.Event()

    def go_on_and_say(study: Any, *given: Any) -> None:
        go_on(study, *given)
        rests.set()

    with monkeypatch.context() as during:
        during.setattr(studies, "PATIENCE", 0)
        during.setattr(studies.Study, "go_on", go_on_and_say)
        study = visitor.post("/api/studies", {"record": record_of(game)}).json()["study"]
        assert rests.wait(60)
        answer = visitor.get(f"/api/studies/{study}/verdicts").json()
        assert (answer["done"], answer["verdicts"]) == (0, None)
    alone, wanted = studies.Study(game, QUICK), iter([True] * 3)
    alone.go_on(lambda: next(wanted, False))
    assert 0 < alone.done < alone.total
    assert alone.verdicts is None
    alone.go_on()
    assert wait_for(visitor, study) == json.loads(json.dumps(alone.verdicts))


async def look_and_leave(house: Any, leaving: asyncio.Event) -> int:
    """The status of the answer to a request for an eye, whose visitor leaves in the meantime."""
    app = launch.app_of(house)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as client:
        state = (await client.post("/api/tables", json=SHORT)).json()
        cookie = f"fiveup={client.cookies['fiveup']}"
    headers = {"host": "127.0.0.1:8561", "content-type": "application/json", "cookie": cookie}
    body = json.dumps({"eye": "moves", "version": state["version"]}).encode()
    bodies, status = [body], list[int]()

    async def receive() -> dict[str, Any]:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        await leaving.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        status.append(message.get("status", 0))

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/api/tables/{state['table']}/eyes",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await app(scope, receive, send)
    return status[0]


def test_an_eye_of_somebody_who_left_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    async def leave() -> int:
        leaving, loop = asyncio.Event(), asyncio.get_running_loop()

        def look(*_: object, check: Callable[[], None]) -> None:
            said.append("began")
            loop.call_soon_threadsafe(leaving.set)
            try:
                while True:
                    check()
            finally:
                said.append("ended")

        monkeypatch.setattr(tables, "advice_of", look)
        return await look_and_leave(launch.House(advisers=(QUICK,)), leaving)

    assert asyncio.run(leave()) == 400
    assert said == ["began", "ended"]


def test_an_eye_that_waits_for_a_thread_is_not_opened_for_somebody_who_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "advice_of", lambda *_, **__: pytest.fail("it was opened"))

    async def leave() -> int:
        leaving, house = asyncio.Event(), launch.House(advisers=(QUICK,))
        house.thinking.total_tokens = 1
        async with house.thinking:
            looking = asyncio.ensure_future(look_and_leave(house, leaving))
            while not house.thinking.statistics().tasks_waiting:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
            leaving.set()
            for _ in range(10):
                await asyncio.sleep(0)
        return await looking

    assert asyncio.run(leave()) == 400


def test_a_record_is_studied_and_a_damaged_one_is_refused(visitor: Client) -> None:
    record = record_of(play_randomly(Game(players=2, seed=1), Random(1), 5))
    answer = visitor.post("/api/studies", {"record": record})
    assert answer.status_code == 201
    assert wait_for(visitor, answer.json()["study"])["decisions"]
    record["hands"][0]["moves"][0]["points"] = 99
    answer = visitor.post("/api/studies", {"record": record})
    assert answer.status_code == 422
    assert "hand 0, move 0, points" in answer.json()["error"]


# --- Refusals


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"move": "6-5@5x"}, 422, "is not allowed for seat 0; allowed here"),
        ({"move": "hello"}, 422, "is not a valid move"),
        ({"move": 7}, 422, "a move is text such as"),
        ({}, 422, "a move is text such as"),
        ({"move": "5-5", "version": 99}, 409, "the table has changed meanwhile"),
        ({"move": "5-5", "version": "0"}, 422, "version is that of the table"),
        ({"move": "5-5", "version": None}, 422, "version is that of the table"),
    ],
)
def test_a_wrong_move_gets_a_sentence_and_changes_nothing(
    visitor: Client, body: Json, status: int, sentence: str
) -> None:
    state = visitor.sit_down(**SHORT)
    path = f"/api/tables/{state['table']}"
    answer = visitor.post(f"{path}/move", {"version": state["version"]} | body)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert visitor.get(path).json()["version"] == state["version"]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"players": 9}, 422, "there must be 2 to 5 players"),
        ({"rules": ["five_up"]}, 422, "there is no preset"),
        ({"opponents": "greedi"}, 400, "did you mean 'greedy'"),
        ({"opponents": "student:/etc/passwd"}, 422, "cannot be read"),
        ({"opponents": 7}, 422, "opponents are specs such as"),
        ({"seed": -1}, 422, "a seed is a whole number"),
        ({"deals": []}, 422, "a new game has the choices"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused(
    visitor: Client, body: Json, status: int, sentence: str
) -> None:
    answer = visitor.post("/api/tables", body)
    assert (answer.status_code, sentence in answer.json()["error"]) == (status, True), answer.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/tables/0123", 404),
        ("POST", "/api/tables/0123/move", 404),
        ("POST", "/api/tables/0123/eyes", 404),
        ("GET", "/api/studies/0123", 404),
        ("GET", "/api/studies/0123/study.html", 404),
        ("GET", "/assets/..%2f..%2f__main__.py", 404),
        ("GET", "/assets/server.py", 404),
        ("GET", "/nothing", 404),
        ("POST", "/", 404),
        ("DELETE", "/api/tables", 404),
    ],
)
def test_what_does_not_exist_says_so(visitor: Client, method: str, path: str, status: int) -> None:
    headers = {"content-type": "application/json"}
    body = '{"version": 0, "move": "5-5"}' if method == "POST" else None
    answer = visitor.request(method, path, content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [
        ("{", 400, "not valid JSON"),
        ("[1]", 400, "a request is a JSON object"),
        ('"text"', 400, "a request is a JSON object"),
        ("[" * 100_000, 400, "not valid JSON"),
        (b"\xff\xfe\x00", 400, "not valid JSON"),
        ("x" * (1 << 20) + "x", 413, "a request may hold 1,048,576 bytes"),
    ],
)
def test_bodies_that_are_no_requests_are_refused(
    visitor: Client, content: Any, status: int, sentence: str
) -> None:
    headers = {"content-type": "application/json"}
    for path in ("/api/tables", "/api/studies"):
        answer = visitor.request("POST", path, content=content, headers=headers)
        assert answer.status_code == status, answer.text[:200]
        assert sentence in answer.json()["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "https://127.0.0.1:8561"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:8561"}, 421),
        ({"origin": "http://127.0.0.1:8561", "sec-fetch-site": "same-origin"}, 201),
    ],
)
def test_posts_from_other_pages_are_refused(
    visitor: Client, headers: dict[str, str], status: int
) -> None:
    headers = {"content-type": "application/json"} | headers
    answer = visitor.request("POST", "/api/tables", content="{}", headers=headers)
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "no-store"


# --- Nobody sees what is not theirs


def test_a_table_and_a_study_of_another_visitor_do_not_exist(
    server: Callable[[], Client],
) -> None:
    one, other = server(), server()
    state = one.sit_down(**SHORT)
    table = f"/api/tables/{state['table']}"
    study = one.post(f"{table}/study", {"version": state["version"]}).json()["study"]
    other.sit_down(**SHORT)
    for method, path in (
        ("GET", table),
        ("POST", f"{table}/move"),
        ("POST", f"{table}/study"),
        ("GET", f"/api/studies/{study}"),
        ("GET", f"/api/studies/{study}/verdicts"),
        ("GET", f"/api/studies/{study}/study.json"),
    ):
        answer = other.request(
            method, path, **({"json": {"version": 0, "move": "5-5"}} if method == "POST" else {})
        )
        assert answer.status_code == 404
        assert "frames" not in answer.text


def test_a_visitor_of_an_earlier_server_begins_anew(visitor: Client) -> None:
    state = visitor.sit_down(**SHORT)
    with visitors() as another:
        later = another()
        later._client.cookies = visitor._client.cookies
        assert later.get(f"/api/tables/{state['table']}").status_code == 404
        assert later.get("/api/tables").json() == {"table": None}
        assert later.sit_down(**SHORT)["frames"] == state["frames"]


def test_all_that_is_sent_in_a_game_names_no_tile_that_the_seat_may_not_know(
    visitor: Client,
) -> None:
    state = visitor.sit_down(rules="five_up", players=4, opponents="random", seed=11)
    random, number = Random(2), 0
    known: set[Tile] = set()
    while not state["over"] and number < 3:
        for frame in state["frames"]:
            if frame["number"] != number:
                number, known = frame["number"], set()
            known |= tiles_named(" ".join(frame["hand"]))
            known |= tiles_named(frame.get("felt", ""))
            assert tiles_named(json.dumps(frame)) <= known
        for eye in ("moves", "chance"):
            body = {"eye": eye, "version": state["version"]}
            seen = visitor.post(f"/api/tables/{state['table']}/eyes", body)
            assert tiles_named(seen.text) <= known
        answer = visitor.move(state, random.choice(state["choices"])["move"])
        state = {"table": state["table"], **answer.json()}
    for told in visitor.heard:
        assert "seed" not in told


@pytest.mark.slow
def test_a_hundred_games_at_once_are_neither_lost_nor_mixed_up(
    server: Callable[[], Client],
) -> None:
    failures: list[BaseException] = []

    def sit_and_play(number: int) -> None:
        try:
            visitor, players = server(), 2 + number % 4
            state = visitor.sit_down(players=players, opponents="random", seed=number)
            alone = Game(players=players, seed=number)
            assert state["frames"][0]["hand"] == [str(tile) for tile in alone.hand_of(0)]
            state = play_on(visitor, state, Random(number), 8)
            answer = visitor.get(f"/api/tables/{state['table']}").json()
            assert answer["version"] == state["version"]
            assert answer["frames"][-1]["hand"] == state["frames"][-1]["hand"]
        except BaseException as error:  # noqa: BLE001 - the main thread reports it
            failures.append(error)

    threads = [threading.Thread(target=sit_and_play, args=(k,)) for k in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[:3]


# --- The command line


@contextmanager
def table_process(*words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A table in a process of its own, and its port."""
    line = [sys.executable, "-m", "fiveup_env", "play", "--no-browser", "--port", "0", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout
            yield process, int(process.stdout.readline().split()[4].rpartition(":")[2].rstrip("/"))
        finally:
            process.kill()


@on_posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_table_ends_at_once_whatever_goes_on(number: signal.Signals) -> None:
    endless = "pimc:worlds=2000000,playout=partner"  # minutes for a move
    with (
        table_process("--reference", endless, "--advisers", endless) as (process, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as client,
        socket.create_connection(("127.0.0.1", port)) as half,
        socket.create_connection(("127.0.0.1", port)) as asking,
    ):
        state = client.post("/api/tables", json=SHORT).json()
        table = f"/api/tables/{state['table']}"
        study = client.post(f"{table}/study", json={"version": state["version"]}).json()["study"]
        state = client.post("/api/tables", json=SHORT).json()
        body = json.dumps({"eye": "moves", "version": state["version"]})
        head = f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length:"
        half.sendall(f"POST /api/tables HTTP/1.1\r\n{head} 99\r\n\r\n{{".encode())
        cookie = f"Cookie: fiveup={client.cookies['fiveup']}\r\n"
        path = f"/api/tables/{state['table']}/eyes"
        request = f"POST {path} HTTP/1.1\r\n{cookie}{head} {len(body)}\r\n\r\n{body}"
        asking.sendall(request.encode())
        for _ in range(5):
            assert client.get(f"/api/studies/{study}/verdicts").json()["verdicts"] is None
        process.send_signal(number)
        # It takes a tenth of a second; the promise is two, and the rest is for a machine under load.
        assert process.wait(timeout=10) == 0
        assert process.communicate() == ("the table is closed\n", "")


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with launch.free_socket("127.0.0.1", 0) as bound:  # asyncio asks which protocol it has
        assert bound.proto == socket.IPPROTO_TCP


def test_a_port_in_use_is_said_and_the_next_free_one_taken() -> None:
    said: list[str] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"):
            launch.free_socket("127.0.0.1", port)
    first = launch.free_socket("127.0.0.1", None, said.append)
    first.listen()
    with first, launch.free_socket("127.0.0.1", None, said.append) as second:
        assert second.getsockname()[1] != first.getsockname()[1]
    assert said[-1].startswith("port 8561 is in use; this table takes")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("play --rules chess", "there is no preset 'chess'"),
        ("play --seat 7", "the seat must be from 0 to 3, not 7"),
        ("play --opponents greedi", "did you mean 'greedy'"),
        ("play --seed -1", "a seed is a whole number"),
        ("play --port 99999 --no-browser", "a port is a number from 0 to 65535"),
        ("play --reference greedy --no-browser", "the reference must be a pimc"),
        ("play --advisers greedi --no-browser", "did you mean 'greedy'"),
        ("study nowhere.jsonl", "No such file or directory"),
        ("study damaged.jsonl", "line 1: not valid JSON"),
    ],
)
def test_bad_options_get_one_sentence(
    command: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.jsonl").write_text("{\n")
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_without_the_extra_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "fiveup_env.play.launch", raising=False)
    assert main(["play", "--no-browser"]) == 2
    assert "pip install 'fiveup-env[web]'" in capsys.readouterr().err
    assert issubclass(MissingExtraError, ImportError)
