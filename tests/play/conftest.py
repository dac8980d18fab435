"""What the tests of the page share: its folder, a server for it, Chromium and a new visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fiveup_env.play.page import write_page
from tests.web import chromium, folder_server, visitor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static folder, which is all that is needed."""
    folder = tmp_path_factory.mktemp("site")
    write_page(folder)
    return folder


@pytest.fixture(scope="package")
def address(site: Path) -> Iterator[str]:
    with folder_server(site) as served:
        yield f"{served}/"


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a new visitor that must never complain."""
    with visitor(browser) as (made, complaints):
        yield made
        assert not complaints
