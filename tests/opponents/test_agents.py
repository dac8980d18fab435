"""Agents: what holds for each of them, and their specs."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import pytest

from fiveup_env import Game, legal_masks
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import AgentError, InputError
from fiveup_env.opponents import registry
from fiveup_env.opponents.heuristics.ladder import LADDER, Greedy
from fiveup_env.opponents.registry import listing, make_agent, register_agent
from tests.support import PROMISES_OF_AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable

# Every agent of the library; the search has little to do.
AGENTS = [
    "random",
    *reversed(LADDER),
    "casual:partner",
    "level:1",
    "pair:greedy,second=level:1",
    "student",
    "pimc:worlds=4",
    "pimc:worlds=4,weighed=4,playout=student",
    "student+search:worlds=4",
    "policy",
    "policy:family,sample=1",
    "policy+search:worlds=2",
    "policy+search:worlds=4,playout=student",
]


@pytest.mark.parametrize("promise", PROMISES_OF_AGENTS)
@pytest.mark.parametrize("spec", AGENTS)
def test_every_agent_keeps_the_promises_of_agents(
    spec: str, promise: Callable[[str], None]
) -> None:
    promise(spec)


def test_what_is_no_view_is_refused_in_a_sentence() -> None:
    rng = np.random.default_rng(0)
    for views, why in (
        (np.zeros((1, 5)), r"not float64 in the shape \(1, 5\)"),
        (Game(seed=3).view()[0], "views are an array of VIEW structs, not"),
        (Game(seed=3).state(), "not .* in the shape"),
        ([3], r"not \[3\]"),
    ):
        for spec in ("greedy", "pimc:worlds=4"):
            with pytest.raises(InputError, match=why) as refused:
                make_agent(spec)(views, rng)  # type: ignore[arg-type]
            assert len(str(refused.value)) < 250


# --- Specs


@dataclass(frozen=True)
class Slow:
    """Waits before it moves."""

    seconds: float = field(default=1.5, metadata={"help": "how long"})
    times: int = 2

    def __call__(self, views: np.ndarray, rng: Any) -> np.ndarray:
        """Choose the lowest action."""
        del rng
        return legal_masks(views).argmax(1)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what tests register."""
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))


def lowest(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Play the lowest action."""
    del rng
    return legal_masks(views).argmax(1)


def test_a_function_is_an_agent() -> None:
    register_agent("lowest", lowest)
    assert make_agent("lowest") is lowest
    assert "\nlowest          Play the lowest action.\n" in listing() + "\n"
    with pytest.raises(AgentError, match="lowest is a function, which has no options, not 'n=1'"):
        make_agent("lowest:n=1")


def test_a_spec_names_a_class_or_a_function_of_any_module() -> None:
    assert make_agent(f"{__name__}:lowest") is lowest
    assert make_agent(f"{__name__}:Slow,times=5") == Slow(times=5)
    with pytest.raises(AgentError, match=r"there is no Fast in the module tests\.opponents"):
        make_agent(f"{__name__}:Fast")
    with pytest.raises(AgentError, match=r"no agent 'mine'.*of your own is named module:Class"):
        make_agent("mine:Mine")


def test_an_agent_that_needs_an_option_says_so() -> None:
    with pytest.raises(AgentError, match="sb3 needs its path: sb3:path="):
        make_agent("sb3")
    assert "  path=  the zip file\n" in listing()


def called_with_masks(views: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    del views, rng
    return masks.argmax(1)


class Uncalled:
    """Has no way to be asked."""


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (called_with_masks, "is called with views and rng, which .* does not take"),
        (Uncalled, "a class whose instances are called like one, not .*Uncalled"),
        (Uncalled(), "a class whose instances are called like one, not .*Uncalled"),
        (None, "a class whose instances are called like one, not None"),
        (7, "a class whose instances are called like one, not 7"),
        ("module", "is written module:Class, not 'module'"),
        ("a module:Class", "is written module:Class, not 'a module:Class'"),
    ],
)
def test_what_cannot_be_an_agent_is_refused_at_once(agent: Any, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        register_agent("wrong", agent)
    assert "wrong" not in registry.known_agents()


@pytest.mark.parametrize("name", ["", "two words", "a:b", "a,b", "a=b", None, 7.5])
def test_the_name_of_an_agent_is_one_word(name: Any) -> None:
    with pytest.raises(AgentError, match="the name of an agent is a word such as 'greedy'"):
        register_agent(name, Slow)


def test_a_spec_sets_the_options_of_an_agent() -> None:
    register_agent("slow", Slow)
    assert make_agent("slow") == Slow()
    assert make_agent("slow:times=5,seconds=0.25") == Slow(0.25, 5)
    assert "slow" in listing()
    assert "seconds=1.5  how long" in listing()
    register_agent("slow+even+slower", Slow)
    assert "\nslow+even+slower  Waits before it moves.\n" in listing()
    with pytest.raises(AgentError, match=r"no option of slow 'second'.*did you mean 'seconds'"):
        make_agent("slow:second=3")
    for spec in ("slow:times", "slow:times=", "slow:times=two"):
        with pytest.raises(AgentError, match="times must be a int"):
            make_agent(spec)


@pytest.mark.parametrize(
    "kind",
    [float | None, None | float, Optional[float]],  # noqa: UP045  (as older packages write it)
)
def test_an_option_that_may_be_none_is_read_as_what_it_is_otherwise(
    kind: Any,
) -> None:
    option = ("weight", kind, field(default=None))
    namespace = {"__doc__": "Weighs.", "__call__": Slow.__call__}
    register_agent("weighing", make_dataclass("Weighing", [option], namespace=namespace))
    given: Any = make_agent("weighing:weight=2.5")
    left_out: Any = make_agent("weighing")
    assert (given.weight, left_out.weight) == (2.5, None)
    with pytest.raises(AgentError, match="weight must be a float, not 'None'"):
        make_agent("weighing:weight=None")


def test_an_agent_defined_again_replaces_the_former_and_no_other_does() -> None:
    def define(number: int) -> type[Any]:
        @dataclass(frozen=True)
        class Again(Slow):
            """Defined in a cell that is run again and again."""

            times: int = number

        return Again

    first, second = define(1), define(2)
    for agent in (first, second):
        register_agent("again", agent)
        assert make_agent("again") == agent()
    register_agent("slow", f"{Slow.__module__}:Slow")
    register_agent("slow", Slow)
    for other in (Slow, f"{Slow.__module__}:Slow"):
        with pytest.raises(AgentError, match=r"an agent 'again' already, .*Again; give this one"):
            register_agent("again", other)
    assert make_agent("again") == second()


def test_a_spec_names_the_opponents_of_a_learner() -> None:
    env = FiveUpEnv(players=2, opponents="greedy")
    assert env._opponents.agents == [Greedy()]
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        FiveUpEnv(opponents="greedi")


def test_unknown_agents_list_what_there_is() -> None:
    with pytest.raises(
        AgentError, match=r"no agent 'greedi' \(did you mean 'greedy'\?\); known: .*defensive"
    ):
        make_agent("greedi")
    with pytest.raises(AgentError, match="no option of greedy 'depth'; known: none"):
        make_agent("greedy:depth=3")


def test_agents_of_other_packages_are_found_by_their_entry_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Point:
        name = "elsewhere"

        @staticmethod
        def load() -> type:
            return Slow

    monkeypatch.setattr(
        registry, "entry_points", lambda group: [Point] if group == "fiveup.agents" else []
    )
    assert make_agent("elsewhere:times=3") == Slow(times=3)


def test_an_agent_of_another_package_that_cannot_be_imported_hides_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Point:
        name = "broken"

        @staticmethod
        def load() -> type:
            raise ImportError("no module named 'gone'")

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point])  # noqa: ARG005
    assert make_agent("greedy") == Greedy()
    assert re.search("^broken +cannot be loaded: no module named 'gone'$", listing(), re.MULTILINE)
    assert "greedy" in listing()


# --- Opponents come with the library


def test_an_agent_is_made_without_the_laboratory_or_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['agents'] = None\n"
        "import fiveup_env, gymnasium\n"
        "assert 'fiveup_env.opponents.heuristics.ladder' not in sys.modules\n"
        "print(fiveup_env.make_agent('greedy'))\n"
        "env = gymnasium.make('fiveup/FiveUp-v0', opponents='partner', episode='hand')\n"
        "_, info = env.reset(seed=1)\n"
        "over = False\n"
        "while not over:\n"
        "    _, reward, ended, cut, info = env.step(int(info['action_mask'].argmax()))\n"
        "    over = ended or cut\n"
        "print(fiveup_env.make_agent('pimc:worlds=4').worlds)\n"
        "print(sorted(fiveup_env.opponents.known_agents()))\n"
    )
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    learnt = ["student", "student+search", "policy", "policy+search"]
    names = sorted(
        ["random", *LADDER, "casual", "level", "pair", *learnt, "pimc", "program", "sb3", "text"]
    )
    assert told.stdout.splitlines() == ["Greedy()", "4", str(names)]


def test_opponents_of_a_learner_are_any_agent_that_keeps_the_protocol() -> None:
    env = FiveUpEnv(players=2, opponents="pimc:worlds=2", episode="hand")
    _, info = env.reset(seed=3)
    env.step(int(info["action_mask"].argmax()))
    assert env._opponents.agents == [make_agent("pimc:worlds=2")]
    mine = make_agent("defensive")
    assert FiveUpEnv(opponents=mine)._opponents.agents[0] is mine
