"""The benchmark: a protocol that stays what it is, cards that repeat, entries that are true."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.arena.benchmark import entries, isolated
from fiveup_env.arena.benchmark.card import as_text, card_of, card_text, elo_text
from fiveup_env.arena.benchmark.entries import NOTES, Entry, EntryError, entry_of
from fiveup_env.arena.benchmark.figures import figures_of
from fiveup_env.arena.benchmark.games import Meeting, play, quick_size, tournament_of
from fiveup_env.arena.benchmark.protocol import QUARTER, QUICK, SAMPLE, Mini, read_protocol
from fiveup_env.arena.play import workers
from fiveup_env.arena.play.apart import Apart
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Played, Task, Terms, all_forfeited
from fiveup_env.arena.play.workers import Player
from fiveup_env.arena.statistics.ratings import elo, elo_against
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import FiveUpError
from tests.arena.strangers import KNOWN
from tests.support import Here

V1 = read_protocol("fiveup-v1")
TEXT = read_protocol("fiveup-text-v1")
# Tasks with few deals of short games, and a panel that is quick.
SMALL = replace(
    V1,
    panel=("greedy", "partner"),
    move_limit=math.inf,
    slow=math.inf,
    chunk=4,
    judge="pimc:worlds=4,playout=greedy",
    judge_every=2,
    tasks=tuple(
        replace(task, quick=6, full=8, elo=task.elo[:2], fields={**task.fields, "target": 15})
        for task in V1.tasks[1:3]  # two and three
    ),
    minis=(Mini("mini-2", 2, times=5, quick=True),),
)
NOTED = {name: f"some {name}" for name in NOTES}
STRANGERS = "tests.arena.strangers"


def keep_here(patch: pytest.MonkeyPatch) -> None:
    """Let agents play in this process that would play apart."""
    for place in ("games", "workers"):
        patch.setattr(f"fiveup_env.arena.play.{place}.Apart", Here)


def card(spec: str, folder: Path, cores: int = 1, *, here: bool = True) -> dict[str, Any]:
    """Return the quick card of an agent by the small protocol, without what never repeats."""
    with pytest.MonkeyPatch.context() as patch:
        if cores == 1 and here:
            keep_here(patch)
        results = list(play(SMALL, spec, QUICK, folder, cores))
    minis = list(isolated.rows_of(spec, SMALL.minis))
    made = card_of(SMALL, spec, QUICK, results, None, minis)
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


def test_this_code_plays_the_protocols() -> None:
    assert TEXT.digest == "0fa1217bda790653bdcaeec0d627b0b2"  # that of V1 is in its entries
    for protocol in (V1, TEXT):
        protocol.check()


def test_deals_are_reached_by_no_stream_and_overlap_nowhere() -> None:
    tasks = [task for protocol in (V1, TEXT) for task in protocol.tasks]
    ranges = sorted((task.first - SAMPLE, task.first + task.full) for task in tasks)
    assert all(end < start for (_, end), (start, _) in pairwise(ranges))
    assert ranges[-1][1] < FIRST_OF_STREAMS


def test_code_that_plays_otherwise_is_refused_by_what_differs() -> None:
    wrong_fields = replace(V1.tasks[1], fields={**V1.tasks[1].fields, "multiple": 7})
    other_words = replace(TEXT.tasks[0], text="words=quarry")
    for protocol, name in [
        (replace(SMALL, tasks=(wrong_fields,)), "greedy is not the same in the task two"),
        (replace(TEXT, tasks=(other_words,)), "text is not the same in the task five-up"),
    ]:
        with pytest.raises(ArenaError, match=f"does not play {protocol.name}: {name}"):
            protocol.check()


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
    rating = elo_against(shares, known, np.array(ways), 100, sides)
    assert rating == pytest.approx(fitted[0])


def test_an_agent_of_the_panel_is_even_with_itself(tmp_path: Path) -> None:
    # With three sides both ways are the same games, so that this holds on every deal.
    value, low, high = card("greedy", tmp_path)["tasks"][1]["win_rates"]["greedy"]
    assert value == 0.5
    assert low + high == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("won", [0, 1])
def test_a_card_has_no_bound_beyond_games_that_were_all_won_or_all_lost(won: int) -> None:
    figures = figures_of(
        SMALL,
        [
            [
                Meeting(rival, alone, np.full(8, float(won == alone)), np.zeros((1, 3)), 0, "")
                for rival in SMALL.panel
                for alone in ((True,) if task.rules.sides == 2 else (True, False))
            ]
            for task in SMALL.tasks
        ],
    )
    for rating in (figures["score"], *(row["elo"] for row in figures["tasks"])):
        assert rating[1 + won] is None
        assert rating[2 - won] is not None
        assert ("<", ">")[won] in elo_text(rating)


# --- Cards


@pytest.mark.slow
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
            list(play(SMALL, spec, QUICK, tmp_path, engine=playing))
            assert chunks - before == wanted * sum(
                len(tournament_of(SMALL, task, spec, QUICK).tasks) for task in SMALL.tasks
            )


def test_an_agent_that_is_slow_plays_a_quarter_of_the_deals_and_its_card_says_so(
    tmp_path: Path, defensive: dict[str, Any]
) -> None:
    slow = replace(SMALL, slow=0.0, tasks=SMALL.tasks[:1])
    with pytest.MonkeyPatch.context() as patch:
        keep_here(patch)
        assert quick_size(replace(slow, slow=60.0), "greedy", tmp_path) == QUICK
        assert quick_size(slow, "greedy", tmp_path) == QUARTER
        made = card_of(
            slow, "greedy", QUARTER, [*play(slow, "greedy", QUARTER, tmp_path)], None, []
        )
    assert made["tasks"][0]["deals"] == 1
    assert "a quarter of the deals, as the agent is slow, of greedy" in card_text(made)
    assert "a quarter" not in card_text(defensive)


def test_a_card_and_its_page_show_the_figures(defensive: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="pages of the arena (no matplotlib)")
    from fiveup_env.arena.benchmark.page import card_page

    usage = {"usage": {"three": {"answers": 7, "tokens": 4321}}}
    of_model = defensive | {"cost": defensive["cost"] | usage}
    value = f"{defensive['score'][0]:+.0f}"
    for shown in (card_text(of_model), card_page(of_model, SMALL)):
        assert value in shown
        assert "4,321" in shown
        assert "mini-2" in shown
        assert "three" in shown
    assert json.loads(as_text(defensive)) == defensive


def test_an_agent_at_fault_forfeits_and_the_card_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few = replace(
        SMALL,
        panel=("greedy",),
        move_limit=0.2,
        tasks=tuple(replace(task, quick=1, elo=task.elo[:1]) for task in SMALL.tasks[:1]),
    )
    monkeypatch.setattr(workers, "GRACE", 0.3)
    silent = f"{STRANGERS}:Faulty,how=silent"
    made = card_of(few, silent, QUICK, [*play(few, silent, QUICK, tmp_path / "games")], None, [])
    assert made["forfeits"] == 2
    assert f"{silent} forfeited games (two): it did not respond" in card_text(made)


def test_nash_conv_is_exact_where_it_can_be_and_says_where_it_is_not() -> None:
    rows = {
        spec: next(isolated.rows_of(spec, SMALL.minis)) for spec in ("student", "random", "greedy")
    }
    assert [row["exact"] for row in rows.values()] == [True, True, False]
    assert rows["random"]["of_random"] == pytest.approx(1)
    assert all(row["nash_conv"] > 0 for row in rows.values())
    (broken,) = isolated.rows_of(f"{STRANGERS}:Faulty,how=raises", SMALL.minis)
    assert broken["nash_conv"] is None
    assert broken["fault"] == "raised RuntimeError: no idea"


def test_an_agent_that_takes_long_over_a_mini_game_says_that_it_responds() -> None:
    responses: list[str] = []
    (row,) = isolated.rows_of("greedy", SMALL.minis, lambda: responses.append("greedy"))
    assert len(responses) == isolated.ASKED + SMALL.minis[0].times
    assert isolated.measure(SMALL, "greedy", QUICK)[1] == [row]


# --- Language models


def card_of_model(model: str, folder: Path, text: str = "") -> dict[str, Any]:
    """Return the card of a scripted model in two deals of one task, whose options are changed."""
    task = replace(TEXT.tasks[0], quick=2, elo=(0.0,))
    task = replace(task, text=f"{task.text}{text}")
    few = replace(TEXT, panel=("greedy",), judge=SMALL.judge, move_limit=math.inf, tasks=(task,))
    spec = f"text:tests.doors.test_text_agent:{model}"
    list(play(few, spec, QUICK, folder))
    results = list(play(few, spec, QUICK, folder))  # as it was kept
    assert isolated.measure(few, spec, QUICK) == (None, [])
    return card_of(few, spec, QUICK, results, None, [])


def test_a_language_model_is_measured_in_any_words_with_its_answers_and_tokens(
    tmp_path: Path,
) -> None:
    made = card_of_model("last", tmp_path / "plain")
    (usage,) = made["cost"]["usage"].values()
    assert usage == {"answers": usage["answers"], "tokens": 5 * usage["answers"]}
    assert made["forfeits"] == 0
    assert made["error_rate"][0] > 0
    assert f"{usage['tokens']:,}" in card_text(made)
    assert "NashConv" not in card_text(made)
    other = card_of_model("last", tmp_path / "quarry", ",words=quarry")
    assert other["tasks"] == made["tasks"]


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
    apart = Player(SMALL.terms(task, "student", QUICK)).play(Task(pair, task.first, 4))
    assert apart.judged[0, 0, 0] > 0
    assert not apart.judged[:, 1].any()  # who is not the agent of the card
    here = Player(replace(SMALL.terms(task, "student", QUICK), apart=None))
    assert (here.play(Task(pair, task.first, 4)).scores == apart.scores).all()


def test_an_agent_that_walks_up_the_frames_finds_no_game() -> None:
    spy = f"{STRANGERS}:spy"
    task, faults = Task((spy, "greedy"), 1, 1), {}
    for apart in (None, spy):
        player = Player(Terms(SMALL.tasks[0].rules, forfeit=True, apart=apart))
        faults[apart] = player.play(task).faults[0]
    # Beside the games it finds some, and none where it is asked apart from them: action 0 is a play.
    assert faults[None] != faults[spy]
    views = Game(seed=1).view()
    (part,) = Apart(spy).start(np.array([[True]]))
    assert part(views, np.random.default_rng(0)).tolist() == [0]
    process = part._process
    del part
    assert process.returncode is not None  # it has ended with its agent


def test_an_agent_whose_process_ended_is_made_anew_for_the_next_chunk() -> None:
    ends = f"{STRANGERS}:Faulty,how=ends"
    player = Player(Terms(SMALL.tasks[0].rules, "hand", forfeit=True, apart=ends))
    played = player.play(Task((ends, "greedy"), 1, 2))
    assert (played.forfeits == 0).all()
    assert "ended its process" in played.faults[0]
    assert player.play(Task((ends, "greedy"), 5, 1)).decisions[0] > 0


# --- Entries


@pytest.mark.usefixtures("small")
def test_a_true_entry_is_accepted(defensive: dict[str, Any]) -> None:
    entry = Entry(entry_of(defensive, NOTED))
    entry.check_agent()
    with pytest.MonkeyPatch.context() as patch:
        keep_here(patch)
        entry.check_again()
    assert len(as_text(entry.content)) < 5_000


def changed(entry: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of an entry with another value in one place."""
    copied = copy.deepcopy(entry)
    *way, last = [int(name) if name.isdigit() else name for name in path.split("/")]
    part: Any = copied
    for name in way:
        part = part[name]
    part[last] = value
    return copied


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("format", "fiveup-card", "format is 'fiveup-card'"),
        ("card", None, "card is None"),
        ("card/protocol_digest", "0", "card.protocol_digest is '0'"),
        ("card/size", "small", "card.size is 'small', not one of full, quick, quarter"),
        ("card/score", [1.0, -1.0, 10**400], r"card.score is \[1.0, -1.0, 1000"),
        ("card/tasks/0/deals", 600, r"card.tasks\[0\].deals is 600, not 6"),
        ("card/tasks/0/win_rates/greedy", None, r"card.tasks\[0\].win_rates.greedy is None"),
        ("card/tasks/0/win_rates/x", [0.5, 0.5, 0.5], "there is no card.tasks.*x in an entry"),
        ("card/forfeits", -1, "card.forfeits is -1, not a count"),
        ("card/cost/megabytes", float("nan"), "card.cost.megabytes is nan"),
        ("card/cost", {"megabytes": 1.0}, "card.cost.seconds_per_move is missing"),
        ("card/agent_digest", "0", "card.agent_digest is '0'.* stale"),
        ("card/minis", [], r"card.minis is \[\], not a list of 1"),
    ],
)
def test_what_was_changed_in_an_entry_is_named(
    path: str, value: object, named: str, defensive: dict[str, Any]
) -> None:
    content = changed(entry_of(defensive, NOTED), path, value)
    with pytest.raises(FiveUpError, match=named):
        Entry(content).check_agent()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("tasks/1/elo/0", 0.0, r"card.tasks\[1\].elo\[0\] is 0.0, but played again"),
        ("score/1", -1.0, r"card.score\[1\] is -1.0, but played again"),
        ("error_rate/2", 0.5, r"card.error_rate\[2\] is 0.5, but played again"),
        ("forfeits", 1, "card.forfeits is 1, but played again"),
        ("minis/0/nash_conv", 0.0, r"card.minis\[0\].nash_conv is 0.0, but played again"),
    ],
)
def test_figures_that_the_games_do_not_give_are_found_by_playing_again(
    path: str, value: object, named: str, defensive: dict[str, Any], results: Path
) -> None:
    entry = Entry(entry_of(changed(defensive, path, value), NOTED))
    with pytest.MonkeyPatch.context() as patch:
        keep_here(patch)
        patch.setattr(entries, "TemporaryDirectory", lambda: nullcontext(results))
        with pytest.raises(EntryError, match=named):
            entry.check_again()


# --- Fresh deals


def test_an_agent_that_knows_the_public_deals_is_refused_and_an_honest_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(V1.tasks[1], quick=16, elo=(0.0,))
    protocol = replace(SMALL, panel=("greedy",), tasks=(task,), chunk=16, judge_every=16, minis=())
    monkeypatch.setattr(entries, "read_protocol", lambda _: protocol)
    for k in range(task.quick):
        hands = Game(task.rules, seed=task.first + k).state()["hands"][0]
        KNOWN.update(hands[: task.rules.players].tolist())
    keep_here(monkeypatch)
    for spec in ("counter", f"{STRANGERS}:Knowing"):
        results = list(play(protocol, spec, QUICK, tmp_path / "games"))
        made = card_of(protocol, spec, QUICK, results, None, [])
        entry = Entry(entry_of(made, NOTED), trust=True)
        if spec == "counter":
            entry.check_fresh(16, seed=5)
        else:
            entry.check_again()  # its games are true
            with pytest.raises(EntryError, match="as if it knew the public deals"):
                entry.check_fresh(16, seed=5)
