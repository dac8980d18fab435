"""Agents that the page trains: the same bytes after a stop, and files that both languages read."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import Move
from fiveup_env.encoders import get_encoder, rows_of
from fiveup_env.engine.state import VIEW
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.play.page import write_page
from tests.play.test_browser import begin, menu, moves_made, state_of, wait_for_move
from tests.web import check_access

NODE: Final = shutil.which("node")
TRAINED: Final = ("plain-margin", "plain-win", "guided-margin", "guided-win")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A folder of policies, of Python and of the page, and what the page says of them."""
    if NODE is None:
        pytest.skip("the modules of the page (no Node)")
    torch = pytest.importorskip("torch", reason="policies of Python (no PyTorch)")
    from agents.policies.files import save_policy
    from agents.policies.networks import Shape, build

    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("policies")
    write_page(site)
    (site / "package.json").write_text('{"type": "module"}')
    torch.manual_seed(3)
    about = {"rules": ["five_up"], "players": [4], "config": {"reward": "margin", "rate": 1e-05}}
    about["horizon"] = "hand"
    for name, shape, half in (
        ("guided", Shape("guided", 64, 1, shared=True), False),
        ("half", Shape("guided", 64, 1, shared=True), True),
        ("plain", Shape("plain", 16, 3, shared=True), False),
    ):
        network = build(shape)
        for weight in network.parameters():
            torch.nn.init.normal_(weight, 0.0, 0.1)
        save_policy(folder / name, network, about, half=half)
    line = [NODE, str(Path(__file__).with_name("training.mjs")), str(site), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def check_logits(folder: Path, views: np.ndarray, told: list[dict[str, float]]) -> None:
    """Check what the page says of views by PyTorch, and by `policy`, which every installation has."""
    import torch

    from agents.policies.files import load_policy

    network, _ = load_policy(folder)
    rows = rows_of(get_encoder(network.shape.encoder), views, scaled=False)
    with torch.no_grad():
        by_torch = np.asarray(network.logits(torch.from_numpy(rows)))
    agent: Any = make_agent(f"policy:{folder}")
    for logits in (by_torch, agent.logits(views)):
        for answer, row in zip(told, logits, strict=True):
            mine = row[[Move.parse(move).action for move in answer]]
            theirs = np.array([*answer.values()])
            assert theirs - theirs[0] == pytest.approx(mine - mine[0], abs=1e-4)


def views_in(told: Any) -> np.ndarray:
    return np.frombuffer(b"".join(map(bytes.fromhex, told["views"])), VIEW)


def test_a_run_that_was_kept_goes_on_as_if_it_had_never_stopped(trained: tuple[Path, Any]) -> None:
    assert {run["name"]: run["same"] for run in trained[1]["runs"]} == dict.fromkeys(TRAINED, True)


def test_python_plays_what_the_page_saved(trained: tuple[Path, Any]) -> None:
    folder, told = trained
    for run in told["runs"]:
        check_logits(folder / run["name"], views_in(told), run["logits"])


def test_the_page_plays_what_python_saved(trained: tuple[Path, Any]) -> None:
    folder, told = trained
    for policy in told["loaded"]:
        check_logits(folder / policy["name"], views_in(told), policy["logits"])


def test_files_that_are_cut_altered_or_of_other_shapes_are_refused(
    trained: tuple[Path, Any],
) -> None:
    assert all(refused for _, refused in trained[1]["refused"]), trained[1]["refused"]


def learnt(page: Any) -> int:
    """Return how many decisions the agent has learnt from."""
    cell = page.inner_text("#dialog-body table.figures tr:nth-of-type(3) td")
    return int(cell.replace(",", ""))


def wait_for_points(page: Any, count: int) -> None:
    page.wait_for_function(
        "(count) => (document.querySelector('.training path.curve-0:not(.band)')"
        "?.getAttribute('d').split('L').length ?? 0) >= count",
        arg=count,
        timeout=120_000,
    )


def pause(page: Any) -> None:
    page.click("#train-onward")
    page.wait_for_selector("body[data-training=paused]")


def test_an_agent_learns_rests_goes_on_after_a_reload_and_is_played_against(
    page: Any, address: str, tmp_path: Path
) -> None:
    begin(page, address)
    menu(page, "train")
    page.click("#dialog-menu button[value=go]")
    wait_for_points(page, 2)
    pause(page)
    before = learnt(page)
    page.click("#train-save")
    page.wait_for_selector("#dialog:has-text('plays it as policy:FOLDER')")
    check_access(page)
    for name in ("policy.safetensors", "policy.json"):
        with page.expect_download() as download:
            page.click(f"#dialog a[download='{name}']")
        download.value.save_as(tmp_path / name)
    assert PolicyAgent(str(tmp_path)).about["decisions"] == before
    begin(page, address)
    menu(page, "train")
    page.wait_for_selector("#train-onward")
    assert learnt(page) == before
    page.click("#train-onward")
    wait_for_points(page, 3)
    page.click("#dialog-menu button[value=play]")
    page.wait_for_selector("#seats .seat:has-text('Agent')", timeout=60_000)
    state_of(page)
    made = moves_made(page)
    page.locator("#hand .held[aria-disabled=false]").last.click()
    page.locator("#choices button").first.click()
    wait_for_move(page, made)
    state_of(page)
    assert "Pia" not in page.inner_text("#said")
