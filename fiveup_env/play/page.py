"""The page as files: what a server sends, and what a folder for any file server needs."""

from __future__ import annotations

import hashlib
import json
import mimetypes
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import InputError
from fiveup_env.files import write_atomic
from fiveup_env.portable.weights import pack

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from fiveup_env.files import Json

MODULE: Final = ("fiveup.mjs", "fiveup.wasm", "fiveup.json", "learning.mjs", "learning.wasm")
INDEX: Final = "index.html"
SERVICE: Final = "service.js"
NO_PAGE: Final = 'JSON.parse("null")'
NO_OFFER: Final = 'name="fiveup-server" content=""'
TYPES: Final = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".weights": "application/octet-stream",
}


def page_files() -> dict[str, bytes]:
    """Return every file of the page by its path, such as `words/en.js`."""
    content = dict(_below(files("fiveup_env.play").joinpath("static")))
    for name in MODULE:
        content[name] = files("fiveup_env.portable").joinpath(name).read_bytes()
    networks = {}
    for level in json.loads(content["fiveup.json"])["levels"].values():
        if level["policy"] is not None:
            networks[f"{level['policy']}.weights"] = pack(level["policy"])
    content[SERVICE] = _with_page(content[SERVICE], content, networks)
    return content | networks


def _with_page(
    service: bytes, content: Mapping[str, bytes], networks: Mapping[str, bytes]
) -> bytes:
    """Return the service worker that knows which files to keep, and their version."""
    digest = hashlib.sha256()
    for path, held in sorted({**content, **networks}.items()):
        digest.update(f"{path}\n{len(held)}\n".encode() + held)
    kept = [".", *sorted(content.keys() - {INDEX, SERVICE})]
    page = {"version": digest.hexdigest()[:16], "files": kept, "fetched": sorted(networks)}
    return service.replace(NO_PAGE.encode(), json.dumps(page).encode())


def _below(folder: Traversable, path: str = "") -> list[tuple[str, bytes]]:
    entries: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        if item.is_dir():
            entries += _below(item, f"{path}{item.name}/")
        else:
            entries.append((f"{path}{item.name}", item.read_bytes()))
    return entries


def type_of(path: str) -> str:
    """Return the media type of a file of the page."""
    known = TYPES.get(Path(path).suffix)
    return known or mimetypes.guess_type(path)[0] or "application/octet-stream"


def with_offer(index: bytes, offer: Json) -> bytes:
    """Return the page that knows what its server offers."""
    content = f'name="fiveup-server" content="{escape(json.dumps(offer))}"'
    return index.replace(NO_OFFER.encode(), content.encode())


def write_page(folder: str | os.PathLike[str]) -> int:
    """Write the page into a folder, which any file server may serve; return how many bytes.

    Files that are there are replaced. Raises InputError if the folder cannot be written.
    """
    written = 0
    try:
        for path, content in page_files().items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, content)
            written += len(content)
    except OSError as error:
        raise InputError(f"the page cannot be written to {folder}: {error}") from None
    return written
