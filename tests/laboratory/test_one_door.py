"""`fiveup train`, `evaluate` and `benchmark` in a clone: the scripts, by another door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import evaluate
import train
from fiveup_env.__main__ import parser
from fiveup_env.commands.completion import completion_script

if TYPE_CHECKING:
    from collections.abc import Callable


ROOT = Path(__file__).parents[2]


def fiveup(
    *words: str, cwd: Path = ROOT, code: str = "", **options: str
) -> subprocess.CompletedProcess[str]:
    """Run `fiveup`; `code` is run before it, in the same interpreter."""
    run = f"{code}\nimport sys; from fiveup_env.__main__ import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", run, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **options},
    )


def test_evaluate_does_what_the_script_does(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    words = [
        "--agents",
        "greedy,random",
        "--deals",
        "4",
        "--episode",
        "hand",
        "--cores",
        "2",
        "--chunk",
        "2",
    ]
    done = fiveup("evaluate", *words, "--json", str(file), cwd=tmp_path)
    script = subprocess.run(
        [sys.executable, str(ROOT / "evaluate.py"), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == script.stdout.splitlines()[:3]  # no times in these
    assert json.loads(file.read_text())["options"]["deals"] == 4


def test_train_passes_every_word_on(tmp_path: Path) -> None:
    done = fiveup("train", "--resume", "no such run", "gamma=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("train: there is no run 'no such run'")
    assert fiveup("train", "--keys").stdout.startswith("  rules=[five_up] ")


def test_a_benchmark_is_an_option_of_evaluate(tmp_path: Path) -> None:
    (tmp_path / "evaluate.py").write_text("import sys\nprint(*sys.argv[1:])\n")
    clone = (
        "from pathlib import Path; from fiveup_env.commands import laboratory\n"
        f"laboratory.find_clone = lambda: Path({str(tmp_path)!r})"
    )
    for words in ("x --agents greedy --quick --cores 1", "--cores 1 --quick --agents greedy x"):
        done = fiveup("benchmark", *words.split(), code=clone)
        told = "--benchmark=x --agents=greedy --quick --engine=local --cores=1\n"
        assert (done.stdout, done.stderr) == (told, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--help", "usage: fiveup benchmark "),
        ("", "fiveup benchmark: error: the following arguments are required: NAME, --agents"),
        ("fiveup-v1 --agents greedy --seed 3", "there is no option '--seed'"),
        ("fiveup-v1 --agents greedy --cores 0", "--cores must be at least 1, not 0"),
        ("fiveup-v2 --agents greedy", "there is no benchmark 'fiveup-v2' (did you mean"),
    ],
)
def test_a_benchmark_has_words_of_its_own(words: str, told: str) -> None:
    done = fiveup("benchmark", *words.split())
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("parse", "words", "sentence"),
    [
        (evaluate.parser().parse_args, "--agnets greedy", "did you mean '--agents'?"),
        (
            evaluate.parser().parse_args,
            "--episode gmae",
            "there is no episode 'gmae' (did you mean 'game'?)",
        ),
        (train.parser().parse_intermixed_args, "smoke gamma=1 --nmae x", "did you mean '--name'?"),
    ],
)
def test_what_is_unknown_is_told_the_nearest(
    parse: Callable[[list[str]], object],
    words: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        parse(words.split())
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("module", ["yaml", "torch"])
def test_without_the_extra_train_names_the_line_that_installs_it(
    module: str, tmp_path: Path
) -> None:
    hidden = f"import sys; sys.modules[{module!r}] = None"
    done = fiveup("train", "smoke", "--name", "never", code=hidden, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"train: there is no {module}: pip install -c constraints.txt -e '.[train]'\n"
    )
    assert not (ROOT / "runs" / "never").exists()


def test_a_reader_that_has_seen_enough_ends_the_scripts_silently() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    for line in (["evaluate.py", "--list"], ["train.py", "--keys"]):
        done = subprocess.run(
            [sys.executable, *line], cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(theirs)


def test_completion_knows_the_options_of_the_scripts() -> None:
    script = completion_script(parser(), "bash")
    for command, made in (("train", train.parser()), ("evaluate", evaluate.parser())):
        (line,) = (one for one in script.splitlines() if f'"{command}") words=' in one)
        assert set(made._option_string_actions) <= set(line.partition('words="')[2][:-4].split())
