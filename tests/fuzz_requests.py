"""The fuzzer's target at the table: requests of any kind, to a server without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from fiveup_env.errors import FiveUpError
from tests.fuzz import mutated_json, mutated_text, some_records
from tests.web import Client, visitors

if TYPE_CHECKING:
    from random import Random

    from tests.fuzz import Target

PATHS: Final = (
    *("tables", "tables/{table}", "tables/{table}/move", "tables/{table}/undo"),
    *("tables/{table}/again", "tables/{table}/eyes", "tables/{table}/study", "studies"),
    *("studies/{study}", "studies/{study}/verdicts", "studies/{study}/study.json"),
    *("studies/{study}/study.html", "studies/{study}/table", "choices"),
)
BODIES: Final[tuple[dict[str, Any], ...]] = (
    {"rules": "five_up", "players": 2, "seat": 1, "opponents": "greedy,random", "seed": 3},
    {"move": "5-3@5x", "version": 0},
    {"version": 1, "eye": "hidden", "adviser": "pimc:worlds=8,playout=greedy"},
    {"move": 3, "seat": 0, "opponents": "pimc:worlds=4"},
    {"game": 0},
)


def requests(random: Random) -> None:
    """Requests with altered paths, methods, headers and bodies."""
    with visitors() as new_visitor:
        visitor = new_visitor()
        table = visitor.sit_down(players=2)["table"]
        ask(random, visitor, table)


def ask(random: Random, visitor: Client, table: str) -> None:
    """Ask for anything; raise what the server says where it refuses."""
    path = "/api/" + random.choice(PATHS).format(table=table, study="0" * 32)
    if random.random() < 0.2:
        path = "/" + quote(mutated_text(random, path[1:]), safe="/%?&=", errors="replace")
    if random.random() < 0.2:
        body: Any = {"record": random.choice(some_records())}
    else:
        body = random.choice(BODIES)
    content = mutated_json(random, body)
    headers = {"content-type": random.choice(["application/json"] * 9 + ["text/plain"])}
    method = random.choice(["POST"] * 6 + ["GET", "GET", "PUT"])
    answer = visitor.request(method, path, content=content, headers=headers)
    if answer.status_code >= 400:
        said = answer.json()["error"]
        assert answer.status_code < 500, said
        assert said, answer.status_code
        assert "\n" not in said, said
        raise FiveUpError(said)


TARGETS: Final[dict[str, Target]] = {"requests": requests}
