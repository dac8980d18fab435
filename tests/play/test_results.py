"""What came of games, in Chromium: results that are true and kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from fiveup_env import Game
from fiveup_env.game.records import dumps, loads
from fiveup_env.play.folder import Folder
from fiveup_env.play.server import Offer
from tests.play.test_browser import (
    FREE,
    begin,
    deal,
    menu,
    moves_made,
    play_by_mouse,
    play_out,
    state_of,
    wait_for_move,
)
from tests.support import play_randomly
from tests.web import check_access, served, visitor

MINUS: Final = "\N{MINUS SIGN}"
ONE_HAND: Final = "?seed=6&players=2&target=1&levels=greedy,greedy"


def record(folder: Path, rules: str, seed: int) -> Path:
    file = folder / f"{rules}-{seed}.json"
    file.write_text(dumps(play_randomly(Game(rules, players=2, seed=seed, target=3), Random(4))))
    return file


def open_file(page: Any, file: Path) -> None:
    page.set_input_files("#file", file)
    page.wait_for_selector("#studying:not([hidden])")


def listed(page: Any) -> list[str]:
    """Return what the list of games says, and leave it open."""
    menu(page, "games")
    page.wait_for_selector("#dialog-title:has-text('My games')")
    return [
        str(text) for text in page.locator("#dialog-body > p, .games li span").all_inner_texts()
    ]


def test_files_and_tiles_played_before_are_no_results_and_what_is_removed_comes_back(
    page: Any, address: str, tmp_path: Path
) -> None:
    page.goto(address + ONE_HAND)
    play_out(page, play_by_mouse)
    page.click("#dialog-menu button[value=again]")
    play_out(page, play_by_mouse)
    page.keyboard.press("Escape")
    for _ in range(2):
        open_file(page, record(tmp_path, "muggins", 4))
        page.click("#leave")
    lines = listed(page)
    assert lines[0] in {"1 won, 0 lost", "0 won, 1 lost"}
    assert sum("from a file" in line for line in lines) == 1
    assert sum("tiles known" in line for line in lines) == 1
    own = page.locator(".games li", has_text="Five Up, 2").last
    own.get_by_text("Remove").click()
    own = page.locator(".games li", has_text="Remove this game?")
    own.get_by_text("Keep it").click()
    page.locator(".games li", has_text="Five Up, 2").last.get_by_text("Remove").click()
    own.get_by_text("Remove", exact=True).click()
    page.keyboard.press("Escape")
    assert not any("won, " in line for line in listed(page))
    page.keyboard.press("Escape")
    menu(page, "games")
    page.locator(".games li", has_text="tiles known").get_by_text("Remove").click()
    page.locator(".games li", has_text="Remove this game?").get_by_text(
        "Remove", exact=True
    ).click()
    page.get_by_text("Bring it back").click()
    assert len(page.locator(".games li", has_text="tiles known").all()) == 1
    page.keyboard.press("Escape")
    assert sum("tiles known" in line for line in listed(page)) == 1


def test_games_and_what_they_count_for_are_of_one_browser_whatever_the_server_keeps(
    browser: Any, tmp_path: Path
) -> None:
    with served(Offer(folder=Folder(tmp_path))) as address:
        with visitor(browser) as (page, _):
            begin(page, f"{address}/", "?seed=6&players=2&target=3&levels=level:3,level:3")
            play_out(page, play_by_mouse)
            page.keyboard.press("Escape")
            assert any("won, " in line for line in listed(page))
            page.locator(".games li").get_by_text("Remove").click()
            page.locator(".games li").get_by_text("Remove", exact=True).click()
            page.keyboard.press("Escape")
            begin(page, f"{address}/", "")
            assert not any("Five Up, 2" in line for line in listed(page))
        with visitor(browser) as (page, _):
            begin(page, f"{address}/", "?seed=7&players=3&levels=level:3,level:3,level:3")
            assert not any("Five Up, 2" in line for line in listed(page))
            page.keyboard.press("Escape")
            menu(page, "progress")
            page.wait_for_selector("#dialog-body:has-text('Nobody beaten yet')")
    assert any(loads(path.read_text()).is_game_over() for path in tmp_path.glob("*.json"))


def test_a_card_says_what_is_a_change_and_what_a_score_by_true_minus_signs(
    page: Any, address: str
) -> None:
    page.goto(address + ONE_HAND)
    play_out(page, play_by_mouse)
    said = page.inner_text("#dialog-body")
    changed = re.findall(rf"^\w+: (0|[+{MINUS}]\d+), score now ({MINUS}?\d+)$", said, re.MULTILINE)
    assert len(changed) == 2
    assert any(gain.startswith(MINUS) for gain, _ in changed)
    worth = re.search(r"(\d+) pips(?:, rounded to (\d+))?: (\d+) point", said)
    assert worth
    assert int(worth[2] or worth[1]) == 5 * int(worth[3])
    assert said.startswith(f"Score {changed[0][1]} : {changed[1][1]}\n")


@pytest.mark.parametrize(("tongue", "date"), [("en", "Jan 10, 2026"), ("de", "10.01.2026")])
def test_dates_are_written_in_the_language_of_the_page(
    browser: Any, address: str, tongue: str, date: str
) -> None:
    with visitor(browser, locale="fr-FR", timezone_id="UTC") as (page, _):
        begin(page, address)
        page.evaluate("tongue => localStorage.setItem('fiveup:tongue', tongue)", tongue)
        keep_games(page, [{"level": "level:3", "result": "won"}])
        begin(page, address)
        menu(page, "games")
        page.wait_for_selector(f".games li:has-text('{date}')")


def test_a_study_shows_its_own_game_before_it_is_judged(
    page: Any, address: str, tmp_path: Path
) -> None:
    begin(page, address, "")
    page.evaluate(
        """() => new MutationObserver(([{ target }]) => {
          if (target.innerText.includes("judged")) window.judged = target.innerText;
        }).observe(document.querySelector("#progress"), { childList: true })"""
    )
    open_file(page, record(tmp_path, "muggins", 4))
    assert page.inner_text("#title") == "Muggins"
    page.wait_for_selector("#luck table", timeout=120_000)
    page.wait_for_selector("#progress:not(:has-text('judged'))", state="attached")
    mistakes = page.locator("#rates td:nth-child(2)").all_inner_texts()
    decisions = sum(int(cell.rpartition(" of ")[2]) for cell in mistakes)
    assert page.evaluate("judged") == f"{decisions} of {decisions} decisions judged"
    page.click("#leave")
    assert page.inner_text("#title") == "Five Up"
    page.evaluate(
        """() => {
          const title = document.querySelector("#title");
          new MutationObserver(() => {
            window.shown ??= [
              title.innerText,
              document.querySelectorAll("#luck table, #graph .curve").length,
              document.querySelector("#rates").innerText,
            ];
          }).observe(title, { childList: true });
        }"""
    )
    page.set_input_files("#file", record(tmp_path, "all_fives", 5))
    shown = page.wait_for_function("() => window.shown").json_value()
    assert shown[:2] == ["All Fives", 0]
    assert "0 of 0" in shown[2]


def test_a_number_and_enter_set_a_tile_that_fits_two_ends(page: Any, address: str) -> None:
    begin(page, address, "?seed=5&levels=greedy,greedy,greedy,greedy")
    while True:
        if state_of(page) == "card":
            page.click("#dialog-menu button[value=next]")
            page.wait_for_selector("dialog#dialog[open]", state="detached")
            continue
        before = moves_made(page)
        for tile in page.locator(FREE).all():
            number = tile.evaluate("tile => [...tile.parentElement.children].indexOf(tile) + 1")
            page.keyboard.press(str(number))
            if page.locator("#choices button").count() > 1:
                page.keyboard.press("Enter")
                wait_for_move(page, before)
                return
        page.keyboard.press("Escape")
        play_by_mouse(page)


def test_damaged_links_targets_and_records_are_refused_in_a_sentence(
    page: Any, address: str, tmp_path: Path
) -> None:
    for query in ("?seed=x", "?seed=5&players=-1", "?seed=1&target=0", "?seed=1&rules=chess",
                  "?seed=99999999999999999999", "?seed=1&players=2&levels=a,b,c"):  # fmt: skip
        begin(page, address, query)
        assert "This link is damaged" in page.inner_text("#dialog-body")
        page.keyboard.press("Escape")
    state_of(page)
    play_by_mouse(page)
    page.evaluate("localStorage.setItem('fiveup:tongue', 'de')")
    begin(page, address, "?seed=x")
    assert "Dieser Link ist beschädigt" in page.inner_text("#dialog-body")
    page.evaluate("localStorage.setItem('fiveup:tongue', 'en')")
    begin(page, address, "")
    page.click("#fresh")
    for target in ("0", "-5", "1.5", ""):
        page.fill("#target", target)
        page.click("#dialog-menu button[value=deal]")
        assert "The target is a whole number" in page.inner_text("#dialog-error")
    page.keyboard.press("Escape")
    whole = json.loads(record(tmp_path, "muggins", 4).read_text())
    study = {"format": "fiveup-study", "version": 1, "record": whole}
    own = {"id": "x", "moves": [], "arms": [], "seed": "1", "setup": {"levels": []}}
    for content, why in (
        (whole | {"version": 99}, "the version must be 1, not 99"),
        (whole | {"winner": 1 - whole["winner"]}, "is written, but the rules give"),
        (study | {"table": own}, "it is not a game of this page"),
        ({"format": "fiveup-study"}, "the record must be a JSON object, not None"),
    ):
        (tmp_path / "other.json").write_text(json.dumps(content))
        page.set_input_files("#file", tmp_path / "other.json")
        page.wait_for_selector(f"#said.wrong:has-text('{why}')")


# --- The deal of the day


def play_the_day(page: Any) -> None:
    """Play the three hands of a day, up to its result."""
    for _ in range(3):
        while state_of(page) != "card":
            play_by_mouse(page)
        if page.query_selector("#dialog-menu button[value=share]"):
            return
        page.click("#dialog-menu button[value=next]")
        page.wait_for_selector("dialog#dialog[open]", state="detached")
    raise AssertionError("the day has more than three hands")


def test_a_day_is_ranked_shared_opened_again_and_closed(browser: Any, address: str) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with visitor(browser, permissions=permissions) as (page, complaints):
        begin(page, address)
        page.click("#daily")
        assert "three hands" in page.inner_text("#dialog-body")
        deal(page, "play")
        play_the_day(page)
        page.wait_for_selector("[role=status]:has-text('better than')", timeout=120_000)
        result = page.inner_text(".rivals")
        assert len(result.splitlines()) == 5
        assert "The first day of a row" in page.inner_text("#dialog-body")
        page.click("#dialog-menu button[value=share]")
        page.wait_for_selector("#dialog-error:has-text('Copied.')")
        check_access(page)
        line = page.evaluate("navigator.clipboard.readText()")
        day = page.evaluate("new Date().toLocaleDateString('sv')")
        rank = re.fullmatch(rf"Five Up {day} [🟩🟨⬛]{{3}} (better than \d of 5) (\S+)", line)
        assert rank
        assert rank[2] == f"{address}#daily={day}"
        page.click("#dialog-menu button[value=days]")
        page.wait_for_selector(".days")
        page.click("#dialog-menu button[value='']")
        page.wait_for_selector("dialog#dialog[open]", state="detached")
        assert state_of(page) == "over"

        page.goto(f"{address}?again#daily={day}")
        page.wait_for_selector(f"[role=status]:has-text('{rank[1]}')")
        assert page.inner_text(".rivals") == result
        page.click("#dialog-menu button[value=days]")
        page.wait_for_selector(f".days button[value='{day}'].over")
        assert page.locator(".days button:enabled").count() == int(day[-2:])
        page.click("#dialog-menu button >> nth=1")
        page.wait_for_selector(f".days button[value='{day}']", state="detached")
        page.locator(".days button").first.click()
        page.click("#dialog-menu button[value=play]")
        page.wait_for_selector("dialog#dialog[open]", state="detached")
        assert state_of(page) == "yours"
        for hash_ in ("#daily=2026-1", "#daily=2026-02-30"):
            page.goto(f"{address}?{hash_[-1]}{hash_}")
            page.wait_for_selector("#dialog-body:has-text('This link is damaged')")
        page.goto(f"{address}?to-come#daily=2999-01-01")
        page.wait_for_selector("#dialog-body:has-text('still to come')")
        assert not complaints


def test_days_in_a_row_count_only_those_that_were_played_in_time(page: Any, address: str) -> None:
    begin(page, address)
    streaks = page.evaluate(
        """async () => {
          const { streakOf, dateOf } = await import("./results/daily.js");
          const ago = (days) => dateOf(new Date(Date.now() - days * 86400000));
          const days = (late, ...played) => new Map(played.map((day) => [ago(day), { result: "won", late: late === day }]));
          return [streakOf(days(-1)), streakOf(days(-1, 0, 1, 2)), streakOf(days(-1, 1, 2)), streakOf(days(-1, 2, 3)), streakOf(days(1, 0, 1, 2))];
        }"""
    )
    assert streaks == [0, 3, 2, 0, 1]


def test_squares_and_rank_compare_with_the_levels(page: Any, address: str) -> None:
    begin(page, address)
    found = page.evaluate(
        """async () => (await import("./results/daily.js")).rankOf(
          [[5, 0], [5, 2], [8, 9]],
          [[[4, 0], [6, 0], [6, 0]], [[5, 0], [5, 2], [5, 5]], [[1, 0], [1, 2], [1, 9]]])"""
    )
    assert found == {"better": 1, "squares": ["+", "=", "-"]}


# --- Challenges


def play_first(page: Any) -> None:
    """Set the first tile that fits, where a challenger set the last one."""
    before = moves_made(page)
    page.locator(FREE).first.click()
    page.locator("#choices button").first.click()
    wait_for_move(page, before)


def challenge_of(page: Any, address: str) -> str:
    """Play a game, and return the link by which Ann challenges others to it."""
    page.goto(address + "?seed=6&players=2&target=4&levels=greedy,greedy")
    play_out(page, play_by_mouse)
    page.click("#dialog-menu button[value=challenge]")
    page.fill("#own-name", "Ann & Co")
    page.click("#dialog-menu button[value=copy]")
    page.wait_for_selector("#dialog-error:has-text('Copied.')")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_challenge_compares_two_games_hand_by_hand_and_move_by_move(
    browser: Any, address: str
) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with visitor(browser, permissions=permissions) as (page, complaints):
        link = challenge_of(page, address)
        page.goto(link)  # one's own tiles again: whoever plays as before, never differs
        page.wait_for_selector("#dialog[open]")
        said = page.inner_text("#dialog-body")
        ann = re.search(rf"Ann & Co made ({MINUS}?\d+ : {MINUS}?\d+) with these tiles", said)
        assert ann
        page.keyboard.press("Escape")
        play_out(page, play_by_mouse)
        assert "you chose the same" in page.inner_text("#dialog-body")
        cells = page.locator("#dialog-body tbody tr:last-child td").all_inner_texts()
        assert cells == [ann[1], ann[1]]
        assert not complaints
    with visitor(browser) as (page, complaints):
        page.goto(link)
        page.wait_for_selector("#dialog[open]")
        page.keyboard.press("Escape")
        play_out(page, play_first)
        assert "you chose differently" in page.inner_text("#dialog-body")
        assert "That they were found without help" in page.inner_text("#dialog-body")
        page.wait_for_selector(".rivals li:has-text('percentage points')", timeout=120_000)
        check_access(page)
        rows = page.locator("#dialog-body tbody tr").all_inner_texts()
        assert rows[0].startswith("hand 1")
        assert rows[-1].split("\t")[-1] == ann[1]
        page.keyboard.press("Escape")
        page.wait_for_selector("body[data-state=over]")
        page.goto(address)
        assert state_of(page) == "over"
        menu(page, "games")
        page.locator(".games li").first.get_by_text("Open").click()
        page.wait_for_selector("#dialog-title:has-text('The game is over')")
        assert page.locator("#dialog-body tbody tr").all_inner_texts() == rows
        page.keyboard.press("Escape")
        code = re.sub("made=[^&]*", "made=", link)
        for broken in (link[:-4], f"{link}0", f"{code}zz", f"{code}!"):
            page.goto(f"{broken}#{len(broken)}")
            page.wait_for_selector("#dialog-body:has-text('The result in this link is damaged')")
            page.keyboard.press("Escape")
            assert state_of(page) == "yours"
        assert not complaints


# --- Progress


def keep_games(page: Any, games: list[dict[str, Any]]) -> None:
    """Keep games of two players in the browser, as if they had been played."""
    page.evaluate(
        """games => games.forEach((game, k) => {
          const setup = { rules: "five_up", players: 2, seat: 0, levels: ["level:5", game.level] };
          const saved = { id: `kept-${k}`, began: "2026", changed: `2026-01-${10 + k}`, setup, seed: String(k), moves: ["0-0"], arms: [], seen: 0, ...game };
          localStorage.setItem(`fiveup:game:${saved.id}`, JSON.stringify(saved));
        })""",
        games,
    )


def test_the_rating_is_that_of_the_measured_levels(page: Any, address: str) -> None:
    begin(page, address)
    measured = page.evaluate("async () => (await import('./results/rating.js')).LEADS")
    rows = json.loads(Path("results/levels.json").read_text())["rows"][1:]
    columns = ("Elo above the level below", "with two players", "in All Fives")
    assert list(measured.values()) == [[row[column]["value"] for row in rows] for column in columns]
    even, few, many, lost, pair = page.evaluate(
        """async () => {
          const { ratingOf, strengthOf } = await import("./results/rating.js");
          const games = (level, won, lost) => [...Array(won + lost)].map((_, k) => ({
            result: k < won ? "won" : "lost", setup: { rules: "five_up", players: 2, seat: 0, levels: ["level:5", level] },
          }));
          const four = { rules: "five_up", players: 4, seat: 2, levels: ["level:4", "level:3", "level:9", "level:3"] };
          const pair = [...Array(400)].map((_, k) => ({ result: k % 2 ? "won" : "lost", setup: four }));
          const kinds = [games("level:3", 50, 50), games("level:3", 2, 2), games("level:3", 40, 10), games("level:3", 0, 3)];
          return [...kinds.map((some) => ratingOf(some, "two")), ratingOf(pair, "partners")];
        }"""
    )
    assert abs(even["mean"] - (67 + 68)) < 5  # as often won as lost: as strong as Lena
    assert even["low"] < even["mean"] < even["high"]
    assert few["high"] - few["low"] > 2 * (even["high"] - even["low"])
    assert many["mean"] > even["mean"] > lost["mean"]
    own, dora = pair["mean"], 123 + 102 + 131
    assert abs((own + dora) / 2 - (123 + 102)) < 10  # a side is the mean of both


def test_progress_counts_games_without_help_and_names_the_next_level(
    page: Any, address: str
) -> None:
    begin(page, address)
    menu(page, "progress")
    page.wait_for_selector("#dialog-title:has-text('My progress')")
    assert "A rating begins with the first game" in page.inner_text("#dialog-body")
    page.keyboard.press("Escape")
    won: dict[str, Any] = {"level": "level:3", "result": "won", "rate": 0.02}
    games: list[dict[str, Any]] = [
        won,
        won | {"rate": 0.01},
        {"level": "level:4", "result": "lost"},
    ]
    keep_games(page, [*games, won | {"level": "level:8", "helped": True},
                      won | {"level": "level:9", "opened": True}])  # fmt: skip
    menu(page, "progress")
    page.wait_for_selector("#dialog-title:has-text('My progress')")
    text = page.inner_text("#dialog-body")
    assert "Lena beaten, next Dora." in text
    assert re.search(r"Five Up, two players \(3\)\t\d+ \(\S+ to \S+\)\t\w+ . \w+\n", text)
    assert "Mean error rate: 1.50 %" in text
    assert page.locator(".chart circle").count() == 2
    check_access(page)


def test_a_mistake_that_was_solved_stays_solved_and_comes_back_later(
    page: Any, address: str
) -> None:
    begin(page, address)
    best, worse = page.evaluate(
        """async () => {
          const { Table, begun } = await import("./table.js");
          const table = new Table(begun({ rules: "five_up", players: 2, seat: 0, levels: ["level:5", "level:5"] }, "5"));
          while (table.game.turn !== 0 || table.game.legalMoves().length < 2) table.play(table.game.legalMoves()[0]);
          const [best, move] = table.game.legalMoves(), number = table.game.moves.length;
          const options = [best, move].map((move, k) => ({ move, chance: [0.6 - 0.2 * k, 0, 0], points: [0, 0, 0] }));
          table.play(move);
          table.saved.verdicts = { decisions: [{ number, hand: 0, seat: 0, move, best, chance: [0.2, 0.1, 0.3], points: [0, 0, 0], mistake: true, options }] };
          localStorage.setItem(`fiveup:game:${table.saved.id}`, JSON.stringify(table.saved));
          return [best, move];
        }"""
    )

    def choose(move: str) -> None:
        page.click(f"#lesson-hand [data-tile='{move.partition('@')[0]}']")
        page.click(f"#lesson-choices button[data-move='{move}']")

    menu(page, "mistakes")
    page.wait_for_selector("#lesson[open]")
    choose(worse)
    choose(best)
    page.click("#lesson-menu .main")
    assert "0 of 1 solved" in page.inner_text("#lesson-title")  # not at once: again
    choose(best)
    assert "1 of 1 solved" in page.inner_text("#lesson-title")
    page.click("#lesson-menu .main")
    page.wait_for_selector("#dialog-body:has-text('All solved: 1. The next comes back on')")
    page.keyboard.press("Escape")
    menu(page, "mistakes")
    page.wait_for_selector("#dialog-body:has-text('All solved: 1')")
    page.keyboard.press("Escape")
    boxes = []
    for _ in range(2):
        page.evaluate(
            "localStorage['fiveup:mistakes'] = localStorage['fiveup:mistakes'].replace(/due.:\\d+/, 'due\":1')"
        )
        menu(page, "mistakes")
        page.wait_for_selector("#lesson[open]")
        choose(best)
        page.keyboard.press("Escape")
        boxes.append(json.loads(page.evaluate("localStorage['fiveup:mistakes']")))
    dues = [next(iter(box.values()))["due"] for box in boxes]
    assert dues[1] - dues[0] == 7 - 3  # each time later
    page.evaluate("localStorage['fiveup:mistakes'] = '[{]'")
    menu(page, "mistakes")
    page.wait_for_selector("#lesson[open]")


def test_puzzles_have_themes_and_give_a_rating(page: Any, address: str) -> None:
    begin(page, address)
    themes = page.evaluate(
        """async () => {
          const [{ load, tableOf }, { themesOf }, { info }] = await Promise.all(["puzzles", "themes"].map((name) => import(`./learn/${name}.js`)).concat(import("./fiveup.mjs")));
          const all = (await load()).filter((_, k) => k % 5 === 0).map((one) => themesOf(tableOf(one).game, info.moves[one.best]));
          return all.flat();
        }"""
    )
    assert set(themes) >= {"scores", "passesUp", "setsDouble", "keepsDouble", "blocks", "feeds"}
    menu(page, "puzzles")
    page.select_option("#theme", "keepsDouble")
    page.click("#dialog-body button[value='1']")
    page.wait_for_selector("#lesson[open]")
    page.locator("#lesson-hand .held[aria-disabled=false]").first.click()
    page.locator("#lesson-choices button").first.click()
    page.wait_for_selector("#lesson-more:has-text('keeps a double')")
    page.keyboard.press("Escape")
    menu(page, "progress")
    page.wait_for_selector("#dialog-body:has-text('stars (')")
    assert re.search(r"★\t[01] of 1\n", page.inner_text("#dialog-body"))
