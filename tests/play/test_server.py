"""The server of the table: files, answers of agents, a folder of games, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fiveup_env import Game, Move
from fiveup_env.cli import main
from fiveup_env.errors import InputError, MissingExtraError, RequestError
from fiveup_env.game.records import loads, record_of
from fiveup_env.play.folder import Folder, game_in
from fiveup_env.play.page import page_files
from tests.support import on_posix, play_randomly
from tests.web import BASE, Client, client_of, table_process

launch = pytest.importorskip("fiveup_env.play.launch", reason="the server of the page (no Uvicorn)")
httpx = pytest.importorskip("httpx", reason="the server of the page (no HTTPX)")
guard = pytest.importorskip("fiveup_env.play.guard", reason="the server of the page (no Starlette)")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = Folder(tmp_path_factory.mktemp("games"))
    with client_of(launch.Offer(setup={"rules": "five_up"}, folder=folder)) as made:
        yield made


def asked(game: Game, **changed: Any) -> dict[str, Any]:
    return {"spec": "greedy", "view": game.view().tobytes().hex(), "key": "7"} | changed


# --- What is served


def test_pages_are_served_with_their_offer_and_the_headers_that_protect_them(
    client: Client, tmp_path: Path, capsys: Any
) -> None:
    for path in ("/", "/app.js", "/fiveup.wasm", "/words/de.js", "/api/studied"):
        answer = client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    page = client.get("/").text
    assert "&quot;games&quot;: true" in page
    assert "&quot;rules&quot;: &quot;five_up&quot;" in page
    assert main(["play", "--static", str(tmp_path / "site")]) == 0
    assert "bytes" in capsys.readouterr().out
    for path, content in page_files().items():
        assert (tmp_path / "site" / path).read_bytes() == content


def test_an_agent_says_what_it_would_do_in_a_view(client: Client) -> None:
    game = play_randomly(Game(players=3, seed=4), Random(4), 5)
    for spec in ("greedy", "pimc:worlds=8,playout=greedy"):
        answer = client.post("/api/ask", asked(game, spec=spec))
        assert Move.parse(answer.json()["move"]) in game.legal_moves
        assert client.post("/api/ask", asked(game, spec=spec)).json() == answer.json()
    state = asked(game, view=game.state().tobytes().hex())
    assert client.post("/api/ask", state).status_code == 400  # agents are asked with views alone


def test_games_are_kept_for_the_hosts_commands_and_no_page_is_sent_any(tmp_path: Path) -> None:
    game = play_randomly(Game(players=2, seed=3), Random(3), 9)
    kept = {"format": "fiveup-study", "version": 1, "record": record_of(game), "table": {"id": "a"}}
    with client_of(launch.Offer(folder=Folder(tmp_path))) as client:
        assert client.post("/api/games/20261126-a", kept).json() == {"kept": True}
        assert client.get("/api/studied").json() == {"games": []}
        for path in ("/api/games", "/api/games/20261126-a", "/20261126-a.json"):
            assert client.get(path).status_code in {404, 405}
    assert loads((tmp_path / "20261126-a.json").read_text()) == game


def study_with(value: str) -> bytes:
    """The file of a game, of which one value is this JSON."""
    return f'{{"format": "fiveup-study", "record": {{}}, "seed": {value}}}'.encode()


DEEP = "[" * 900 + "]" * 900
UNFIT = {
    "cut off": b"{",
    "not a number": study_with("NaN"),
    "infinite": study_with("1e999"),
    "half a character": study_with(r'"\ud800"'),
    "deep": study_with(DEEP),
    "deeper": study_with(100 * DEEP),
    "huge": study_with(f'"{"x" * (1 << 20)}"'),
    "twice": study_with('1, "seed": 2'),
    "no record": b'{"format": "fiveup-study"}',
}


def test_files_that_are_no_games_are_not_watched_and_cannot_be_posted(tmp_path: Path) -> None:
    headers = {"content-type": "application/json"}
    folder, watched = Folder(tmp_path / "games"), tmp_path / "watched.json"
    with client_of(launch.Offer(folder=folder, watched=watched)) as client:
        for content in UNFIT.values():
            watched.write_bytes(content)
            assert client.get("/api/watched").json() == {"game": None}
            answer = client.request("POST", "/api/games/c", content=content, headers=headers)
            assert answer.status_code in {400, 413}
            assert answer.json()["error"]
    assert not [*folder.path.iterdir()]


@on_posix
def test_what_is_no_plain_file_is_neither_waited_for_nor_written(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "zeros.json").symlink_to("/dev/zero")
    (tmp_path / "nowhere.json").symlink_to("nowhere")
    folder, game = Folder(tmp_path), {"format": "fiveup-study", "record": {}}
    said: list[object] = []

    def use() -> None:
        said.extend(map(game_in, tmp_path.iterdir()))
        for name in ("pipe", "folder", "zeros"):
            with pytest.raises(RequestError, match="not a plain file"):
                folder.keep(name, game)
        said.append("done")

    user = threading.Thread(target=use, daemon=True)
    user.start()
    user.join(timeout=20)
    assert said == [*[None] * 4, "done"]


# --- What is refused


def test_a_question_that_cannot_be_answered_gets_a_sentence(client: Client) -> None:
    game = Game(players=2, seed=1)
    others = game.view(1 - (game.turn or 0))
    wrong: list[tuple[str, object, str]] = [
        ("spec", "greedi", "did you mean 'greedy'"),
        ("spec", "os:getcwd", "'os:getcwd' is not an agent that a file or a page may name"),
        ("spec", "policy:leaderboard", "'leaderboard' is not a policy that a file or a"),
        ("spec", None, "the spec of an agent is text"),
        ("view", "00", "bytes in hexadecimal digits"),
        ("view", "ff" * game.view().nbytes, "view"),
        ("view", others.tobytes().hex(), "not to move"),
        ("key", -1, "a key is a number"),
    ]
    for name, value, sentence in wrong:
        answer = client.post("/api/ask", asked(game, **{name: value}))
        assert answer.status_code == 400
        assert sentence in answer.json()["error"]


def test_only_games_are_kept_under_plain_names_and_what_does_not_exist_says_so(
    client: Client,
) -> None:
    for name in ("..%2fup", "a.b", "x" * 61):
        answer = client.post(f"/api/games/{name}", {"format": "fiveup-study", "record": {}})
        assert answer.status_code in {404, 400}
    bodies: list[dict[str, Any]] = [{}, {"format": "fiveup-study"}, {"record": {}}]
    for body in bodies:
        answer = client.post("/api/games/a", body)
        assert answer.status_code == 400
        assert "fiveup-study" in answer.json()["error"]
    for method, path in (("GET", "/nothing"), ("POST", "/"), ("GET", "/../server.py")):
        answer = client.request(method, path, json={})
        assert answer.status_code in {404, 405}
        assert "there is nothing for" in answer.json()["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # from what is not a browser
        ({"origin": "null"}, 403),
        ({"origin": "https://example.org"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "example.org"}, 421),
        ({"content-type": "text/plain"}, 415),
        ({"origin": BASE}, 200),
        ({"origin": "http://127.0.0.1", "host": "127.0.0.1"}, 200),  # port 80 is not named
        ({"origin": "https://localhost", "host": "localhost"}, 200),  # nor is 443
        ({"origin": "http://127.0.0.1:8000"}, 403),
    ],
)
def test_posts_from_other_pages_are_refused(
    client: Client, headers: dict[str, str], status: int
) -> None:
    answer = client.post("/api/check", {"spec": "greedy"}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "address", "answered", "refused"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1 LocalHost:80 [::1]:8561", "10.0.0.2 [::1:80 1:80"),
        ("::1", "::1", "[::1]:8561 localhost", "example.org [::2]"),
        ("table.example", "10.0.0.2", "table.example:80 10.0.0.2", "example table.example.org"),
        ("0", "::", "10.0.0.3:80 [2001:db8::7]:80", "example.org 10.0.0.3.example"),
        ("::", "::", "10.0.0.3 [::1]", "example.org:8561 10.0.0.3:80:80 [10.0.0.3]"),
        ("", "::", f"{socket.gethostname()}:80 {socket.gethostname()}.local", "example.org"),
    ],
)
def test_a_server_answers_for_its_own_names_alone(
    host: str, address: str, answered: str, refused: str
) -> None:
    hosts = guard.Hosts.at(host, address)
    assert [name for name in answered.split() if name not in hosts] == []
    assert [name for name in ["", *refused.split()] if name in hosts] == []


# --- The command line


@on_posix
@pytest.mark.parametrize(("number", "host"), [(signal.SIGINT, "127.0.0.1"), (signal.SIGTERM, "0")])
def test_a_table_ends_at_once_whatever_goes_on(number: signal.Signals, host: str) -> None:
    endless = asked(Game(seed=1), spec="pimc:worlds=2000000,playout=partner")  # minutes for a move
    with (
        table_process("--port", "0", "--host", host) as (process, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as web,
        socket.create_connection(("127.0.0.1", port)) as half,
        socket.create_connection(("127.0.0.1", port)) as asking,
    ):
        head = f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length:"
        half.sendall(f"POST /api/ask HTTP/1.1\r\n{head} 99\r\n\r\n{{".encode())
        body = json.dumps(endless)
        asking.sendall(f"POST /api/ask HTTP/1.1\r\n{head} {len(body)}\r\n\r\n{body}".encode())
        for _ in range(3):
            assert web.post("/api/check", json={"spec": "greedy"}).status_code == 200
        assert web.get("/", headers={"host": "example.org"}).status_code == 421
        process.send_signal(number)
        # It takes a tenth of a second; the promise is two, and the rest is for a machine under load.
        assert process.wait(timeout=10) == 0
        assert process.communicate() == ("the table is closed\n", "")


def test_a_port_in_use_is_said_and_the_next_free_one_taken() -> None:
    said: list[str] = []
    with launch.free_socket("127.0.0.1", 0) as taken:
        assert taken.proto == socket.IPPROTO_TCP  # so that answers wait for no acknowledgements
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"):
            launch.free_socket("127.0.0.1", port)
    first = launch.free_socket("127.0.0.1", None, said.append)
    with first, launch.free_socket("127.0.0.1", None, said.append) as second:
        assert second.getsockname()[1] != first.getsockname()[1]
    assert said[-1].startswith("port 8561 is in use; this table takes")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("play --seat 7", "the seat must be from 0 to 3, not 7"),
        ("play --seed -1", "a seed is a whole number"),
        ("play --port 99999 --no-browser", "a port is a number from 0 to 65535"),
        ("play --games damaged.jsonl/x --no-browser", "games cannot be kept in"),
        ("play --static damaged.jsonl/x", "the page cannot be written"),
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
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "fiveup_env.play.launch", raising=False)
    assert main(["play", "--no-browser"]) == 2
    assert "pip install 'fiveup-env[web]'" in capsys.readouterr().err
    assert issubclass(MissingExtraError, ImportError)
