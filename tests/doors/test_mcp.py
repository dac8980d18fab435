"""The MCP server, driven by the SDK's own client: a whole game, and every refusal in a sentence."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the server of MCP (no MCP)")

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from fiveup_env import Game, Rules
from fiveup_env.doors.mcp import server_for
from fiveup_env.game import view_of_line
from fiveup_env.game.records import loads
from fiveup_env.play.table import Setup

if TYPE_CHECKING:
    from pathlib import Path

SETUP = Setup(rules=Rules.preset(players=2), opponents="greedy", seed=7)
SERVED = StdioServerParameters(
    command=sys.executable, args=["-m", "fiveup_env", "mcp", "--opponents", "greedy"]
)


async def told(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Call a tool; return what it says, and whether it refuses."""
    result = await client.call_tool(tool, arguments)
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent)), bool(
        result.is_error
    )


async def play_a_game(client: Client) -> list[str]:
    """Play the first legal move until the game is over; return what was said."""
    said = [(await told(client, "start_game", seed=7, rules="five_up_first_to_61"))[0]]
    while "The game is over" not in said[-1]:
        moves, refused = await told(client, "list_moves")
        assert not refused
        answer, refused = await told(client, "play", move=moves.split(":")[0])
        assert not refused
        said.append(answer)
    return said


def test_a_model_plays_a_game_by_the_tools() -> None:
    shown: list[str] = []

    async def run() -> None:
        async with Client(server_for(SETUP, shown.append)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert {"start_game", "look", "list_moves", "play", "what_is_known"} <= tools
            said = await play_a_game(client)
            assert len(said) > 10
            assert (await told(client, "list_moves"))[1]

    asyncio.run(run())
    assert any("boneyard" in line for line in shown)


def test_the_game_is_kept_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "game.json"

    async def run() -> None:
        async with Client(server_for(SETUP, file=file)) as client:
            said = await play_a_game(client)
            assert "The game is over" in said[-1]

    asyncio.run(run())
    assert loads(file.read_text()).is_game_over()
    assert sorted(json.loads(file.read_text())["names"]) == ["greedy", "model"]


def test_a_move_is_made_even_if_the_game_cannot_be_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with Client(server_for(SETUP, file=tmp_path)) as client:
            assert not (await told(client, "start_game", opponents="level:3"))[1]
            moves, _ = await told(client, "list_moves")
            assert not (await told(client, "play", move=moves.split(":")[0]))[1]

    asyncio.run(run())
    assert "cannot be kept" in caplog.text


def test_a_model_plays_over_standard_input_and_output() -> None:
    async def run() -> None:
        async with Client(stdio_client(SERVED)) as client:
            assert "Your hand" in (await told(client, "start_game", seed=7))[0]
            assert not (await told(client, "play", move="lead 0-0"))[1]

    asyncio.run(run())


def test_what_is_told_is_what_the_seat_knows() -> None:
    async def run() -> None:
        async with Client(server_for(SETUP)) as client:
            await told(client, "start_game", seed=7, seat=0)
            line, _ = await told(client, "position_line")
            game = Game("five_up", players=2, seed=7)
            assert (view_of_line(line) == game.view(0)).all() or game.lead == 1
            assert "arrangement" in (await told(client, "what_is_known"))[0]
            assert "61" in (await told(client, "explain_rules"))[0]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("look", {}, "call start_game"),
        ("start_game", {"rules": "chess"}, "there is no preset 'chess'"),
        ("start_game", {"players": 9}, "there must be 2 to 5 players"),
        ("start_game", {"opponents": "program:sh"}, "'program:sh' is not an agent"),
        ("start_game", {"opponents": "os:getcwd"}, "'os:getcwd' is not an agent"),
        ("start_game", {"seat": 5}, "the seat must be from 0 to 1"),
        ("start_game", {"seed": -5}, "a seed is a whole number"),
        ("play", {"move": "0-0"}, "call start_game"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async def run() -> None:
        async with Client(server_for(SETUP)) as client:
            said, refused = await told(client, tool, **arguments)
            assert refused
            assert sentence in said

    asyncio.run(run())


def test_a_wrong_move_is_told_and_changes_nothing() -> None:
    async def run() -> None:
        async with Client(server_for(SETUP)) as client:
            before, _ = await told(client, "start_game", seed=7)
            for move, sentence in (("castle", "is not a move"), ("6-6", "is not allowed")):
                said, refused = await told(client, "play", move=move)
                assert refused
                assert sentence in said
            assert (await told(client, "look"))[0] in before

    asyncio.run(run())
