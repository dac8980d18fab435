"""The page proves its deals as Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fiveup_env.game.proof import digest_of, fresh_secret, seed_of
from tests.play.test_browser import deal, menu, play_by_mouse, play_out, state_of
from tests.play.test_looks import CUT
from tests.web import check_access

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="the modules of the page (no Node)")
def test_the_page_has_the_digests_and_the_seeds_of_python(tmp_path: Path) -> None:
    for name in ("proof.js", "sha256.js", "errors.js"):
        content = files("fiveup_env.play").joinpath("static", name).read_bytes()
        (tmp_path / name).write_bytes(content)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    some = [[fresh_secret()], [fresh_secret(), "a" * 20, "z9" * 32], ["0" * 64] * 6]
    script = (
        "const { digestOf, seedFrom } = await import(process.argv[1]);"
        "const some = JSON.parse(process.argv[2]);"
        "console.log(JSON.stringify(some.map((all) => [all.map(digestOf), seedFrom(all)])));"
    )
    line = [str(NODE), "--input-type=module", "-e", script, str(tmp_path / "proof.js")]
    done = subprocess.run(
        [*line, json.dumps(some)], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(done) == [[[digest_of(s) for s in all_], str(seed_of(all_))] for all_ in some]


def test_a_game_shows_its_digest_before_and_a_link_that_checks_its_seed_afterwards(
    page: Any, address: str
) -> None:
    page.goto(address)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # no HTTPS
    page.click("#fresh")
    page.select_option("#players", "2")
    page.fill("#target", "2")
    deal(page)
    assert state_of(page) == "yours"
    page.click("#proof")
    (digest,) = page.locator(".digest").all_inner_texts()
    assert "Seed" not in page.inner_text("#dialog-body")
    check_access(page)
    page.keyboard.press("Escape")
    play_out(page, play_by_mouse)
    assert "The deal is proved" in page.inner_text("#dialog-body")
    page.click("#dialog-menu button:last-child")
    saved = page.evaluate(
        "JSON.parse(localStorage[`fiveup:game:${localStorage['fiveup:latest']}`])"
    )
    assert saved["proof"]["digests"] == [digest]
    assert saved["seed"] == str(seed_of(saved["proof"]["secrets"]))

    page.set_viewport_size({"width": 320, "height": 640})
    menu(page, "proof")
    page.click("#dialog-menu button[value=link]")
    page.wait_for_selector("#dialog-error:has-text('#proof=')")
    assert not page.evaluate(CUT)
    link = page.inner_text("#dialog-error")
    page.keyboard.press("Escape")
    page.goto(link)
    assert "the seed follows from them" in page.inner_text("#dialog-body")
    assert saved["seed"] in page.inner_text("#dialog-body")
    check_access(page)
    page.keyboard.press("Escape")
    page.goto(f"{address}#proof={'b' * 32}~{digest}")
    page.locator("#dialog-body", has_text="do not have these digests").wait_for()
