"""The examples of the page run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("jax")

from tests.support import code_in, run_example

PAGE = Path(__file__).parents[2] / "docs" / "use" / "jax.md"


@pytest.mark.parametrize("code", code_in([PAGE]))
def test_the_example_runs(code: str) -> None:
    run_example(code)
