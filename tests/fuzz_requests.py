"""The fuzzer's target at the table: requests of any kind, to a server without a network."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from fiveup_env import Game
from fiveup_env.errors import FiveUpError
from fiveup_env.play.folder import Folder
from fiveup_env.play.server import Offer
from tests.fuzz import mutated_json, mutated_text, some_records
from tests.web import Client, client_of

if TYPE_CHECKING:
    from random import Random

    from tests.fuzz import Target

PATHS: Final = ("ask", "check", "games", "games/a-game", "games/..%2fup")
VIEW: Final = Game(players=2, seed=7).view().tobytes().hex()
BODIES: Final[tuple[dict[str, Any], ...]] = (
    {"spec": "greedy", "view": VIEW, "key": "7"},
    {"spec": "pimc:worlds=4,playout=greedy", "view": VIEW, "key": 7},
    {"spec": "greedi"},
)


def requests(random: Random) -> None:
    """Requests with altered paths, methods, headers and bodies."""
    with tempfile.TemporaryDirectory() as folder, client_of(Offer(folder=Folder(folder))) as client:
        ask(random, client)


def ask(random: Random, client: Client) -> None:
    """Ask for anything; raise what the server says where it refuses."""
    path = "/api/" + random.choice(PATHS)
    if random.random() < 0.2:
        path = "/" + quote(mutated_text(random, path[1:]), safe="/%?&=", errors="replace")
    body: Any = random.choice(BODIES)
    if random.random() < 0.3:
        body = {"format": "fiveup-study", "record": random.choice(some_records())}
    content = mutated_json(random, body)
    headers = {"content-type": random.choice(["application/json"] * 9 + ["text/plain"])}
    method = random.choice(["POST"] * 6 + ["GET", "GET", "PUT"])
    answer = client.request(method, path, content=content, headers=headers)
    assert client.get("/api/games").status_code == 200  # whatever was kept
    if answer.status_code >= 400:
        said = answer.json()["error"]
        assert answer.status_code < 500, said
        assert said, answer.status_code
        assert "\n" not in said, said
        raise FiveUpError(said)


TARGETS: Final[dict[str, Target]] = {"requests": requests}
