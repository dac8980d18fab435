"""What holds for all tests: none is timed or takes more than a core, and what is skipped is said."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a shell Ctrl-C is ignored, also by the commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


# Of the workers, the first begins where nearly everything is compiled, once; the others further on,
# with what compiles little. What compares compiled code with pages, modules and processes comes last.
ROOMS = (
    *(
        "drawing",
        "opponents",
        "analysis",
        "seats",
        "learning",
        "agents",
        "belief",
        "encoders",
        "exact",
    ),
    *("doors", "jax", "engine", "engines", "whole", "envs", "game"),
    *("portable", "play", "arena", "programs", "cli"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests into the order of the rooms."""
    items.sort(key=lambda item: (*ROOMS, room := item.path.parent.name).index(room))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither during the imports, of which it takes a quarter, nor among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let `-n auto` take one worker more than cores: many tests wait for processes and pages."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker tests that follow one another, which share what their modules make."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """End with a line of the parts of the product that were skipped, and what they lack."""
    yield
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter and not hasattr(session.config, "workerinput"):
        skipped = reporter.stats.get("skipped", ())
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in skipped}
        if reasons:
            reporter.write_line(f"not tested here: {', '.join(sorted(reasons))}")


@pytest.fixture(autouse=True)
def _agents_of_others_are_looked_for_anew() -> Iterator[None]:
    """Forget which agents other packages offer, before and after a test that installs some."""
    from fiveup_env.opponents import registry

    registry.offered.cache_clear()
    yield
    registry.offered.cache_clear()
