"""The MCP server, driven by the SDK's own client: a whole game, and every refusal in a sentence."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="the server of MCP (no MCP)")

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from fiveup_env import Game, Rules
from fiveup_env.doors.mcp import Seat, server_for
from fiveup_env.game import view_of_line
from fiveup_env.game.records import loads
from fiveup_env.play.table import Setup, Table
from tests.support import EVERY_PRESET, before_an_end, hidden_otherwise, label

SETUP = Setup(rules=Rules.preset(players=2), opponents="greedy", seed=7)
Call: TypeAlias = Callable[..., Awaitable[tuple[str, bool]]]


def at_table(use: Callable[[Call], Awaitable[None]], served: Any = None, **options: Any) -> None:
    """Let a client use a server; `call` returns what a tool says, and whether it refuses."""

    async def run() -> None:
        async with Client(served or server_for(SETUP, **options)) as client:

            async def call(tool: str, **arguments: Any) -> tuple[str, bool]:
                result = await client.call_tool(tool, arguments)
                texts = [part.text for part in result.content if isinstance(part, TextContent)]
                return "\n".join(texts), bool(result.is_error)

            await use(call)

    asyncio.run(run())


def test_a_model_plays_a_game_by_the_tools_which_is_shown_and_kept(tmp_path: Path) -> None:
    shown: list[str] = []
    file = tmp_path / "game.json"

    async def use(call: Call) -> None:
        said = [(await call("start_game", seed=7, rules="five_up_first_to_61"))[0]]
        while "The game is over" not in said[-1]:
            moves, refused = await call("list_moves")
            assert not refused
            answer, refused = await call("play", move=moves.split(":")[0])
            assert not refused
            said.append(answer)
        assert len(said) > 10
        assert (await call("list_moves"))[1]

    at_table(use, show=shown.append, file=file)
    assert any("boneyard" in line for line in shown)
    assert loads(file.read_text()).is_game_over()
    assert sorted(json.loads(file.read_text())["names"]) == ["greedy", "model"]


def test_a_move_is_made_even_if_the_game_cannot_be_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(call: Call) -> None:
        assert not (await call("start_game", opponents="level:3"))[1]
        moves, _ = await call("list_moves")
        assert not (await call("play", move=moves.split(":")[0]))[1]

    at_table(use, file=tmp_path)
    assert "cannot be kept" in caplog.text


def test_a_model_plays_over_standard_input_and_output() -> None:
    async def use(call: Call) -> None:
        assert "Your hand" in (await call("start_game", seed=7))[0]
        assert not (await call("play", move="lead 0-0"))[1]

    words = ["-m", "fiveup_env", "mcp", "--opponents", "greedy"]
    at_table(use, stdio_client(StdioServerParameters(command=sys.executable, args=words)))


def test_the_seat_is_told_what_it_knows_and_wrong_moves_change_nothing() -> None:
    async def use(call: Call) -> None:
        before, _ = await call("start_game", seed=7, seat=0)
        game = Game("five_up", players=2, seed=7)
        assert (view_of_line((await call("position_line"))[0]) == game.view(0)).all()
        assert "arrangement" in (await call("what_is_known"))[0]
        assert "61" in (await call("explain_rules"))[0]
        for move, sentence in (("castle", "is not a move"), ("6-6", "is not allowed")):
            said, refused = await call("play", move=move)
            assert refused
            assert sentence in said
        assert (await call("look"))[0] in before

    at_table(use)


@pytest.mark.parametrize("rules", EVERY_PRESET[::3], ids=label)
def test_hidden_tiles_change_no_word_of_a_tool(rules: Rules) -> None:
    game = before_an_end(rules)
    setup, said = Setup(rules=rules, seat=game.turn or 0, opponents="random"), []
    for one in (game, hidden_otherwise(game, Random(1))):
        seat = Seat(setup, None, None)
        seat._table = Table(setup, one)
        said.append([seat.look(), seat.list_moves(), seat.what_is_known(), seat.position_line()])
    assert said[0] == said[1]


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    async def use(call: Call) -> None:
        refusals: list[tuple[str, dict[str, Any], str]] = [
            ("look", {}, "call start_game"),
            ("play", {"move": "0-0"}, "call start_game"),
            ("start_game", {"rules": "chess"}, "there is no preset 'chess'"),
            ("start_game", {"players": 9}, "there must be 2 to 5 players"),
            ("start_game", {"opponents": "program:sh"}, "'program:sh' is not an agent"),
            ("start_game", {"opponents": "os:getcwd"}, "'os:getcwd' is not an agent"),
            ("start_game", {"seat": 5}, "the seat must be from 0 to 1"),
            ("start_game", {"seed": -5}, "a seed is a whole number"),
        ]
        for tool, arguments, sentence in refusals:
            said, refused = await call(tool, **arguments)
            assert refused
            assert sentence in said

    at_table(use)
