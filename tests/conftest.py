"""What holds for all tests: none is timed or takes more than a core, and what is skipped is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a shell Ctrl-C is ignored, also by the commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


# Rooms whose tests wait for processes and browsers: of two workers, one begins with them, while the
# other compiles what both will need.
APART = {"arena", "cli", "play", "portable", "programs"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of these rooms first."""
    items.sort(key=lambda item: item.path.parent.name not in APART)


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
