"""Check that the wheel and the sdist hold what they should: contents.py FOLDER."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_IN_THE_SDIST = {"agents", "benchmarks", "configs", "examples", "train.py", "evaluate.py"}
# All of the project's own, under its own licence: nothing of others is bundled.
KINDS = {".py", ".typed", ".json", ".safetensors", ".md", ".html", ".js", ".css"}
MOST_BYTES = 9_000_000  # three policies have 8.1 million of them

folder = Path(sys.argv[1])
(wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
listed = subprocess.run(
    ["git", "ls-files", "fiveup_env", "tests/library"],  # noqa: S607 - git, as the path has it
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=True,
).stdout.split()

inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
library = {name for name in listed if name.startswith("fiveup_env/")}
assert inside == library, f"the wheel and the code differ in {sorted(inside ^ library)}"
assert "fiveup_env/py.typed" in inside
kinds = {Path(name).suffix for name in inside}
assert kinds <= KINDS, f"the wheel has files of the kinds {sorted(kinds - KINDS)}"
licence = next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/LICENSE"))
assert zipfile.ZipFile(wheel).read(licence) == (ROOT / "LICENSE").read_bytes()
size = wheel.stat().st_size
assert size < MOST_BYTES, f"the wheel has {size:,} bytes"

with tarfile.open(sdist) as archive:
    names = {name.partition("/")[2] for name in archive.getnames()}
assert not set(listed) - names, f"the sdist lacks {sorted(set(listed) - names)}"
for top in NOT_IN_THE_SDIST:
    assert not any(Path(name).parts[:1] == (top,) for name in names), f"the sdist holds {top}"
print(f"{wheel.name}: {len(inside)} files, {size:,} bytes; {sdist.name}: {len(names)} files")
