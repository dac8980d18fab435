"""The examples in docstrings say what is so."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import fiveup_env

LIBRARY = Path(fiveup_env.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)
    for path in sorted(LIBRARY.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried
    assert not failed
