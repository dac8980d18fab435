"""Measure the page in Chromium: `python -m benchmarks.table`.

The static folder is served on this machine, as any file server would. Measured are the bytes that
the first game needs, the time from opening the page to the first tile that can be played, how long
an answer of the strongest level takes, how long the page was blocked at most, how soon the judges
are ready, which begin while the card of the last hand is read, and how long a game of at least 60
decisions takes to be judged.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agents.results import publish, ranged
from benchmarks.timing import ROUNDS, quiet, speed_options
from fiveup_env.play.page import INDEX, page_files, write_page
from tests.web import chromium, folder_server

if TYPE_CHECKING:
    from fiveup_env.files import Json

TWO: Final = "?seed=5&players=2&levels=partner"
WATCH: Final = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
}).observe({ type: "longtask", buffered: true });
localStorage.setItem("fiveup:pace", "0");
"""
PLAYABLE: Final = "#hand .held[aria-disabled=false]"
ANSWERS: Final = """async () => {
  const { ask } = await import("./thinkers.js");
  const { Game } = await import("./fiveup.mjs");
  const { LEVELS } = await import("./levels.js");
  const game = new Game({ players: 4, seed: 5 }), times = [], level = LEVELS[LEVELS.length - 1];
  await ask("ask", { view: game.view().bytes, level, key: 1n });
  while (game.handNumber < 1) {
    const began = performance.now(), choices = game.legalMoves().length;
    game.push(await ask("ask", { view: game.view().bytes, level, key: 1n }));
    if (choices > 1) times.push(performance.now() - began);
  }
  return times;
}"""
JUDGED: Final = """async () => {
  const { Game } = await import("./fiveup.mjs");
  const { ask, judge, judgeCount, prepareJudges } = await import("./thinkers.js");
  const game = new Game({ players: 4, seed: 5, target: 15 });
  const partner = () => ask("ask", { view: game.view().bytes, level: "partner", key: 1n });
  while (!game.isGameOver()) game.push(await partner());
  const steps = [...game.steps()].map((step, number) => ({ ...step, number }));
  const state = steps[0].before.bytes, { move } = steps[0];
  window.longest = 0;
  const asked = performance.now();
  prepareJudges(game.view(0).bytes); // as the page does while the card of the last hand is read
  const ready = () => judge("decision", { state, move, number: 0 });
  await Promise.all(Array.from({ length: judgeCount }, ready));
  const began = performance.now();
  let next = 0, decisions = 0, first = 0;
  const work = async () => {
    while (next < steps.length && decisions < 60) {
      const { before, move, number } = steps[next++];
      const found = await judge("decision", { state: before.bytes, move, number });
      first ||= performance.now() - began;
      decisions += found.options.length > 1;
    }
  };
  await Promise.all(Array.from({ length: 2 * judgeCount }, work));
  return [decisions, performance.now() - began, first, began - asked];
}"""


def main() -> None:
    """Measure, and print what was found."""
    options = speed_options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name, quiet(anyway=options.anyway, daemons=True):
        write_page(Path(name))
        with folder_server(Path(name)) as address, chromium() as browser:
            publish("table", keep=options.save, rows=measure(browser, f"{address}/"))


def measure(browser: Any, address: str) -> list[Json]:
    """Open the page, play and judge in it; return what that took."""
    opened = []
    asked: set[str] = set()
    for _ in range(ROUNDS):
        page = new_page(browser)
        page.on("request", lambda request: asked.add(urlsplit(request.url).path[1:] or INDEX))
        began = time.perf_counter()
        page.goto(address + TWO)
        page.wait_for_selector(PLAYABLE)
        opened.append(time.perf_counter() - began)
        page.context.close()
    page = new_page(browser)
    page.goto(address)
    page.wait_for_selector(PLAYABLE)
    times = page.evaluate(ANSWERS)
    blocked = page.evaluate("longest")
    decisions, judged, first, ready = page.evaluate(JUDGED)
    blocked = max(blocked, page.evaluate("longest"))
    files = page_files()
    sizes = {path: len(gzip.compress(files[path], 9)) for path in asked & files.keys()}
    loaded = f"{sum(sizes.values()):,} bytes by gzip, {sizes['fiveup.wasm']:,} of them the module"
    figures = {
        "what the first game loads": loaded,
        "the first tile that can be played": ranged(opened, ".2f", "s"),
        "an answer of the strongest level": ranged(times, ".0f", "ms"),
        "the judges, until they are ready": ranged([ready], ".0f", "ms"),
        "the first decision, judged": ranged([first], ".0f", "ms"),
        f"{decisions} decisions, judged": ranged([judged], ".0f", "ms"),
        "the page, blocked at most": ranged([blocked], ".0f", "ms"),
    }
    return [{"what": what, "": figure} for what, figure in figures.items()]


def new_page(browser: Any) -> Any:
    """Return a page of a new visitor, which notes how long it is blocked."""
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.add_init_script(WATCH)
    return page


if __name__ == "__main__":
    main()
