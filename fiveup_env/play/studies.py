"""The routes of studies: open a record, wait for its verdicts, save them, play on from a move."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from anyio import to_thread
from starlette.responses import HTMLResponse, JSONResponse

from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, RequestError, WrongMomentError, shown
from fiveup_env.game.records import game_of
from fiveup_env.play.guard import body_of
from fiveup_env.play.house import House, Visitor, is_narrow, keep, version_in
from fiveup_env.play.study import Study
from fiveup_env.play.table import Setup, Table, setup_of
from fiveup_env.play.tables import state_after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game


PATIENCE: Final = 10.0  # seconds for which a study goes on when nobody asks how far it is


class Studies:
    """The handlers of studies."""

    def __init__(self, house: House) -> None:
        """Serve the studies of a house."""
        self._house = house
        self._jobs: dict[Study, asyncio.Task[None]] = {}

    async def study(self, visitor: Visitor, request: Request) -> Response:
        """Begin the study of a record, or of a game of the file that the command line named."""
        body, games = await body_of(request), self._house.games
        if "game" in body:
            number = whole(body["game"], 0, len(games) - 1)
            if number is None:
                raise RequestError(f"there is no game {shown(body['game'])} of {len(games)}", 404)
            game = games[number]
        else:
            game = await to_thread.run_sync(game_of, body.get("record"))
        return self._begin(visitor, game, None)

    async def study_table(self, visitor: Visitor, request: Request) -> Response:
        """Begin the study of a table's game, which its player gives up if it is not over."""
        table = visitor.table(request.path_params["name"])
        version = version_in(await body_of(request))
        game = await to_thread.run_sync(table.give_up, version)
        agents = iter(table.setup.specs)
        names = [
            "you" if seat == table.setup.seat else next(agents)
            for seat in range(table.setup.rules.players)
        ]
        return self._begin(visitor, game, names)

    def _begin(self, visitor: Visitor, game: Game, names: Sequence[str] | None) -> Response:
        study = Study(game, self._house.reference, names)
        self._go_on(study)
        return JSONResponse({"study": keep(visitor.studies, study)}, 201)

    def _go_on(self, study: Study) -> None:
        """Judge a study in a thread, until its verdicts are there or its page stops asking."""
        study.asked = time.monotonic()
        if study.verdicts is None and study not in self._jobs:
            job = asyncio.ensure_future(
                self._house.think(lambda: study.go_on(lambda: _is_followed(study)))
            )
            self._jobs[study] = job
            job.add_done_callback(lambda _: self._jobs.pop(study))

    async def about(self, visitor: Visitor, request: Request) -> Response:
        """Return the moments of a study, and their pictures."""
        study, narrow = visitor.study(request.path_params["name"]), is_narrow(request)
        return JSONResponse(await to_thread.run_sync(lambda: study.about(narrow=narrow)))

    async def verdicts(self, visitor: Visitor, request: Request) -> Response:
        """Return how far a study is, and its verdicts once they are there.

        A page asks again and again; a study rests when its page is gone, and goes on if it is back.
        """
        study = visitor.study(request.path_params["name"])
        self._go_on(study)
        return JSONResponse({"done": study.done, "total": study.total, "verdicts": study.verdicts})

    async def export_html(self, visitor: Visitor, request: Request) -> Response:
        """Return the study as one page for a file."""
        study = _finished(visitor, request)
        page = await to_thread.run_sync(study.to_html)
        return HTMLResponse(page, headers=_attachment("study.html"))

    async def export_json(self, visitor: Visitor, request: Request) -> Response:
        """Return the study as JSON for a file."""
        study = _finished(visitor, request)
        return JSONResponse(study.to_json(), headers=_attachment("study.json"))

    async def play_from_here(self, visitor: Visitor, request: Request) -> Response:
        """Begin a table with the game of a study as it stood after some moves."""
        study, body = visitor.study(request.path_params["name"]), await body_of(request)
        number = whole(body.get("move"), 0, len(study.game.moves))
        if number is None:
            raise OptionError(
                f"a game is played from one of its moves, not {shown(body.get('move'))}"
            )
        game = study.from_here(number)
        if game.turn is None:
            raise WrongMomentError("the game is over here; go back a move")
        default = Setup(rules=game.rules, seat=game.turn)
        options: Json = {k: body[k] for k in ("seat", "opponents") if k in body}
        setup = setup_of(options, default)
        table, narrow = Table(setup, game), is_narrow(request)
        state = await to_thread.run_sync(state_after, table, Table.start, narrow)
        return JSONResponse({"table": visitor.seat_at(table), **state}, 201)


def _is_followed(study: Study) -> bool:
    return time.monotonic() - study.asked < PATIENCE


def _finished(visitor: Visitor, request: Request) -> Study:
    study = visitor.study(request.path_params["name"])
    if study.verdicts is None:
        raise WrongMomentError("the game is still being judged")
    return study


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
