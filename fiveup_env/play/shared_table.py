"""A table of people at their own browsers: who sits where, the game, and what each seat is sent.

It knows nothing of connections (`lobby` does). Whoever sits at a seat is sent the views of that
seat, and what all hands held once a hand has ended.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import unicodedata
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.engine.state import PLAYING, VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.errors import RequestError, RulesError, WrongMomentError, shown, unknown
from fiveup_env.game.game import Game
from fiveup_env.game.proof import digest_of, fresh_secret, is_secret, seed_of
from fiveup_env.game.records import STUDY_FORMAT, record_of
from fiveup_env.play.table import pushed
from fiveup_env.rules.fields import MAX_PLAYERS, RuleFields, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env.files import Json
    from fiveup_env.game.values import Step
    from fiveup_env.rules.actions import Move

FORMAT: Final = "fiveup-table"
VERSION: Final = 1
NAME_LENGTH: Final = 24
JOINERS: Final = "\u200c\u200d"  # within letters of some languages, and between emoji
DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
MOST_ARMS: Final = 127


@dataclass
class Seat:
    """A seat: the agent that has it or stands in, and the person whose it is."""

    spec: str
    name: str | None = None  # of a person; None where the agent plays
    link: str = ""  # whoever has it may claim the seat
    owner: str = ""  # the digest of the key of the browser that did
    stands_in: bool = False  # whether the agent plays for a person who is away

    @property
    def is_persons(self) -> bool:
        """Whether a person is to move here, and no agent."""
        return self.name is not None and not self.stands_in

    def claim(self, key: object) -> None:
        """Give a browser the seat; raise RequestError if another one has it."""
        if not isinstance(key, str) or not 16 <= len(key) <= 64:
            raise RequestError("a key is a text of 16 to 64 characters")
        digest = hashlib.sha256(key.encode()).hexdigest()
        if self.owner and not secrets.compare_digest(self.owner, digest):
            raise RequestError("this seat belongs to another browser", 403)
        self.owner = digest


class SharedTable:
    """A table: its seats, and one game after the other."""

    def __init__(self, setup: Json, seats: Sequence[Seat], name: str = "") -> None:
        """Open a table for a game of a setup, which `rules_of` has checked."""
        self.name = name or secrets.token_hex(8)
        self.setup, self.seats = setup, list(seats)
        self.rules = rules_of(setup)
        self.game: Game | None = None
        self.arms: list[int | None] = []
        self._steps: list[Step] = []
        self.proof: Json | None = None  # of the deal of this game
        self.round = 0  # of secrets, for which the same people are awaited until the deal
        self._last: Json | None = None  # the file of the game before, until the next is dealt
        self.gather()

    @property
    def turn(self) -> int | None:
        """The seat to move, or None before and after a game."""
        return None if self.game is None else self.game.turn

    @property
    def made(self) -> int:
        """The number of moves that were made."""
        return len(self.arms)

    # The deal: everybody commits to a secret before anybody's is known

    def gather(self) -> None:
        """Begin a round of secrets for the next game; raise WrongMomentError while one goes on."""
        if self.game is not None and not self.game.is_game_over():
            raise WrongMomentError("this game is not over")
        self._last = self._file()
        self.game, self.arms, self.proof, self._steps = None, [], None, []
        self.round += 1
        self.is_committed = False  # whether all digests have come
        self._secret = fresh_secret()
        self._digests: dict[int, str] = {}
        self._secrets: dict[int, str] = {}

    @property
    def digests(self) -> list[str]:
        """The digests of this round so far, the dealer's first."""
        return [digest_of(self._secret), *(self._digests[k] for k in sorted(self._digests))]

    def awaits(self, seat: int) -> bool:
        """Return whether the deal waits for a person: for a digest, or else for a secret."""
        given = self._secrets if self.is_committed else self._digests
        return self.game is None and self.seats[seat].is_persons and seat not in given

    def commit(self, seat: int, digest: object) -> bool:
        """Take the digest of a seat's secret, where a level no longer stands in.

        Returns whether all have come. A browser that comes back gives the same one once more; one
        that comes back after all have come is left out of this deal.
        """
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise RequestError(f"a digest has 64 hexadecimal digits, not {shown(digest)}")
        if self.game is not None or self._digests.get(seat, digest) != digest:
            raise WrongMomentError("no digest is asked for")
        if self.is_committed:
            return seat in self._digests
        self._digests[seat], self.seats[seat].stands_in = digest, False
        self.is_committed = self._is_full(self._digests)
        return self.is_committed

    def reveal(self, seat: int, secret: object) -> bool:
        """Take the secret of a seat, and deal once all have come; return whether they have."""
        if self.game is not None or not self.is_committed:
            raise WrongMomentError("no secret is asked for")
        if not isinstance(secret, str) or not is_secret(secret):
            raise RequestError("a secret has 20 to 64 letters and digits")
        if digest_of(secret) != self._digests.get(seat):
            raise RequestError("this secret does not have the digest that was given for it")
        self._secrets[seat] = secret
        if not self._is_full(self._secrets):
            return False
        given = [self._secret, *(self._secrets[k] for k in sorted(self._secrets))]
        self.deal(seed_of(given), {"digests": self.digests, "secrets": given})
        return True

    def _is_full(self, given: dict[int, str]) -> bool:
        return all(k in given for k, seat in enumerate(self.seats) if seat.is_persons)

    def deal(self, seed: int, proof: Json | None = None) -> None:
        """Begin the game of a seed."""
        self.game, self.arms, self.proof = Game(self.rules, seed=seed), [], proof
        self._steps = []

    def push(self, seat: int, made: object, move: object, arm: object = None) -> None:
        """Make the move of a seat; raise FiveUpError for one that is not allowed, or not now.

        Args:
            seat: Whose move it is.
            made: How many moves the seat has seen: a move that comes twice counts once.
            move: Such as `5-3@5`.
            arm: Of equal ends, the one that was chosen; only pictures show it.
        """
        if self.game is None or self.game.turn != seat:
            raise WrongMomentError(f"seat {seat} is not to move")
        if made != self.made:
            raise WrongMomentError(f"{self.made} moves have been made, not {shown(made)}")
        if not isinstance(move, str):
            raise RequestError(f"a move is a text such as 5-3@5, not {shown(move)}")
        self._steps.append(pushed(self.game, move))
        self.arms.append(whole(arm, 0, MOST_ARMS))

    # What is sent

    def start(self, seat: int) -> str | None:
        """Return a seat's view of the beginning of the game."""
        if self.game is None:
            return None
        return _view(self._steps[0].before if self._steps else self.game.state(), seat)

    def steps(self, seat: int, first: int = 0) -> list[Json]:
        """Return a seat's view of the moves from `first` on."""
        if self.game is None:
            return []
        steps = self._steps[first:]
        following = [*(step.before for step in steps[1:]), self.game.state()]
        return [
            _step(step, following[k], seat, self.arms[first + k]) for k, step in enumerate(steps)
        ]

    def choices(self, seat: int) -> list[Json]:
        """Return the total and the points of each move that a seat may make now."""
        if self.game is None or self.turn != seat:
            return []
        return [_choice(self.game.copy(), move) for move in self.game.legal_moves]

    def file(self, seat: int) -> Json | None:
        """Return the game as a file of the page, for a seat, from its end to the next deal."""
        content = self._last if self.game is None else self._file()
        return content and content | {"seat": seat}

    def _file(self) -> Json | None:
        if self.game is None or not self.game.is_game_over():
            return None
        names = [person.name or person.spec for person in self.seats]
        record = record_of(self.game) | ({} if self.proof is None else {"proof": self.proof})
        return {"format": STUDY_FORMAT, "version": 1, "names": names, "record": record}

    # What is kept

    def kept(self) -> Json:
        """Return the table as JSON, from which `table_of` makes it again."""
        game = self.game and {"seed": str(self.game.seed), "moves": list(map(str, self.game.moves))}
        return {
            "format": FORMAT,
            "version": VERSION,
            "setup": self.setup,
            "seats": list(map(asdict, self.seats)),
            "game": game,
            "arms": self.arms,
            "proof": self.proof,
        }


def table_of(content: Json, name: str) -> SharedTable:
    """Return a table that was kept under a name.

    Raises ValueError, TypeError or KeyError if it is damaged.
    """
    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise ValueError(f"a table is kept as {FORMAT}, version {VERSION}")
    seats = [Seat(**seat) for seat in content["seats"]]
    table = SharedTable(content["setup"], seats, name)
    if content["game"] is not None:
        table.deal(int(content["game"]["seed"]), content["proof"])
        for move, arm in zip(content["game"]["moves"], content["arms"], strict=True):
            table.push(table.turn or 0, table.made, move, arm)
    return table


def opened(setup: Json, check: Callable[[str], object]) -> SharedTable:
    """Return a new table; raise InputError for a setup that is not valid.

    Args:
        setup: As the page has it: `rules`, `players` and fields of the rules; `people`, a name or
            null for each seat; `levels`, the spec of an agent for each.
        check: Called with every spec; raises AgentError for one that may not be named.
    """
    rules = rules_of(setup)
    people, specs = (_texts(setup, field, rules.players) for field in ("people", "levels"))
    for spec in specs:
        check(spec or "")
    names = [None if name is None else checked_name(name) for name in people]
    if not any(names):
        raise RequestError("a table by links needs a person at least")
    setup = setup | {"people": names}
    seats = [
        Seat(spec or "", name, "" if name is None else secrets.token_urlsafe(16))
        for spec, name in zip(specs, names, strict=True)
    ]
    return SharedTable(setup, seats)


def checked_name(name: object) -> str:
    """Return the name of a person, with single spaces; raise RequestError if it is not valid.

    Characters that are not seen could hide or turn around what stands beside them, and more than
    three marks on a letter could cover it.
    """
    if isinstance(name, str) and 0 < len(name := " ".join(name.split())) <= NAME_LENGTH:
        kinds = "".join(unicodedata.category(char)[0] for char in name if char not in JOINERS)
        if kinds and "C" not in kinds and "MMMM" not in kinds:
            return name
    raise RequestError(
        f"a name has 1 to {NAME_LENGTH} characters that can be seen, not {shown(name, ascii)}"
    )


def rules_of(setup: Json) -> Rules:
    """Return the rules of a setup of the page; raise InputError if they are not valid."""
    others = {"rules", "players", "people", "levels"}
    fields: dict[str, Any] = {name: setup[name] for name in setup if name not in others}
    for name in fields.keys() - RuleFields.__annotations__.keys():
        raise RulesError(unknown("rule field", name, RuleFields.__annotations__))
    return Rules.preset(setup.get("rules", ""), setup.get("players", 4), **fields)


def _texts(setup: Json, field: str, count: int) -> list[str | None]:
    texts = setup.get(field)
    if not isinstance(texts, list) or len(texts) != count <= MAX_PLAYERS:
        raise RequestError(f"{field} are a list of {count}, one for each seat, not {shown(texts)}")
    if not all(text is None or isinstance(text, str) for text in texts):
        raise RequestError(f"{field} are texts, not {shown(texts)}")
    return texts


def _view(state: np.ndarray, seat: int) -> str:
    views = np.zeros(1, VIEW)
    observe_at(state, 0, seat, views, 0)
    return base64.b64encode(views.tobytes()).decode()


def _choice(game: Game, move: Move) -> Json:
    step = pushed(game, move)
    return {"move": str(move), "total": step.total, "points": step.points}


def _step(step: Step, following: np.ndarray, seat: int, arm: int | None) -> Json:
    content: Json = {"move": str(step.move), "arm": arm, "after": _view(step.after, seat)}
    if step.after[0]["public"]["phase"] == PLAYING:
        return content
    content["hands"] = step.after[0]["hands"].tolist()
    if following[0]["public"]["phase"] == PLAYING:
        content["dealt"] = _view(following, seat)
    return content
