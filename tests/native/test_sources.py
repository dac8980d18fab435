"""The source that code is made from."""

from __future__ import annotations

from pathlib import Path

from fiveup_env.native.sources import PACKAGE, module_sources, source_digest


def test_the_digest_of_the_source_skips_what_editors_leave_there(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "play.py").write_text("1")
    before = source_digest(frozenset({package}))
    (package / ".#play.py").symlink_to("nobody@nowhere")
    (package / ".ipynb_checkpoints").mkdir()
    (package / ".ipynb_checkpoints" / "play.py").write_text("2")
    (package / "gone.py").symlink_to("nowhere")
    source_digest.cache_clear()
    assert source_digest(frozenset({package})) == before


def test_the_rules_are_compiled_from_the_engine_and_what_it_imports() -> None:
    rules = {path.parent.name for path in module_sources(PACKAGE / "engine" / "play.py")}
    assert rules == {"fiveup_env", "engine", "native", "rules"}


def test_a_constant_that_compiled_code_imports_is_part_of_its_source(tmp_path: Path) -> None:
    for name, text in {
        "package/__init__.py": "",
        "package/inner/__init__.py": "from .. import far",
        "package/far.py": "",
        "package/near.py": "",
        "package/other.py": "",
        "package/near.json": "",
        "package/top.py": "from package import (\n    near,\n)\nimport package.inner\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    sources = module_sources(tmp_path / "package" / "top.py")
    names = {path.name for path in sources if path.is_relative_to(tmp_path / "package")}
    assert names == {"top.py", "near.py", "near.json", "__init__.py", "far.py"}
