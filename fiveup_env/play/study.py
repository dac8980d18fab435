"""A recorded game, judged: as data for the page, as one self-contained file, and as JSON."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fiveup_env.analysis import chances as judged_chances
from fiveup_env.analysis.decisions import Decision, Judgement, decisions_of
from fiveup_env.analysis.luck import HandLuck, luck_of
from fiveup_env.analysis.trials import REFERENCE, Estimate, Trials, checked_reference
from fiveup_env.drawing.replay import embedded_json, moments_of, reach_of, timed_svg
from fiveup_env.drawing.scene import layout_picture, track_picture
from fiveup_env.drawing.words import outcome_line
from fiveup_env.game.records import record_of
from fiveup_env.play.frames import BOARD_WIDTH, LAYOUT, tile_symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game

FORMAT: Final = "fiveup-study"
VERSION: Final = 1
GRAPH_SHARE: Final = 5  # one world of the graph for this many of the reference search


class Study:
    """A game with its verdicts, which `go_on` computes, in another thread if need be."""

    def __init__(
        self, game: Game, reference: str = REFERENCE, names: Sequence[str] | None = None
    ) -> None:
        """Prepare the study of a game; `names` are those of its players, by seat."""
        checked_reference(reference)
        self.game, self.reference = game, reference
        self.names = list(names or (f"seat {seat}" for seat in range(game.rules.players)))
        self.moves = moves_at_moments(game)
        self.total = len(game.moves) + len(list(judged_chances.moments_of(game)))
        self.done = 0
        self.asked = 0.0  # when its page last asked how far it is, by `time.monotonic`
        self.verdicts: Json | None = None
        self._judging = self._judge()

    def go_on(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Judge the game for as long as that is wanted.

        `done` grows up to `total`, then `verdicts` is there.
        """
        while is_wanted() and next(self._judging, None) is not None:
            pass

    def _judge(self) -> Iterator[int]:
        """Judge the game, and yield how much of it is done after every piece."""
        decisions = []
        for decision in decisions_of(self.game, self.reference):
            decisions.append(decision)
            self.done = decision.number
            yield self.done
        worlds = max(4, checked_reference(self.reference).worlds // GRAPH_SHARE)
        trials = Trials(replace(checked_reference(self.reference), worlds=worlds))
        chances: dict[tuple[int, int], list[float]] = {}
        self.done = len(self.game.moves)
        for moment in judged_chances.moments_of(self.game):
            hand = int(moment.state[0]["public"]["hand_number"])
            found = judged_chances.chances_of(moment.state, trials)
            chances[hand, moment.moves] = [round(chance.mean, 4) for chance in found]
            self.done += 1
            yield self.done
        self.verdicts = self._verdicts(Judgement(tuple(decisions)), chances)

    def _verdicts(self, judgement: Judgement, chances: dict[tuple[int, int], list[float]]) -> Json:
        rules = self.game.rules
        made = [(number, moment) for moment, (_, number, made) in enumerate(self.moves) if made]
        return {
            "reference": self.reference,
            "chances": [chances[hand, number] for hand, number, _ in self.moves],
            "decisions": [
                {"moment": next(at for n, at in made if n > decision.number), **_decision(decision)}
                for decision in judgement.decisions
            ],
            "rates": [_rate(judgement, seat) for seat in range(rules.players)],
            "luck": [_luck(hand, rules.sides) for hand in luck_of(self.game)],
        }

    def about(self, *, narrow: bool = False) -> Json:
        """Return the game move by move, with every hand open, and its pictures."""
        rules, moments = self.game.rules, list(moments_of(self.game, LAYOUT[narrow][0]))
        reach = reach_of(snapshot for snapshot, _ in moments)
        extents = [snapshot.placement.extent for snapshot, _ in moments if snapshot.placement]
        columns, rows = LAYOUT[narrow][1]
        least = (
            max([columns, *(extent.width + 2 for extent in extents)]),
            max([rows, *(extent.height + 2 for extent in extents)]),
        )
        felts = [layout_picture(snapshot, least) for snapshot, _ in moments]
        boards = [
            track_picture(replace(snapshot, reach=reach), BOARD_WIDTH[narrow])
            for snapshot, _ in moments
        ]
        return {
            "title": outcome_line(self.game),
            "rules": (rules.name or "custom rules").replace("_", " ").title(),
            "names": self.names,
            "sides": [rules.side_of(seat) for seat in range(rules.players)],
            "felt": timed_svg(felts, "The layout", fluid=False),
            "board": timed_svg(boards, "The scores", fluid=False),
            "moments": [
                {
                    "hand": snapshot.number,
                    "line": line,
                    "move": number,
                    "turn": snapshot.turn,
                    "boneyard": snapshot.boneyard,
                    "hands": [[str(tile) for tile in hand] for hand in snapshot.hands],
                }
                for (snapshot, line), (_, number, _) in zip(moments, self.moves, strict=True)
            ],
        }

    def to_json(self) -> Json:
        """Return the record of the game with its verdicts."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "names": self.names,
            "record": record_of(self.game),
            "verdicts": self.verdicts,
        }

    def to_html(self) -> str:
        """Return the page of the study, which needs no other file and no network."""
        data = {"about": self.about(), "verdicts": self.verdicts}
        style, script = asset("style.css"), asset("page.js") + asset("study.js")
        return study_page(f"<style>\n{style}</style>", f"<script>\n{script}</script>", data)

    def from_here(self, number: int) -> Game:
        """Return the game as it stood after this many moves."""
        game = self.game.copy()
        while len(game.moves) > number:
            game.pop()
        return game


def asset(name: str) -> str:
    """Return a file of the page."""
    return files("fiveup_env.play").joinpath("static", name).read_text("utf-8")


def study_page(style: str, script: str, data: object = None) -> str:
    """Return the page that shows studies, with the elements that bring its style and script."""
    page = asset("study.html")
    for name, content in (
        ("style", style),
        ("script", script),
        ("symbols", tile_symbols()),
        ("data", embedded_json(data)),
    ):
        page = page.replace(f"<!-- {name} -->", content)
    return page


def moves_at_moments(game: Game) -> list[tuple[int, int, bool]]:
    """Return the hand, the number of moves made, and whether one was made just then.

    There is an entry for each moment that `drawing.replay.moments_of` yields.
    """
    return list(_moves_at_moments(game))


def _moves_at_moments(game: Game) -> Iterator[tuple[int, int, bool]]:
    number, optional = 0, game.rules.draw == "optional"
    for hand, recorded in enumerate(record_of(game)["hands"]):
        yield hand, number, False
        for move in recorded["moves"]:
            made = (move["play"] is not None or optional) + optional * len(move["draws"])
            number += made
            yield hand, number, made > 0
        if recorded["ended"]:
            yield hand, number, False
    yield game.hand_number, len(game.moves), False


def _decision(decision: Decision) -> Json:
    return {
        "number": decision.number,
        "seat": decision.seat,
        "move": str(decision.move),
        "best": str(decision.best),
        "chance": _with_interval(decision.chance_lost),
        "points": _with_interval(decision.points_lost),
        "mistake": decision.is_mistake,
        "options": [
            {
                "move": str(option.move),
                "chance": _with_interval(option.chance),
                "points": _with_interval(option.points),
            }
            for option in decision.options
        ],
    }


def _rate(judgement: Judgement, seat: int) -> Json:
    rate = judgement.error_rate(seat)
    return {
        "seat": seat,
        "decisions": rate.decisions,
        "mistakes": len(judgement.mistakes(seat)),
        "chance": _with_interval(rate.chance),
        "points": _with_interval(rate.points),
    }


def _luck(hand: HandLuck, sides: int) -> Json:
    return {
        "hand": hand.hand,
        "luck": [round(hand.luck(side), 4) for side in range(sides)],
        "skill": [round(hand.skill(side), 4) for side in range(sides)],
    }


def _with_interval(estimate: Estimate) -> list[float | None]:
    """Return a mean and the bounds of its 95 % interval, None where there is none."""
    numbers = (estimate.mean, *estimate.interval)
    return [None if number != number else round(number, 4) for number in numbers]  # noqa: PLR0124
