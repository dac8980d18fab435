"""Tables by links: what each seat is sent, and what a page that cheats is refused."""

from __future__ import annotations

import base64
import json
import socket
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import FiveUpError, IllegalMoveError, RequestError, WrongMomentError
from fiveup_env.game.proof import digest_of, fresh_secret, seed_of
from fiveup_env.game.records import game_of
from fiveup_env.play.folder import Folder
from fiveup_env.play.shared_table import Seat, SharedTable, opened, table_of
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import Rules
from tests.support import EVERY_PRESET, before_an_end, hidden_otherwise, label, play_randomly
from tests.web import check_access, served, visitor

if TYPE_CHECKING:
    from collections.abc import Iterator

SETUP: Final = {
    "rules": "five_up",
    "players": 3,
    "target": 5,
    "people": ["Ann", None, "Ben"],
    "levels": ["greedy"] * 3,
}


def table(**changes: Any) -> SharedTable:
    made = opened(SETUP | changes, lambda _spec: None)
    made.deal(5)
    return made


def view_in(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), VIEW).copy()


# --- A table without connections


def test_each_seat_is_sent_its_own_view_of_every_move_and_hands_once_they_are_shown() -> None:
    shared = table()
    assert shared.game is not None
    game, twin = shared.game, Game(shared.rules, seed=5)
    start = [view_in(shared.start(seat) or "") for seat in range(3)]
    assert [v.tobytes() for v in start] == [twin.view(seat).tobytes() for seat in range(3)]
    while not game.is_game_over():
        move = min(map(str, game.legal_moves))
        shared.push(game.turn or 0, shared.made, move, None)
        twin.push(move)
        for seat in range(3):
            (step,) = shared.steps(seat, shared.made - 1)
            hand_ended = twin.hand_over
            assert step.keys() - {"hands", "dealt"} == {"move", "arm", "after"}
            assert ("hands" in step) == hand_ended
            now = str(step.get("dealt", step["after"]))
            assert view_in(now).tobytes() == twin.view(seat).tobytes()
            assert (shared.choices(seat) != []) == (seat == twin.turn)
    assert shared.steps(2) == [*shared.steps(2, 0)]
    assert game_of((shared.file(2) or {})["record"]) == game
    file = shared.file(2)
    shared.gather()
    assert shared.file(2) == file  # also for who was away at the end
    shared.deal(6)
    assert shared.file(2) is None


@pytest.mark.parametrize("rules", EVERY_PRESET[::3], ids=label)
def test_hidden_tiles_change_nothing_that_a_seat_is_sent(rules: Rules) -> None:
    game = before_an_end(rules)
    people = [Seat("greedy", "Ann") for _ in range(rules.players)]
    for seat in range(rules.players):
        sent: list[list[Any]] = []
        for one in (game, hidden_otherwise(game, Random(seat), seat)):
            shared = SharedTable({"rules": rules.name, "players": rules.players}, people)
            shared.rules, shared.game = rules, Game(rules, seed=one.seed, deals=one.deals)
            sent.append([shared.start(seat)])
            for move in game.moves:
                shared.push(shared.turn or 0, shared.made, str(move))
                sent[-1] += [shared.steps(seat), shared.choices(seat), shared.file(seat)]
        assert sent[0] == sent[1]


def test_moves_out_of_turn_twice_unseen_or_not_allowed_change_nothing() -> None:
    shared = table()
    assert shared.game is not None
    turn = shared.game.turn or 0
    move = str(next(iter(shared.game.legal_moves)))
    tries: list[tuple[int, Any, Any, type[FiveUpError]]] = [
        ((turn + 1) % 3, 0, move, WrongMomentError),
        (turn, 1, move, WrongMomentError),
        (turn, None, move, WrongMomentError),
        (turn, 0, "pass", IllegalMoveError),
        (turn, 0, 7, RequestError),
        (turn, 0, "9-9", FiveUpError),
    ]
    for seat, made, given, error in tries:
        with pytest.raises(error):
            shared.push(seat, made, given)
    assert shared.made == 0
    shared.push(turn, 0, move, {"arm": "none"})
    with pytest.raises(WrongMomentError):
        shared.push(turn, 0, move)
    assert shared.arms == [None]


def test_secrets_are_taken_once_all_have_committed_and_fit_what_was_committed_to() -> None:
    shared = opened(SETUP, lambda _spec: None)
    ann, ben = "ann0" * 8, "ben0" * 8
    with pytest.raises(WrongMomentError):
        shared.reveal(0, ann)  # before the digest
    with pytest.raises(RequestError):
        shared.commit(0, "ab")
    assert not shared.commit(0, digest_of(ann))
    with pytest.raises(WrongMomentError):
        shared.commit(0, digest_of(ben))  # another one
    with pytest.raises(WrongMomentError):
        shared.reveal(0, ann)  # before the other has committed
    assert shared.commit(2, digest_of(ben))
    before = shared.digests
    with pytest.raises(RequestError):
        shared.reveal(2, ann)  # a secret chosen after the fact
    assert not shared.reveal(2, ben)
    assert shared.reveal(0, ann)
    assert shared.proof is not None
    assert shared.proof["digests"] == before
    assert shared.game is not None
    assert shared.game.seed == seed_of([shared.proof["secrets"][0], ann, ben])
    with pytest.raises(WrongMomentError):
        shared.gather()  # while the game goes on


def test_a_table_is_kept_and_read_back_in_the_middle_of_a_game() -> None:
    shared = table()
    assert shared.game is not None
    shared.seats[0].claim("k" * 20)
    for move in play_randomly(Game(shared.rules, seed=5), Random(1), 9).moves:
        shared.push(shared.game.turn or 0, shared.made, str(move), 1)
    again = table_of(json.loads(json.dumps(shared.kept())), shared.name)
    assert again.kept() == shared.kept()
    assert again.game == shared.game
    with pytest.raises(RequestError, match="belongs to another browser"):
        again.seats[0].claim("other" * 5)


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": ["five_up"]},
        {"players": 9},
        {"people": [None, None, None]},
        {"people": ["Ann"]},
        {"people": ["x" * 25, None, None]},
        {"people": "Ann"},
        {"people": ["\0Ann", None, None]},
        {"people": ["\u202eAnn", None, None]},  # what follows would be turned around
        {"people": ["\u200d", None, None]},
        {"people": ["A" + 4 * "\u0301", None, None]},  # marks up to the line above
        {"levels": ["greedy", "greedy", 3]},
        {"target": {}},
        {"seed": 7},
        {"deals": []},
        {"name": "five_up"},  # parameters of `Rules.preset`
        {"cls": "five_up"},
    ],
)
def test_a_setup_that_is_not_valid_opens_no_table(changes: dict[str, Any]) -> None:
    with pytest.raises(FiveUpError):
        table(**changes)


@pytest.mark.parametrize(
    "name",
    ["<b>Ben</b>", "Zo\u0308e", "\u05d1\u05df", "\u0646\u200c\u0645", "\U0001f468\u200d\U0001f467"],
)
def test_a_name_is_in_any_language_and_with_single_spaces(name: str) -> None:
    opened = table(people=[f" {name}\u2003\n{name} ", None, None])
    assert opened.seats[0].name == opened.setup["people"][0] == f"{name} {name}"


# --- Over the line


class Browser:
    """A browser at a seat that plays by script."""

    def __init__(self, line: Any, link: object, key: str, **changes: Any) -> None:
        self.line = line
        self.told: dict[str, list[Any]] = {}
        self.made, self.now, self.over = 0, "", False
        self.secret = key + "0" * 20
        sit = {"type": "sit", "version": 1, "view_bytes": VIEW.itemsize, "link": link, "key": key}
        self.say(sit | changes)

    def say(self, message: object) -> None:
        """Send a message."""
        self.line.send(json.dumps(message))

    def hear(self, timeout: float = 60) -> Any:
        """The next message."""
        message = json.loads(self.line.recv(timeout=timeout))
        self.told.setdefault(message["type"], []).append(message)
        if message["type"] == "table":
            self.made, self.now = 0, message["start"] or ""
            if message["start"] is None:
                digest = digest_of(self.secret)
                self.say({"type": "commit", "round": message["round"], "digest": digest})
        elif message["type"] == "reveal":
            self.say({"type": "secret", "round": message["round"], "secret": self.secret})
        for step in message.get("steps", ()):
            self.made, self.now = self.made + 1, step.get("dealt", step["after"])
        if message.get("start", "") is not None:  # before the deal, it is the game before
            self.over = self.over or bool(message.get("file"))
        return message

    def hear_until(self, kind: str) -> Any:
        """The next message of a kind."""
        while (message := self.hear())["type"] != kind:
            pass
        return message

    def moves(self) -> list[str]:
        """The moves that it may make."""
        if not self.now:
            return []
        return [str(MOVES[action]) for action in legal_masks(view_in(self.now))[0].nonzero()[0]]

    def play(self) -> None:
        """Make a move if it is its turn."""
        if moves := self.moves():
            self.say({"type": "move", "made": self.made, "move": moves[0], "arm": None})


def line_to(address: str, origin: str | None) -> Any:
    """A line from a page of some origin, or from what is not a browser."""
    from websockets.sync.client import connect
    from websockets.typing import Origin

    given = None if origin is None else Origin(origin)
    return connect(f"{address.replace('http', 'ws')}/api/seat", origin=given)


@contextmanager
def seated(address: str, *browsers: tuple[object, str]) -> Iterator[list[Browser]]:
    """Browsers that have sat down: links and keys."""
    with ExitStack() as stack:
        lines = [stack.enter_context(line_to(address, address)) for _ in browsers]
        yield [Browser(line, *given) for line, given in zip(lines, browsers, strict=True)]


def hear_until_dealt(*browsers: Browser) -> None:
    """Hear what browsers are sent, and answer, until all have tiles."""
    while not all(browser.now for browser in browsers):
        for browser in browsers:
            with suppress(TimeoutError):
                browser.hear(timeout=0.05)


def play_out(*browsers: Browser) -> None:
    """Play a game to its end."""
    while not all(browser.over for browser in browsers):
        for browser in browsers:
            with suppress(TimeoutError):
                if browser.hear(timeout=0.05)["type"] in {"table", "steps"}:
                    browser.play()


def open_table(address: str, **changes: Any) -> list[Any]:
    import httpx

    answer = httpx.post(f"{address}/api/tables", json=SETUP | changes)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["links"])


KEYS: Final = ["ann" * 8, "cleo" * 6, "ben" * 8]


@pytest.fixture
def lobby() -> Any:
    return pytest.importorskip("fiveup_env.play.lobby", reason="tables by links (no Starlette)")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as address:
        yield address


def test_two_browsers_and_a_level_play_a_whole_game_and_another(address: str) -> None:
    links = open_table(address)
    assert links[1] is None
    with seated(address, (links[0], KEYS[0]), (links[2], KEYS[2])) as (ann, ben):
        assert ann.hear()["start"] is None  # nothing is dealt before all have come
        for _ in range(2):
            play_out(ann, ben)
            assert "refused" not in ann.told | ben.told
            record, other = (b.told["steps"][-1]["file"]["record"] for b in (ann, ben))
            assert record == other
            assert record["proof"]["digests"] == ben.told["reveal"][-1]["digests"]
            assert record["proof"]["secrets"][1:] == [ann.secret, ben.secret]
            assert game_of(record).seed == seed_of(record["proof"]["secrets"])
            for browser in (ann, ben):
                browser.over, browser.now = False, ""
            ann.say({"type": "again"})
        dealt = [next(m for m in b.told["table"] if m["start"]) for b in (ann, ben)]
        hidden = [int(view_in(message["start"])["hand"][0]) for message in dealt]
        assert hidden[0] & hidden[1] == 0


def test_what_a_page_that_cheats_asks_for_is_refused(address: str) -> None:
    links = open_table(address)
    with seated(address, (links[0], KEYS[0]), (links[2], KEYS[2])) as players:
        hear_until_dealt(*players)
        waiting = next(browser for browser in players if not browser.moves())
        turn = players[1 - players.index(waiting)]
        move = (turn.moves() or ["6-6"])[0]
        tries: list[object] = [
            {"type": "move", "made": 0, "move": move, "arm": None},
            {"type": "move", "made": 0, "move": move, "seat": players.index(turn)},
            {"type": "view", "seat": 0},
            {"type": "sit", "link": links[0]},
            {"type": "stand_in", "seat": 0},
            {"type": "stand_in", "seat": 1},
            {"type": "again"},
            {"type": "name", "name": ""},
            {"type": "sign", "sign": 99},
            ["move"],
            "x" * 5000,
        ]
        for message in tries:
            waiting.say(message)
            refused = waiting.hear_until("refused")
            assert refused["error"]
            assert "hands" not in json.dumps(refused)


def test_a_link_belongs_to_the_browser_that_came_first(address: str) -> None:
    links = open_table(address)
    with seated(address, (links[0], KEYS[0])) as (ann,):
        ann.hear_until("table")
        for link, key, status in (
            (links[0], "thief" * 5, 403),
            (links[0], "short", 400),
            (links[2][:-2], KEYS[2], 404),
            (None, KEYS[2], 404),
        ):
            with seated(address, (link, key)) as (thief,):
                told = thief.hear()
                assert (told["type"], told["status"], told["final"]) == ("refused", status, True)
        ann.say({"type": "sign", "sign": 0})
        assert ann.hear_until("sign")["seat"] == 0  # who came first is still there
    with seated(address, (links[0], KEYS[0])) as (again,):
        again.hear_until("table")


def test_a_seat_that_is_opened_twice_stays_with_the_second_tab(address: str) -> None:
    links = open_table(address)
    with seated(address, (links[0], KEYS[0])) as (first,):
        first.hear_until("table")
        with seated(address, (links[0], KEYS[0])):
            refused = first.hear_until("refused")
            assert (refused["status"], refused.get("final")) == (409, True)


def test_a_page_of_another_version_or_another_site_is_refused(address: str) -> None:
    from websockets.exceptions import InvalidStatus

    for own in (address, None):
        with line_to(address, own) as line:
            told = Browser(line, "x", KEYS[0], version=2).hear()
            assert told["status"] == 426
    for other in ("https://example.org", "null", f"{address}0", address.rpartition(":")[0]):
        with pytest.raises(InvalidStatus), line_to(address, other):
            pass


def test_a_level_stands_in_for_who_is_away_and_gives_the_seat_back(tmp_path: Path) -> None:
    from fiveup_env.play.server import Offer

    with served(Offer(folder=Folder(tmp_path))) as address:
        links = open_table(address)
        with seated(address, (links[0], KEYS[0])) as (ann,):
            ann.hear_until("seats")
            ann.say({"type": "stand_in", "seat": 2})
            while not ann.told["table"][-1]["start"]:
                ann.hear()
            ann.play()
            ann.hear_until("steps")
            while not ann.moves():  # a level plays for Ben
                ann.hear()
            with seated(address, (links[2], KEYS[2])) as (ben,):
                seats = ben.hear_until("seats")["seats"]
                assert [seat["stands_in"] for seat in seats] == [False, False, False]
                made = ben.made
            assert made
    with (  # after a restart
        served(Offer(folder=Folder(tmp_path))) as address,
        seated(address, (links[0], KEYS[0]), (links[2], KEYS[2])) as (ann, ben),
    ):
        for browser in (ann, ben):
            browser.hear_until("table")
            assert browser.made >= made
            browser.play()
        play_out(ann, ben)


def test_who_comes_back_before_the_deal_begins_no_other_round(address: str) -> None:
    links = open_table(address, people=["Ann", "Cleo", "Ben"])
    with seated(address, (links[0], KEYS[0])) as (ann,):
        for asked in ({"type": "stand_in", "seat": 2}, {"type": "again"}) * 3:
            ann.say(asked)
        ann.say({"type": "sign", "sign": 0})
        ann.hear_until("sign")
        with seated(address, (links[1], KEYS[1])) as (cleo,):
            for times in range(4):
                if times == 2:  # let all commit, and the others give their secrets
                    for browser in (cleo, ann):
                        browser.hear_until("reveal")
                        browser.say({"type": "sign", "sign": 0})
                        browser.hear_until("sign")
                with seated(address, (links[2], KEYS[2])) as (ben,):
                    told = json.loads(ben.line.recv(timeout=60))
                    assert told["start"] is None
                    digest = digest_of(ben.secret)
                    ben.say({"type": "commit", "round": told["round"], "digest": digest})
            with seated(address, (links[2], KEYS[2])) as (ben,):
                hear_until_dealt(ann, cleo, ben)
        assert {told["round"] for told in ann.told["reveal"]} == {2}  # a level stood in once
        assert not any(seat["stands_in"] for seat in ann.told["table"][-1]["seats"])


def test_a_level_stands_in_for_who_is_here_and_gives_no_secret(
    lobby: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = open_table(address, people=["Ann", "Cleo", "Ben"])
    with seated(address, (links[0], KEYS[0]), (links[2], KEYS[2])) as (ann, ben):
        ben.line.recv(timeout=60)  # and says nothing
        for seat in (1, 2):
            ann.say({"type": "stand_in", "seat": seat})
        assert ann.hear_until("refused")["error"] == "Ben is here"  # he was asked just now
        monkeypatch.setattr(lobby, "PATIENCE", 0)
        ann.say({"type": "stand_in", "seat": 2})
        while not ann.now:
            ann.hear()
        hear_until_dealt(ann, ben)
        assert not any(seat["stands_in"] for seat in ann.told["table"][-1]["seats"][::2])


def test_a_line_that_never_says_who_it_is_ends(
    lobby: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from websockets.exceptions import ConnectionClosed

    monkeypatch.setattr(lobby, "PATIENCE", 0.2)
    with line_to(address, address) as line, pytest.raises(ConnectionClosed):
        line.recv(timeout=60)


def test_a_browser_that_was_dropped_is_away_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fiveup_env.play.launch.PING", 0.3)
    with served() as address, wire_to(address) as (through, lost):
        links = open_table(address)
        with (
            seated(address, (links[0], KEYS[0])) as (ann,),
            seated(through, (links[2], KEYS[2])) as (ben,),
        ):
            hear_until_dealt(ann, ben)
            lost.set()
            ben.say({"type": "sign", "sign": 0})
            while ann.hear_until("seats")["seats"][2]["here"]:
                pass
            ann.say({"type": "stand_in", "seat": 2})
            while not ann.hear_until("seats")["seats"][2]["stands_in"]:
                pass


def test_names_that_change_all_the_time_are_told_and_kept_now_and_then(
    lobby: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fiveup_env.play.server import Offer

    def write(path: Path, content: bytes) -> None:
        written.append(content)
        written_to(path, content)

    written: list[bytes] = []
    written_to = lobby.write_atomic
    monkeypatch.setattr(lobby, "write_atomic", write)
    with served(Offer(folder=Folder(tmp_path))) as address:
        links = open_table(address)
        with seated(address, (links[0], KEYS[0])) as (ann,):
            began = monotonic()
            for number in range(40):
                ann.say({"type": "name", "name": f"Ann {number}"})
            while ann.hear_until("seats")["seats"][0]["name"] != "Ann 39":
                pass
            took = monotonic() - began
            assert took > 39 * lobby.PAUSE
            assert len(ann.told["seats"]) <= 2 + took / lobby.SOON
            ann.say({"type": "name", "name": "Ann 39"})
            ann.hear_until("seats")  # the same once more, and nothing to write
        assert len(written) <= 3 + took / lobby.SOON
        assert b"Ann 39" in written[-1]
        assert b"Ann 39" not in written[-2]


def test_a_table_that_had_to_go_is_not_written_again(
    lobby: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fiveup_env.play.server import Offer

    monkeypatch.setattr(lobby, "MOST_TABLES", 1)
    with served(Offer(folder=Folder(tmp_path))) as address:
        links = open_table(address)
        with seated(address, (links[0], KEYS[0])) as (ann,):
            ann.hear_until("seats")
            ann.say({"type": "name", "name": "Anna"})
            ann.say({"type": "sign", "sign": 0})
            ann.hear_until("sign")  # the name is kept only later
        (first,) = (tmp_path / "tables").iterdir()
        while True:
            with suppress(AssertionError):  # until the line has ended
                open_table(address)
                break
        sleep(2 * lobby.SOON)
        (second,) = (tmp_path / "tables").iterdir()
        assert second != first


@pytest.mark.parametrize("name", ["x" * 1_000_000, " " * 1_000_000 + "Ann"])
def test_what_is_too_long_is_refused(address: str, name: str) -> None:
    import httpx

    answer = httpx.post(f"{address}/api/tables", json=SETUP | {"people": [name, None, None]})
    assert answer.status_code == 413
    assert len(answer.json()["error"]) < 100


# --- The page


@contextmanager
def at_a_table(
    browser: Any, address: str, *names: str, through: str = ""
) -> Iterator[tuple[list[Any], list[list[Any]]]]:
    """The pages of people at a table by links, who never complain, and what each is sent.

    The first opens the table; the last may reach it `through` another address.
    """
    with ExitStack() as stack:
        looks = [("laptop", "light"), *[("phone", "dark")] * (len(names) - 1)]
        visits = [
            stack.enter_context(visitor(browser, size, color_scheme=scheme))
            for size, scheme in looks
        ]
        (host, *others), heard = [page for page, _ in visits], list(map(heard_by, visits))
        host.goto(address)
        host.click("#fresh")
        host.select_option("#players", str(len(names)))
        host.fill("#target", "2")
        host.click("#dialog summary >> nth=0")
        for seat, name in enumerate(names):
            host.fill(f"#person-{seat}", name)
        host.click("#dialog-menu button[value=links]")
        host.wait_for_selector("#dialog li >> nth=1")
        check_access(host)
        own = host.evaluate("location.hash").removeprefix("#seat=")
        links = json.loads(host.evaluate(f"localStorage['fiveup:links:{own}']"))
        for page, link in zip(others, links[1:], strict=True):
            page.goto(f"{through if through and page is others[-1] else address}/#seat={link}")
        for page in (host, *others):
            page.wait_for_selector("#company:visible")
        yield [host, *others], heard
        assert not [complaint for _, complaints in visits for complaint in complaints]


def heard_by(visit: tuple[Any, list[str]]) -> list[Any]:
    """The messages that a page is sent over its lines."""
    messages: list[Any] = []

    def listen(line: Any) -> None:
        line.on("framereceived", lambda text: messages.append(json.loads(text)))

    visit[0].on("websocket", listen)
    return messages


@contextmanager
def wire_to(address: str) -> Iterator[tuple[str, Event]]:
    """An address that leads to another, and an event after which the next message is lost.

    With it all connections are gone, as when a network is: nothing comes, and nobody says goodbye.
    """
    lost, ends, gone = Event(), set[socket.socket](), set[socket.socket]()
    text = (b"\x81", b"\xc1")  # what a frame of text begins with, as it is and compressed

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source:
            while data := source.recv(1 << 16):
                if lost.is_set() and data.startswith(text):
                    lost.clear()
                    gone.update(ends)
                if source not in gone:
                    target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                near, far = listening.accept()[0], socket.create_connection(there)
                ends.update((near, far))
                Thread(target=carry, args=(near, far), daemon=True).start()
                Thread(target=carry, args=(far, near), daemon=True).start()

    there = ("127.0.0.1", int(address.rpartition(":")[2]))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", lost
        listening.shutdown(socket.SHUT_RDWR)


def take_turn(page: Any) -> bool:
    """Do what a page waits for, if anything; return whether it shows the last card of a game."""
    from tests.play.test_browser import play_by_keyboard

    page.wait_for_timeout(50)
    if page.query_selector("#dialog-menu button[value=study]"):
        return True
    if page.query_selector("dialog#dialog[open]"):
        page.click("#dialog-menu button")
    elif page.evaluate("document.body.dataset.state") == "yours":
        play_by_keyboard(page)
    return False


def finish(*pages: Any) -> None:
    """Play a game to its last card."""
    while sum(map(take_turn, pages)) < len(pages):
        pass


def test_two_people_play_by_links_in_their_browsers(browser: Any, address: str) -> None:
    with at_a_table(browser, address, "Ann", "<b>Ben</b>") as ((ann, ben), _):
        assert "<b>Ben</b>" in ann.inner_text("#seats")
        assert ann.inner_text("#proof") == ben.locator("#proof").text_content()
        ben.click("#company")
        check_access(ben)
        ben.click("#dialog li button >> nth=-1")
        ben.fill("#dialog li input", " ")
        ben.click("#dialog li button >> nth=-1")
        ben.wait_for_selector("#dialog-error:has-text('a name has 1 to 24 characters')")
        ben.fill("#dialog li input", "\u05d1\u05df")
        ben.click("#dialog li button >> nth=-1")
        ann.locator("#seats", has_text="\u2068\u05d1\u05df\u2069").wait_for()  # set apart
        assert ben.inner_text("#dialog bdi >> nth=1") == "\u05d1\u05df"
        ben.click(".signs button >> nth=1")
        ann.locator("#said", has_text="Well played!").wait_for()
        ben.reload()  # in the middle of the game
        ben.wait_for_selector("#company:visible")
        finish(ann, ben)
        for page in (ann, ben):
            assert "The deal is proved" in page.inner_text("#dialog-body")
        ben.click("#dialog-menu button[value=study]")
        ben.wait_for_selector("#studying:visible")


def test_who_may_not_sit_is_told_so_until_they_have_read_it(browser: Any, address: str) -> None:
    with (
        at_a_table(browser, address, "Ann", "Ben") as ((_, ben), _),
        visitor(browser) as (stranger, _),
    ):
        tab, link = ben.context.new_page(), ben.url
        stranger.goto(link)
        stranger.wait_for_selector("#dialog[open]:has-text('belongs to another browser')")
        check_access(stranger)
        tab.goto(link)
        tab.wait_for_selector("#company:visible")
        ben.wait_for_selector("#dialog[open]:has-text('open in another tab')")
        tab.wait_for_timeout(1000)
        assert not tab.query_selector("#said.wrong")


def test_four_play_on_after_a_cut_and_a_reload_and_each_is_sent_its_own_hand_alone(
    browser: Any, address: str
) -> None:
    names = ("Ann", "Ben", "Cleo", "Dan")
    with (
        wire_to(address) as (through, lost),
        at_a_table(browser, address, *names, through=through) as (pages, heard),
    ):
        _, ben, _, dan = pages
        while dan.evaluate("document.body.dataset.state") != "yours":
            for page in pages[:3]:
                take_turn(page)
        made = dan.evaluate("document.body.dataset.moves")
        dan.clock.install()
        lost.set()
        for _ in range(2):
            dan.keyboard.press("Enter")  # a move that never comes
        dan.clock.fast_forward(10_000)
        dan.wait_for_selector("#said.wrong:has-text('The line to the table is cut')")
        dan.wait_for_selector("#said:not(.wrong):has-text('You')")
        assert dan.evaluate("document.body.dataset.moves") == made
        take_turn(dan)
        ben.reload()
        ben.wait_for_selector("#company:visible")
        finish(*pages)
        for page in pages:
            assert "The deal is proved" in page.inner_text("#dialog-body")
    record = next(message["file"]["record"] for message in heard[0] if message.get("file"))
    proof, game = record["proof"], game_of(record)
    assert proof["digests"] == list(map(digest_of, proof["secrets"]))
    assert len(proof["secrets"]) == 1 + len(names)
    assert game.seed == seed_of(proof["secrets"])
    for seat, messages in enumerate(heard):
        twin = Game(game.rules, seed=game.seed)
        views, hands = [twin.view(seat).tobytes()], [0]
        for move in game.moves:
            twin.push(move)
            views.append(twin.view(seat).tobytes())
            hands.append(twin.hand_number)
        for message in messages:
            first = message.get("first", 0) + 1
            for k, step in enumerate(message.get("steps", ()), first):
                assert view_in(step.get("dealt", step["after"])).tobytes() == views[k]
                assert ("hands" in step) == (hands[k] > hands[k - 1] or k == len(game.moves))


def test_a_seed_that_the_host_chose_after_the_fact_is_said(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deal(shared: SharedTable, _seed: int, proof: Any) -> None:
        secrets = [fresh_secret(), *proof["secrets"][1:]]
        digests = [digest_of(secrets[0]), *proof["digests"][1:]]
        chosen(shared, seed_of(secrets), {"secrets": secrets, "digests": digests})

    chosen = SharedTable.deal
    monkeypatch.setattr(SharedTable, "deal", deal)
    with at_a_table(browser, address, "Ann", "<b>Ben</b>") as ((ann, ben), _):
        finish(ann, ben)
        for page in (ann, ben):
            assert "The deal does not fit the digests" in page.inner_text("#dialog-body")


def test_a_secret_is_given_for_one_list_of_digests_alone(browser: Any, address: str) -> None:
    def host(line: Any) -> None:
        def answer(text: str) -> None:
            asked = json.loads(text)
            if asked["type"] == "sit":
                told = {"type": "table", "start": None, "round": 1, "digests": [dealer]}
                line.send(json.dumps(told | {"seats": [away, away], "seat": 0}))
            elif asked["type"] == "commit":
                for more in ([], ["0" * 64]):  # one that was made once the secret was known
                    told = {"type": "reveal", "round": 1}
                    line.send(json.dumps(told | {"digests": [dealer, asked["digest"], *more]}))
            else:
                given.append(asked["secret"])

        line.on_message(answer)

    dealer, given = digest_of(fresh_secret()), list[str]()
    away = {"name": "Ann", "here": False, "stands_in": False}
    with visitor(browser) as (page, _):
        page.route_web_socket("**/api/seat", host)
        page.goto(f"{address}/#seat=x")
        page.wait_for_selector("#dialog-error:has-text('does not fit the digests')")
        assert len(given) == 1


def test_a_host_that_begins_a_deal_again_is_reported_and_refused_after_three_times(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deal(shared: SharedTable, seed: int, proof: Any) -> None:
        tables.append(shared)
        if len(tables) in vain:
            shared.gather()
        else:
            dealt(shared, seed, proof)

    tables: list[SharedTable] = []
    vain, dealt = {1, *range(4, 20)}, SharedTable.deal
    monkeypatch.setattr(SharedTable, "deal", deal)
    with at_a_table(browser, address, "Ann", "Ben") as (pages, _):
        for page in pages:
            page.wait_for_selector("#proof:has-text('begun again: 1')", state="attached")
        tables[0].game = None  # a deal that is seen and thrown away
        tables[0].gather()
        for page in pages:
            page.reload()
        for page in pages:
            page.wait_for_selector("#proof:has-text('begun again: 2')", state="attached")
        finish(*pages)
        for page in pages:
            assert "begun again: 2 of at most 3 times" in page.inner_text("#dialog-body")
        pages[0].click("#dialog-menu button[value=again]")
        for page in pages:
            page.wait_for_selector("#dialog[open]:has-text('more than 3 times')")
        assert len(tables) == 7  # the whole game has set the count back
        pages[1].reload()
        pages[1].wait_for_selector("#dialog[open]:has-text('more than 3 times')")
