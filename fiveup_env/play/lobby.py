"""All tables by links: who has come, what they say and are sent, and the levels that play.

A browser opens a WebSocket at `/api/seat` and says who it is; every message is a JSON object with
a `type`. All tables live in the loop of the server; only agents think in threads.

    from the browser                      to the browser
    sit      the link and its key         table    all of it, at first and after a new deal
    commit   the digest of a secret       reveal   the digests of all, so that secrets may follow
    secret   the secret                   steps    what the seat saw of the moves since
    move     made, move, arm
    sign     one of a few phrases         seats    who is here, and where levels stand in
    name     another name                 sign     what somebody said
    stand_in let a level play a seat      refused  a sentence and a status
    again    deal another game
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from anyio import fail_after, to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect

from fiveup_env.checks import whole
from fiveup_env.engine.state import VIEW
from fiveup_env.errors import FiveUpError, RequestError, WrongMomentError, shown
from fiveup_env.files import read_plain, write_atomic
from fiveup_env.opponents.levels import USUAL_LEVEL
from fiveup_env.play.guard import object_in
from fiveup_env.play.shared_table import SharedTable, checked_name, opened, table_of
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fiveup_env.files import Json
    from fiveup_env.play.answers import Answers

VERSION: Final = 1  # of these messages
MOST_TABLES: Final = 1000
MOST_WAITING: Final = 500  # messages for a browser that reads none
MOST_CHARACTERS: Final = 4000  # of a message
MOST_BYTES: Final = 1 << 20  # of a table that was kept
PATIENCE: Final = 10.0  # seconds in which a browser says who it is, or gives digest and secret
PAUSE: Final = 0.05  # seconds between two messages that are read from a browser
SOON: Final = 0.5  # seconds between two times that changes of the seats are told and kept
SIGNS: Final = 8


@dataclass(eq=False)
class Guest:
    """A browser at a seat, and what it is still to be sent; None ends the connection."""

    seat: int
    socket: WebSocket
    waiting: asyncio.Queue[Json | None] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))

    def send(self, message: Json | None) -> None:
        """Send a message as soon as the browser reads it; drop a browser that reads none."""
        if self.waiting.full():
            while not self.waiting.empty():
                self.waiting.get_nowait()
            message = None
        self.waiting.put_nowait(message)

    async def deliver(self) -> None:
        """Send what waits, until there is no more to come."""
        with suppress(WebSocketDisconnect, RuntimeError):  # it has gone
            while (message := await self.waiting.get()) is not None:
                await self.socket.send_json(message)
            await self.socket.close()


@dataclass(eq=False)
class Room:
    """A table and the browsers that are at it."""

    table: SharedTable
    guests: dict[int, Guest] = field(default_factory=dict)
    playing: asyncio.Task[None] | None = None
    due: asyncio.TimerHandle | None = None  # changes of the seats, to be told and kept
    settled: float = 0.0  # when that was done last
    kept: str = ""  # what the file of the table holds
    asked: float = 0.0  # when digests were asked for last
    closed: bool = False

    def tell(self, message: Json) -> None:
        """Send everybody a message."""
        for guest in self.guests.values():
            guest.send(message)

    def is_silent(self, seat: int) -> bool:
        """Return whether the deal has waited long enough for a person, here or not."""
        now = asyncio.get_running_loop().time()
        return now >= self.asked + PATIENCE and self.table.awaits(seat)

    def show_all(self) -> None:
        """Send everybody all that their seats may know."""
        for guest in self.guests.values():
            self.show(guest)

    def seats(self) -> list[Json]:
        """Return the public state of the seats."""
        return [
            {
                "name": seat.name,
                "spec": seat.spec,
                "here": k in self.guests,
                "came": bool(seat.owner),
                "silent": self.is_silent(k),
                "stands_in": seat.stands_in,
            }
            for k, seat in enumerate(self.table.seats)
        ]

    def show(self, guest: Guest) -> None:
        """Send a browser all that its seat may know."""
        table, seat = self.table, guest.seat
        content = {"setup": table.setup, "seat": seat, "seats": self.seats()}
        content |= {"start": table.start(seat), **self._news(seat)}
        content |= {"round": table.round, "digests": table.digests}
        guest.send({"type": "table", "table": table.name, **content})

    def show_steps(self, first: int) -> None:
        """Send everybody what they see of the moves from `first` on."""
        for guest in self.guests.values():
            guest.send({"type": "steps", "first": first, **self._news(guest.seat, first)})

    def _news(self, seat: int, first: int = 0) -> Json:
        table = self.table
        content = {"steps": table.steps(seat, first), "choices": table.choices(seat)}
        return content | {"file": table.file(seat)}


class Lobby:
    """The tables of a server, kept in a folder if there is one."""

    def __init__(self, answers: Answers, folder: Path | None) -> None:
        """Open the tables that were kept."""
        self._answers, self._folder = answers, folder
        self._rooms: dict[str, tuple[Room, int]] = {}  # by the link of a seat
        self._kinds: dict[str, Callable[[Room, int, Json], None]] = {
            "move": self._move,
            "commit": self._commit,
            "secret": self._reveal,
            "sign": self._sign,
            "name": self._rename,
            "stand_in": self._stand_in,
            "again": self._again,
        }
        if folder is not None:
            for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime):
                with suppress(OSError, ValueError, TypeError, KeyError):  # it stays as it is
                    content = parse_json(read_plain(path, MOST_BYTES))
                    self._add(table_of(content, path.stem))

    def _add(self, table: SharedTable) -> Room:
        room = Room(table)
        self._rooms |= {s.link: (room, k) for k, s in enumerate(table.seats) if s.name is not None}
        return room

    def rooms(self) -> Iterator[Room]:
        """Yield the rooms, the oldest first."""
        return iter(dict.fromkeys(room for room, _ in self._rooms.values()))

    async def open(self, setup: Json) -> list[str | None]:
        """Open a table; return the link of every person's seat, and None for the others."""
        table = await to_thread.run_sync(opened, setup, self._answers.agent)
        self._make_room()
        self._keep(self._add(table))
        return [seat.link or None for seat in table.seats]

    def _make_room(self) -> None:
        """Close the oldest table without a guest if there are too many."""
        rooms = list(self.rooms())
        if len(rooms) < MOST_TABLES:
            return
        empty = next((room for room in rooms if not room.guests), None)
        if empty is None:
            raise RequestError(f"there are {MOST_TABLES} tables, and no more are opened", 507)
        for seat in empty.table.seats:
            self._rooms.pop(seat.link, None)
        empty.closed = True
        if self._folder is not None:
            (self._folder / f"{empty.table.name}.json").unlink(missing_ok=True)

    def _keep(self, room: Room) -> None:
        """Write a table into the folder, unless it is there as it is."""
        if self._folder is None or room.closed:
            return
        content = json.dumps(room.table.kept(), separators=(",", ":"))
        if content == room.kept:
            return
        try:
            self._folder.mkdir(exist_ok=True)
            write_atomic(self._folder / f"{room.table.name}.json", f"{content}\n".encode())
            room.kept = content
        except OSError as error:
            logging.getLogger(__name__).warning("the table cannot be kept: %s", error)

    def _seats_changed(self, room: Room) -> None:
        """Tell everybody who is here, and keep it: soon, however often browsers come and go."""
        if room.due is None:
            loop = asyncio.get_running_loop()
            room.due = loop.call_at(room.settled + SOON, self._settle, room)

    def _settle(self, room: Room) -> None:
        room.due, room.settled = None, asyncio.get_running_loop().time()
        room.tell({"type": "seats", "seats": room.seats()})
        self._keep(room)

    # Browsers

    async def attend(self, socket: WebSocket) -> None:
        """Serve a browser until it goes."""
        await socket.accept()
        try:
            with fail_after(PATIENCE):
                message = await _message(socket)
            room, seat = self._seated(message)
        except (FiveUpError, WebSocketDisconnect, TimeoutError) as error:
            with suppress(WebSocketDisconnect, RuntimeError):
                if not isinstance(error, TimeoutError):
                    await socket.send_json(_refusal(error) | {"final": True})
                await socket.close()
            return
        guest = Guest(seat, socket)
        writer = asyncio.create_task(guest.deliver())
        if seat in room.guests:
            refused = _refusal(RequestError("this seat went on elsewhere", 409))
            room.guests[seat].send(refused | {"final": True})
            room.guests[seat].send(None)
        room.guests[seat] = guest
        try:
            room.show(guest)
            self._seats_changed(room)
            self._play(room)
            await self._listen(room, guest)
        finally:
            if room.guests.get(seat) is guest:
                del room.guests[seat]
                self._seats_changed(room)
            writer.cancel()

    def _seated(self, message: Json) -> tuple[Room, int]:
        """Return the seat of a browser; raise RequestError if it may not sit."""
        spoken = message.get("type"), message.get("version"), message.get("view_bytes")
        if spoken != ("sit", VERSION, VIEW.itemsize):
            raise RequestError("this page is of another version than the server", 426)
        link = message.get("link")
        if not isinstance(link, str) or link not in self._rooms:
            raise RequestError("this link leads to no table", 404)
        room, seat = self._rooms[link]
        room.table.seats[seat].claim(message.get("key"))
        if room.table.game is not None:  # else the digest says that somebody is back
            room.table.seats[seat].stands_in = False
        return room, seat

    async def _listen(self, room: Room, guest: Guest) -> None:
        """Do what a browser asks for; one that asks without a pause waits, and nobody else."""
        with suppress(WebSocketDisconnect):
            while True:
                await self._answer(room, guest)
                await asyncio.sleep(PAUSE)

    async def _answer(self, room: Room, guest: Guest) -> None:
        """Do what a browser asks for next, or say why not."""
        try:
            self._obey(room, guest, await _message(guest.socket))
        except FiveUpError as error:
            guest.send(_refusal(error))

    def _obey(self, room: Room, guest: Guest, message: Json) -> None:
        """Do what a browser asks for; raise FiveUpError for what it may not."""
        if room.guests.get(guest.seat) is not guest:
            raise RequestError("this seat went on elsewhere", 409)
        kind = message.get("type")
        if not isinstance(kind, str) or kind not in self._kinds:
            raise RequestError(f"{shown(kind)} is not a message of a seat")
        self._kinds[kind](room, guest.seat, message)

    def _move(self, room: Room, seat: int, message: Json) -> None:
        table = room.table
        table.push(seat, message.get("made"), message.get("move"), message.get("arm"))
        room.show_steps(table.made - 1)
        self._go_on(room)

    def _commit(self, room: Room, seat: int, message: Json) -> None:
        table = room.table
        if message.get("round") != table.round:
            return  # somebody is left out or let in meanwhile, and all are asked anew
        given = table.is_committed
        if table.commit(seat, message.get("digest")):
            reveal = {"type": "reveal", "round": table.round, "digests": table.digests}
            if given:
                room.guests[seat].send(reveal)  # it has come back
            else:
                room.tell(reveal)
        self._seats_changed(room)

    def _reveal(self, room: Room, seat: int, message: Json) -> None:
        if message.get("round") != room.table.round:
            return
        if room.table.reveal(seat, message.get("secret")):
            for k in room.guests:
                room.table.seats[k].stands_in = False
            room.show_all()
            self._go_on(room)

    def _sign(self, room: Room, seat: int, message: Json) -> None:
        sign = whole(message.get("sign"), 0, SIGNS - 1)
        if sign is None:
            raise RequestError(f"a sign is a number from 0 to {SIGNS - 1}")
        room.tell({"type": "sign", "seat": seat, "sign": sign})

    def _rename(self, room: Room, seat: int, message: Json) -> None:
        room.table.seats[seat].name = checked_name(message.get("name"))
        self._seats_changed(room)

    def _stand_in(self, room: Room, _seat: int, message: Json) -> None:
        """Let a level play for a person who is away."""
        table, asked = room.table, message.get("seat")
        number = whole(asked, 0, len(table.seats) - 1)
        if number is None or table.seats[number].name is None:
            raise RequestError(f"{shown(asked)} is not the seat of a person")
        if number in room.guests and not room.is_silent(number):
            raise WrongMomentError(f"{table.seats[number].name} is here")
        if table.seats[number].stands_in:
            return
        table.seats[number].stands_in = True
        if table.game is None:
            self._gather(room)
        self._seats_changed(room)
        self._play(room)

    def _again(self, room: Room, _seat: int, _message: Json) -> None:
        if room.table.game is not None:  # else somebody else was faster
            self._gather(room)

    def _gather(self, room: Room) -> None:
        """Ask every browser anew for the digest of a secret."""
        room.table.gather()
        loop = asyncio.get_running_loop()
        room.asked = loop.time()
        loop.call_later(PATIENCE, self._seats_changed, room)  # who is silent
        room.show_all()

    def _go_on(self, room: Room) -> None:
        """Keep the table, and let the levels play."""
        self._keep(room)
        self._play(room)

    # Levels

    def _play(self, room: Room) -> None:
        """Let the levels play, unless they do."""
        if room.playing is None or room.playing.done():
            room.playing = asyncio.create_task(self._play_levels(room))

    async def _play_levels(self, room: Room) -> None:
        """Make the moves of levels up to the turn of a person who plays."""
        table = room.table
        while (seat := table.turn) is not None and not table.seats[seat].is_persons:
            assert table.game is not None
            game, made, spec = table.game, table.made, table.seats[seat].spec
            view, key = game.view().tobytes().hex(), secrets.randbits(63)
            try:
                move = await to_thread.run_sync(self._answers.answer, spec, view, key)
            except FiveUpError as error:
                logging.getLogger(__name__).warning("%s cannot play: %s", spec, error)
                move = await to_thread.run_sync(self._answers.answer, USUAL_LEVEL, view, key)
            if table.game is not game or table.made != made or table.seats[seat].is_persons:
                continue  # the person is back, and may have moved
            table.push(seat, made, move)
            room.show_steps(made)
            self._keep(room)


async def _message(socket: WebSocket) -> dict[str, Any]:
    """Return the next message of a browser; raise RequestError for what is not one."""
    event = await socket.receive()
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", 1000))
    text = event.get("text")
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise RequestError(f"a message is a text of at most {MOST_CHARACTERS:,} characters")
    return object_in(text, "a message")


def _refusal(error: Exception) -> Json:
    return {"type": "refused", "error": str(error), "status": getattr(error, "status", 409)}
