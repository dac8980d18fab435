"""What holds for all tests: none is timed, and none takes more than a core of its own."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a shell Ctrl-C is ignored, also by the commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _agents_of_others_are_looked_for_anew() -> Iterator[None]:
    """Forget which agents other packages offer, before and after a test that installs some."""
    from fiveup_env.opponents import registry

    registry.offered.cache_clear()
    yield
    registry.offered.cache_clear()
