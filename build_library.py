"""Build the library of compiled functions when the package is built or installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
BUILT = ROOT / "fiveup_env" / "native" / "built"


class LibraryHook(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Compiles for this system, or for that of FIVEUP_TARGET; in a clone, for this processor."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, and say which system the wheel is for."""
        if self.target_name != "wheel":
            return
        self.app.display_waiting("compiling fiveup_env, which takes about a minute")
        command = [sys.executable, "-m", "fiveup_env.portable", "native"]
        command += ["--target", os.environ.get("FIVEUP_TARGET", "")]
        command += ["--here"] if version == "editable" else []
        subprocess.run(command, cwd=ROOT, check=True)
        about = json.loads((BUILT / "library.json").read_bytes())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{about['platform']}"
        build_data["artifacts"].append("/fiveup_env/native/built/*")
