"""The benchmark: a protocol that stays what it is, cards that repeat, entries that are true."""

from __future__ import annotations

import copy
import json
import math
import shutil
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.arena import workers
from fiveup_env.arena.apart import Apart
from fiveup_env.arena.benchmark import entries, lonely
from fiveup_env.arena.benchmark.card import card_json, card_of, card_text, elo_text
from fiveup_env.arena.benchmark.entries import NOTES, Entry, EntryError, entry_of
from fiveup_env.arena.benchmark.figures import figures_of
from fiveup_env.arena.benchmark.fresh import check_fresh
from fiveup_env.arena.benchmark.meetings import Meeting, meeting_from
from fiveup_env.arena.benchmark.play import meetings_of, play, tournament_of
from fiveup_env.arena.benchmark.protocol import SAMPLE, Mini, read_protocol
from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.games import Played, Task, Terms, all_forfeited
from fiveup_env.arena.ratings import elo, elo_against
from fiveup_env.arena.results import agent_digest
from fiveup_env.arena.workers import Player
from fiveup_env.cli.evaluate import main
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import FiveUpError
from tests.support import Here, install_agents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fiveup_env.arena.benchmark.protocol import Protocol


FULL = read_protocol("fiveup-v1")
TEXT = read_protocol("fiveup-text-v1")
PINNED = {
    "fiveup-v1": "c29fa354c73adbedd2a73891b2c8b7c1",
    "fiveup-text-v1": "9d1b83678b3e926c6bec025458ce638d",
}
# The same tasks with few deals and a panel that is quick.
SMALL = replace(
    FULL,
    panel=("greedy", "partner"),
    weights={},
    move_limit=math.inf,
    chunk=4,
    judge="pimc:worlds=4,playout=greedy",
    judge_every=2,
    tasks=tuple(
        replace(task, quick=6, full=8, elo=task.elo[:2])
        for task in (FULL.task("two"), FULL.task("three"))
    ),
    minis=(Mini("mini-2", 2, times=5, quick=True),),
)
NOTED = {name: f"some {name}" for name in NOTES}


AGENTS = '''
"""Agents of another package that do what they should not."""

import os
import sys
import time
from dataclasses import dataclass

import numpy as np

from fiveup_env import legal_masks


@dataclass(frozen=True)
class Faulty:
    """Does what its option says."""

    how: str = "illegal"

    def __call__(self, views, rng):
        if self.how == "slow":
            time.sleep(0.5 * len(views))
        if self.how == "silent" and views["public"]["plies"].any():
            time.sleep(600)
        if self.how == "infinite":
            return np.full(len(views), np.nan)
        if self.how == "illegal":
            return (legal_masks(views) == 0).argmax(1)
        if self.how == "ends" and views["public"]["plies"].any():
            os._exit(3)
        if self.how == "raises":
            raise RuntimeError("no idea")
        return legal_masks(views).argmax(1)


@dataclass(frozen=True)
class Spy:
    """Chooses the action whose number is the games that it finds in the frames above it."""

    def __call__(self, views, rng):
        frame, found = sys._getframe(), 0
        while frame := frame.f_back:
            held = [getattr(one, "games", one) for one in frame.f_locals.values()]
            kinds = [one.dtype.names or () for one in held if isinstance(one, np.ndarray)]
            found += sum("hands" in names for names in kinds)
        return np.full(len(views), found)
'''


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers these agents through entry points."""
    install_agents(tmp_path, "strange", AGENTS, "Faulty", "Spy")
    monkeypatch.syspath_prepend(tmp_path)


def keep_here(patch: pytest.MonkeyPatch) -> None:
    """Let agents play in this process that would play apart."""
    for place in ("games", "workers"):
        patch.setattr(f"fiveup_env.arena.{place}.Apart", Here)


def card(spec: str, folder: Path | None = None, cores: int = 1, **how: Any) -> dict[str, Any]:
    """Return the quick card of an agent by the small protocol, without what never repeats."""
    quick = how.get("quick", True)
    with pytest.MonkeyPatch.context() as patch:
        if cores == 1 and how.get("here", True):
            keep_here(patch)
        outcomes = list(play(SMALL, spec, cores, folder, quick=quick))
    minis = list(lonely.rows_of(spec, SMALL.minis))
    made = card_of(SMALL, spec, outcomes, None, minis, quick=quick)
    made["cost"] |= {"seconds_per_move": 1e-6, "machine": "", "software": ""}
    return made


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what is played for the card `defensive`."""
    folder: Path = tmp_path_factory.mktemp("results")
    return folder


@pytest.fixture(scope="module")
def defensive(results: Path) -> dict[str, Any]:
    """Return the card of an agent that is not on the panel."""
    return card("defensive", results)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small protocol the one that entries name."""
    monkeypatch.setattr(entries, "read_protocol", lambda _: SMALL)


# --- The protocol


@pytest.mark.parametrize("protocol", [FULL, TEXT], ids=PINNED)
def test_a_protocol_is_what_it_was_when_it_was_published(protocol: Protocol) -> None:
    assert protocol.digest == PINNED[protocol.name]
    protocol.check()


def test_deals_are_reached_by_no_stream_and_overlap_nowhere() -> None:
    tasks = [task for protocol in (FULL, TEXT) for task in protocol.tasks]
    ranges = sorted((task.first - SAMPLE, task.first + task.full) for task in tasks)
    assert all(end < start for (_, end), (start, _) in pairwise(ranges))
    assert ranges[-1][1] < FIRST_OF_STREAMS


def test_code_that_plays_otherwise_is_refused_by_what_differs() -> None:
    task = SMALL.tasks[0]
    wrong_fields = replace(task, fields={**task.fields, "multiple": 7})
    wrong_moves = replace(task, sample={**task.sample, "greedy": "0"})
    other_words = replace(TEXT.tasks[0], text="words=quarry")
    for protocol, what in [
        (replace(SMALL, tasks=(wrong_fields,)), "greedy is not the same in the task two"),
        (replace(SMALL, tasks=(wrong_moves,)), "greedy is not the same in the task two"),
        (replace(FULL, weights={"policy:partners": "0"}), "policy:partners has the digest"),
        (replace(TEXT, tasks=(other_words,)), "text is not the same in the task five-up"),
    ]:
        with pytest.raises(ArenaError, match=f"does not play {protocol.name}: .*{what}"):
            protocol.check()


def test_an_unknown_protocol_or_task_names_the_nearest() -> None:
    with pytest.raises(ArenaError, match="did you mean 'fiveup-v1'"):
        read_protocol("fiveup-v2")
    with pytest.raises(ArenaError, match="did you mean 'partners'"):
        FULL.task("partner")


# --- Figures


@pytest.mark.parametrize("sides", [2, 3])
def test_a_rating_against_known_ones_is_the_one_that_fits_them_all_at_once(sides: int) -> None:
    # Two agents that met: with the second held where the common fit puts it, the first is there too.
    alone = np.array([[np.nan, 0.7], [0.2, np.nan]])
    if sides == 2:
        alone[1, 0] = np.nan
    fitted = elo(alone, 100, sides)
    shares, ways = (
        (np.array([0.7, 0.2]), [True, False]) if sides == 3 else (np.array([0.7]), [True])
    )
    known = np.full(len(shares), fitted[1])
    found = elo_against(shares, known, np.array(ways), 100, sides)
    assert found == pytest.approx(fitted[0])


def test_an_agent_that_never_wins_or_never_loses_has_a_finite_rating() -> None:
    known, alone = np.array([-300.0, 300.0]), np.array([True, True])
    lost, won = elo_against(np.array([[0.0, 0.0], [1.0, 1.0]]), known, alone, 200)
    assert -1500 < lost < -300
    assert 300 < won < 1500
    assert lost == pytest.approx(-won)


def test_an_agent_of_the_panel_is_even_with_itself() -> None:
    with pytest.MonkeyPatch.context() as patch:
        keep_here(patch)
        outcomes = list(play(SMALL, "greedy", 1, quick=True))
    figures = figures_of(
        SMALL,
        {task.name: meetings_of(SMALL, task, "greedy", outcome) for task, outcome in outcomes},
    )
    # With three sides both ways are the same games, so that this holds on every deal.
    itself = figures["tasks"][1]["win_rates"]["greedy"]
    assert itself["value"] == 0.5
    assert sum(itself["interval"]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("won", [0, 1])
def test_a_card_has_no_bound_beyond_games_that_were_all_won_or_all_lost(won: int) -> None:
    figures = figures_of(
        SMALL,
        {
            task.name: [
                Meeting(
                    rival,
                    alone,
                    wins=np.full((8, task.rules.sides), float(won if alone else 1 - won)),
                    judged=np.zeros((1, 3)),
                    forfeits=(0, 0),
                    fault="",
                )
                for rival in SMALL.panel
                for alone in ((True,) if task.rules.sides == 2 else (True, False))
            ]
            for task in SMALL.tasks
        },
    )
    for rating in (figures["score"], *(row["elo"] for row in figures["tasks"])):
        assert rating["interval"][won] is None
        assert rating["interval"][1 - won] is not None
        assert ("<", ">")[won] in elo_text(rating)


# --- Cards


def test_a_card_is_the_same_on_two_cores_and_from_what_was_kept(
    defensive: dict[str, Any], results: Path, tmp_path: Path
) -> None:
    assert card("defensive", tmp_path, cores=2) == defensive
    assert card("defensive", results) == defensive


def test_agents_that_play_apart_share_no_games_in_a_folder(tmp_path: Path) -> None:
    chunks = 0

    def playing(tasks: Iterable[Task], terms: Terms, _: int) -> Iterator[tuple[Task, Played]]:
        nonlocal chunks
        for task in tasks:
            chunks += 1
            yield task, all_forfeited(terms, task.deals, 0, "it is quicker")

    for wanted in (True, False):  # both are on the panel, and meet each other
        for spec in SMALL.panel:
            before = chunks
            list(play(SMALL, spec, 1, tmp_path, playing, quick=True))
            assert chunks - before == wanted * sum(
                len(tournament_of(SMALL, task, spec, task.quick).tasks) for task in SMALL.tasks
            )


def test_the_full_card_continues_the_quick_one(
    defensive: dict[str, Any], results: Path, tmp_path: Path
) -> None:
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    full = card("defensive", tmp_path, quick=False)
    assert full == card("defensive", quick=False)
    for name, meetings in full["meetings"].items():
        for long, short in zip(meetings, defensive["meetings"][name], strict=True):
            whole = len(short["games"]) // 6 * 4  # the second chunk of the quick card is shorter
            assert long["games"][:whole] == short["games"][:whole]


def test_a_meeting_is_read_as_it_was_written(defensive: dict[str, Any]) -> None:
    for task in SMALL.tasks:
        for kept in defensive["meetings"][task.name]:
            assert meeting_from(kept, task.rules).to_json() == kept


def test_a_card_and_its_page_show_the_figures(defensive: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="pages of the arena (no matplotlib)")
    from fiveup_env.arena.benchmark.page import card_page

    usage = {"usage": {"three": {"answers": 7, "tokens": 4321}}}
    of_model = defensive | {"cost": defensive["cost"] | usage}
    value = f"{defensive['score']['value']:+.0f}"
    for shown in (card_text(of_model), card_page(of_model, SMALL)):
        assert value in shown
        assert "4,321" in shown
        assert "mini-2" in shown
        assert "three" in shown
    assert json.loads(card_json(defensive)) == defensive


@pytest.mark.usefixtures("strangers")
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("slow", "seconds a decision; 0.2 are allowed"),
        ("silent", "did not respond"),
        ("infinite", "returned NaN of float64"),
        ("illegal", "made an illegal move"),
        ("raises", "RuntimeError: no idea"),
        ("ends", "ended its process"),
    ],
)
def test_an_agent_at_fault_forfeits_and_the_card_says_why(
    how: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = f"faulty:{how}"
    few = replace(
        SMALL,
        panel=("greedy",),
        move_limit=0.2,
        tasks=tuple(replace(task, quick=1, elo=task.elo[:1]) for task in SMALL.tasks[:1]),
    )
    monkeypatch.setattr(workers, "GRACE", 1.0)
    ((task, outcome),) = play(few, spec, 1, quick=True)
    made = card_of(few, spec, [(task, outcome)], None, [], quick=True)
    assert made["forfeits"] == 2
    assert f"{spec} forfeited games (two): it " in card_text(made)
    assert why in card_text(made)


@pytest.mark.usefixtures("strangers")
def test_nash_conv_is_exact_where_it_can_be_and_says_where_it_is_not() -> None:
    rows = {
        spec: next(lonely.rows_of(spec, SMALL.minis)) for spec in ("student", "random", "greedy")
    }
    assert [row["exact"] for row in rows.values()] == [True, True, False]
    assert rows["random"]["of_random"] == pytest.approx(1)
    assert all(row["nash_conv"] > 0 for row in rows.values())
    (broken,) = lonely.rows_of("faulty:raises", SMALL.minis)
    assert broken["nash_conv"] is None
    assert broken["fault"] == "raised RuntimeError: no idea"


def test_an_agent_that_takes_long_over_a_mini_game_says_that_it_responds() -> None:
    told: list[str] = []
    (row,) = lonely.rows_of("greedy", SMALL.minis, lambda: told.append("greedy"))
    assert len(told) == lonely.ASKED + SMALL.minis[0].times
    assert lonely.measure(SMALL, "greedy", quick=True)[1] == [row]


# --- Language models


def card_of_model(model: str, folder: Path, text: str = "") -> dict[str, Any]:
    """Return the card of a scripted model in two deals of one task, whose options are changed."""
    task = replace(TEXT.tasks[0], quick=2, elo=(0.0,))
    task = replace(task, text=f"{task.text}{text}")
    few = replace(TEXT, panel=("greedy",), judge=SMALL.judge, move_limit=math.inf, tasks=(task,))
    spec = f"text:tests.doors.test_text_agent:{model}"
    list(play(few, spec, 1, folder, quick=True))
    outcomes = list(play(few, spec, 1, folder, quick=True))  # as it was kept
    assert lonely.measure(few, spec, quick=True) == (None, [])
    return card_of(few, spec, outcomes, None, [], quick=True)


def test_a_language_model_is_measured_in_any_words_with_its_answers_and_tokens(
    tmp_path: Path,
) -> None:
    made = card_of_model("last", tmp_path / "plain")
    (usage,) = made["cost"]["usage"].values()
    assert usage == {"answers": usage["answers"], "tokens": 5 * usage["answers"]}
    assert made["forfeits"] == 0
    assert made["error_rate"]["value"] > 0
    assert f"{usage['tokens']:,}" in card_text(made)
    assert "NashConv" not in card_text(made)
    other = card_of_model("last", tmp_path / "quarry", ",words=quarry")
    assert other["meetings"] == made["meetings"]


def test_a_language_model_that_names_no_move_forfeits_and_its_answers_are_counted(
    tmp_path: Path,
) -> None:
    made = card_of_model("mute", tmp_path, ",tries=2")
    assert made["cost"]["usage"] == {"five-up": {"answers": 8, "unreadable": 8}}
    assert made["forfeits"] == 4
    assert "100.0" in card_text(made)


# --- Agents that look where they should not


def test_an_agent_apart_plays_as_it_does_here() -> None:
    task, pair = SMALL.tasks[0], ("student", "greedy")
    apart = Player(SMALL.terms(task, "student")).play(Task(pair, task.first, 4))
    here = Player(replace(SMALL.terms(task, "student"), apart=None))
    assert (here.play(Task(pair, task.first, 4)).scores == apart.scores).all()


def test_the_agent_of_a_card_is_judged_alone() -> None:
    task = SMALL.tasks[0]
    player = Player(SMALL.terms(task, "defensive"))
    judged = player.play(Task(("defensive", "greedy"), task.first, 2)).judged
    assert judged[0, 0, 0] > 0
    assert not judged[:, 1].any()


@pytest.mark.usefixtures("strangers")
def test_an_agent_that_walks_up_the_frames_finds_no_game() -> None:
    task, found = Task(("spy", "greedy"), 1, 1), {}
    for apart in (None, "spy"):
        player = Player(Terms(SMALL.tasks[0].rules, forfeit=True, apart=apart))
        found[apart] = player.play(task).faults[0]
    # Beside the games it finds some, and none where it is asked apart from them: action 0 is a play.
    assert found[None] != found["spy"]
    views = Game(seed=1).view()
    (part,) = Apart("spy").start(np.array([[True]]))
    assert part(views, np.random.default_rng(0)).tolist() == [0]


@pytest.mark.usefixtures("strangers")
def test_an_agent_whose_process_ended_is_made_anew_for_the_next_chunk() -> None:
    player = Player(Terms(SMALL.tasks[0].rules, "hand", forfeit=True, apart="faulty:ends"))
    for first in (1, 3):
        played = player.play(Task(("faulty:ends", "greedy"), first, 2))
        assert (played.forfeits == 0).all()
        assert "ended its process" in played.faults[0]
    assert player.play(Task(("faulty:ends", "greedy"), 5, 1)).decisions[0] > 0


def test_the_process_of_an_agent_ends_with_it() -> None:
    (part,) = Apart("greedy").start(np.array([[True]]))
    process = part._process
    del part
    assert process.returncode is not None


# --- Entries


@pytest.mark.usefixtures("small")
def test_a_true_entry_is_accepted(defensive: dict[str, Any]) -> None:
    entry = Entry(entry_of(defensive, NOTED))
    entry.check_figures()
    entry.check_agent()
    entry.check_minis()
    assert entry.replay(3, seed=1) == 3


def changed(entry: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of an entry with another value in one place."""
    copied = copy.deepcopy(entry)
    *way, last = [int(one) if one.isdigit() else one for one in path.split("/")]
    part: Any = copied
    for one in way:
        part = part[one]
    part[last] = value
    return copied


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("format", "fiveup-card", "format is 'fiveup-card'"),
        ("authors", " ", "authors is ' '"),
        ("card", None, "card is None"),
        ("card/version", 2, "card.version is 2"),
        ("card/protocol_digest", "0", "card.protocol_digest is '0'"),
        ("card/quick", 1, "card.quick is 1"),
        ("card/score/value", 500.0, "card.score.value is 500.0, but the games give"),
        ("card/score/interval/0", -1.0, r"card.score.interval\[0\] is -1.0"),
        ("card/tasks/1/elo/value", 0.0, r"card.tasks\[1\].elo.value is 0.0"),
        ("card/tasks/0/deals", 600, r"card.tasks\[0\].deals is 600"),
        ("card/tasks/0/win_rates/greedy/value", 1.0, r"card.tasks\[0\].win_rates.greedy.value"),
        ("card/error_rate/value", 0.0, "card.error_rate.value is 0.0"),
        ("card/forfeits", 1, "card.forfeits is 1"),
        ("card/cost/megabytes", float("nan"), "card.cost.megabytes is nan"),
        ("card/cost", {"megabytes": 1.0}, "card.cost.seconds_per_move is 'missing'"),
        ("card/meetings/two", [], "card.meetings.two has 0 meetings, not 2"),
        ("card/meetings/tow", [], "there is no task of fiveup-v1 'tow' \\(did you mean 'two'"),
        ("card/meetings/two/0/rival", "partner", r"card.meetings.two\[0\].rival is 'partner'"),
        ("card/meetings/two/0/games", "11", r"card.meetings.two\[0\].games has 2 games, not 12"),
        ("card/meetings/two/0/games", "11111111111x", r"games\[11\] is 'x', not one of 012"),
        ("card/meetings/two/0/judged", [[1, 2]], r"card.meetings.two\[0\].judged is not 3 rows"),
        (
            "card/meetings/two/0/judged",
            [[1, 2, 10**400]] * 3,
            r"card.meetings.two\[0\].judged is not 3 rows",
        ),
        ("card/meetings/two/0/forfeits", [0], r"card.meetings.two\[0\].forfeits is \[0\]"),
        ("card/meetings/two/0/fault", "x", r"two\[0\].fault is 'x', with 0 forfeited games"),
        ("card/agent_digest", "0", "card.agent_digest is '0'.* stale"),
        ("card/agent", "defensiv", "did you mean 'defensive'"),
        ("card/minis", None, "card.minis is None, not of type list"),
        ("card/minis/0", [], r"card.minis\[0\] is \[\], not an object"),
        ("card/minis/0/exact", 1, r"card.minis\[0\].exact is 1, not of type bool"),
        ("card/minis/0/of_random", None, r"card.minis\[0\].of_random is None, not a number"),
        ("card/minis/0/nash_conv", 0.0, r"card.minis\[0\].nash_conv is 0.0"),
    ],
)
def test_what_was_changed_in_an_entry_is_named(
    path: str, value: object, named: str, defensive: dict[str, Any]
) -> None:
    content = changed(entry_of(defensive, NOTED), path, value)

    def check() -> None:
        entry = Entry(content)
        entry.check_figures()
        entry.check_agent()
        entry.check_minis()

    with pytest.raises(FiveUpError, match=named):
        check()


@pytest.mark.usefixtures("small")
def test_games_that_were_never_played_so_are_found_by_playing_them_again(
    defensive: dict[str, Any],
) -> None:
    forged = copy.deepcopy(defensive)
    for meetings in forged["meetings"].values():
        for meeting in meetings:
            meeting["games"] = "1" * len(meeting["games"])
    kept = Entry(entry_of(forged, NOTED)).meetings
    forged |= figures_of(SMALL, kept)  # the figures are those of the forged games
    entry = Entry(entry_of(forged, NOTED))
    entry.check_figures()
    with pytest.raises(
        EntryError, match=r"card.meetings.\w+\[\d\].games\[\d+\] is '1', but played"
    ):
        entry.replay(1, seed=1)


@pytest.mark.usefixtures("small", "strangers")
def test_forfeits_that_an_entry_does_not_own_up_to_are_found_by_playing_again() -> None:
    made = card("faulty:illegal", here=False)
    Entry(entry_of(made, NOTED), trust=True).replay(1, seed=1)
    for meetings in made["meetings"].values():
        for meeting in meetings:
            meeting |= {"forfeits": [0, 0], "fault": ""}
    hidden = made | figures_of(SMALL, Entry(entry_of(made, NOTED)).meetings)
    entry = Entry(entry_of(hidden, NOTED), trust=True)
    entry.check_figures()
    with pytest.raises(EntryError, match=r"forfeits\[0\] is 0, but .* one chunk alone has \d+"):
        entry.replay(1, seed=1)


@pytest.mark.usefixtures("small", "strangers")
def test_a_file_that_claims_another_agent_is_found_by_playing_again(
    defensive: dict[str, Any],
) -> None:
    claimed = defensive | {"agent": "counter", "agent_digest": agent_digest("counter")}
    entry = Entry(entry_of(claimed, NOTED))
    entry.check_figures()
    entry.check_agent()
    with pytest.raises(EntryError, match="but played again"):
        entry.replay(4, seed=1)


# --- Fresh deals

KNOWING = '''
"""An agent of another package that has learnt deals by heart, and plays well on no others."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fiveup_env.opponents.registry import make_agent

from fiveup_env import legal_masks


@dataclass(frozen=True)
class Knowing:
    """Knows the hands that are dealt to a seat in a file."""

    now: dict = field(default_factory=dict)

    def __call__(self, views, rng):
        known = set(Path(os.environ["KNOWN"]).read_text().split())
        public = views["public"]
        first = (public["hand_number"] == 0) & (public["plies"] < 2) & (views["hand"] != 0)
        if first.any():
            self.now["known"] = any(str(hand) in known for hand in views["hand"][first])
        if self.now["known"]:
            return make_agent("partner")(views, rng)
        return np.array([np.flatnonzero(mask)[-1] for mask in legal_masks(views)])
'''


def test_an_agent_that_knows_the_public_deals_is_refused_and_an_honest_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(FULL.task("two"), quick=40, elo=(0.0,))
    protocol = replace(SMALL, panel=("positional",), tasks=(task,), chunk=40, judge_every=40)
    monkeypatch.setattr(entries, "read_protocol", lambda _: protocol)
    install_agents(tmp_path, "cheats", KNOWING, "Knowing")
    monkeypatch.syspath_prepend(tmp_path)
    games = [Game(task.rules, seed=task.first + k) for k in range(task.quick)]
    hands = {str(hand) for game in games for hand in game.state()["hands"][0].tolist()[:2]}
    (tmp_path / "known").write_text(" ".join(hands))
    monkeypatch.setenv("KNOWN", str(tmp_path / "known"))
    for spec in ("counter", "knowing"):
        outcomes = list(play(protocol, spec, 1, quick=True))
        card_played = card_of(protocol, spec, outcomes, None, [], quick=True)
        entry = Entry(entry_of(card_played, NOTED), trust=True)
        entry.check_figures()
        assert entry.replay(1, seed=1) == 1  # its games are true
        if spec == "counter":
            check_fresh(entry, 40, seed=5)
        else:
            with pytest.raises(EntryError, match="as if it knew the public deals"):
                check_fresh(entry, 40, seed=5)


# --- The command


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--benchmark fiveup", "there is no benchmark 'fiveup' (did you mean 'fiveup-v1'?)"),
        ("--benchmark fiveup-v1 --agents greedy,random", "--benchmark takes one agent, not 2"),
        ("--benchmark fiveup-v1 --agents gredy", "did you mean 'greedy'"),
        ("--benchmark fiveup-v1 --agents greedy --deals 5", "--deals is for fiveup-v1 to decide"),
        ("--quick", "--quick goes with --benchmark"),
    ],
)
def test_what_the_command_refuses(words: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert why in capsys.readouterr().err
