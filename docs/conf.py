"""How the site is built: `python -m sphinx -W -b html docs build/html`."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from docutils import nodes
from ipykernel.kernelspec import get_kernel_dict

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT: Final = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]


def prepend(variable: str, first: Path) -> None:
    """Put a folder before those that a variable of the environment names."""
    os.environ[variable] = os.pathsep.join(filter(None, (str(first), os.environ.get(variable))))


# Notebooks, and the commands that pages show, run by the interpreter that builds the site.
KERNEL: Final = ROOT / "build" / "jupyter" / "kernels" / "python3" / "kernel.json"
KERNEL.parent.mkdir(parents=True, exist_ok=True)
KERNEL.write_text(json.dumps(get_kernel_dict()))
prepend("JUPYTER_PATH", KERNEL.parents[2])
prepend("PATH", Path(sys.executable).parent)
prepend("PYTHONPATH", ROOT)

import fiveup_env  # noqa: E402
from fiveup_env.play.page import write_page  # noqa: E402

project = "fiveup-env"
author = "The fiveup-env developers"
copyright = author  # noqa: A001  (Sphinx's name for it)
release = version = fiveup_env.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb", "made"]
exclude_patterns = ["_ext"]
html_theme = "furo"
html_title = f"fiveup-env {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_copy_source = False

default_role = "code"
autoclass_content = "both"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False

napoleon_use_ivar = True
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence"]
nb_execution_mode = "force"
nb_execution_timeout = 600  # of a cell; the game may have to be compiled first
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
# The outside is checked by `-b linkcheck`, in a job of its own.
linkcheck_timeout = 20

# Pages that are whole files elsewhere in the repository.
ELSEWHERE: Final = {
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
    "understand/rules": "RULES.md",
    "understand/leaderboard": "leaderboard/README.md",
    "understand/model-card": "fiveup_env/opponents/networks/policies/README.md",
    "use/examples": "examples/README.md",
}
# Where the site has what a link to a file of the repository means.
PLACES: Final = {
    **{ROOT / file: f"{page}.md" for page, file in ELSEWHERE.items()},
    ROOT / "README.md": "index.md",
}
INTERVAL: Final = re.compile(r" \(?[+-]?[\d.,]+ \.\. [+-]?[\d.,]+\)?| \+- [\d.]+")
LINK: Final = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)")


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Read a page that is elsewhere in its place, and let links lead to pages of the site."""
    here = Path(app.env.doc2path(page))
    written = ROOT / ELSEWHERE[page] if page in ELSEWHERE else here
    if written.suffix != ".md":
        return
    app.env.note_dependency(str(written))
    text = source[0] if written == here else written.read_text("utf-8")

    def leading(link: re.Match[str]) -> str:
        target = (written.parent / link[1]).resolve()
        target = app.srcdir / PLACES[target] if target in PLACES else target
        return os.path.relpath(target, here.parent) if target.exists() else link[1]

    source[0] = LINK.sub(leading, text)


def keep_sentence(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    """Give a property its own words back: Napoleon takes what precedes a colon for a type."""
    del app, name, options
    if what == "property":
        lines[:] = [*(inspect.getdoc(documented) or "").splitlines(), ""]


def keep_intervals(app: Sphinx, page: nodes.document) -> None:
    """Let no interval break across lines: its spaces, and that before it, become hard ones."""
    del app
    for text in page.findall(nodes.Text):
        kept = INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
        if kept != text and not isinstance(text.parent, nodes.literal | nodes.literal_block):
            text.parent.replace(text, nodes.Text(kept))


def write_table(app: Sphinx, error: Exception | None) -> None:
    """Put the table beside the pages of the site: it is a folder that any file server serves."""
    if error is None and app.builder.format == "html":
        write_page(app.outdir / "play")


def setup(app: Sphinx) -> None:
    """Connect what is done when a page or a docstring is read."""
    app.connect("source-read", read_page)
    app.connect("doctree-read", keep_intervals)
    app.connect("autodoc-process-docstring", keep_sentence, priority=600)
    app.connect("build-finished", write_table)
