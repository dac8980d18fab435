"""Agents: what holds for each of them, and their specs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import AgentError, InputError
from fiveup_env.opponents import registry
from fiveup_env.opponents.heuristics.ladder import LADDER, READER, Greedy
from fiveup_env.opponents.levels import LEVEL_SPECS, LEVELS
from fiveup_env.opponents.registry import listing, make_agent, register_agent
from tests.support import PROMISES_OF_AGENTS, lowest, python

# Every agent of the library; the searches have little to do.
AGENTS = [
    "random",
    *LADDER,
    READER,
    "casual:partner",
    "pair:greedy,second=level:1",
    "seats:greedy,second=level:1,third=casual",
    "student",
    "pimc:worlds=4",
    "pimc:worlds=4,weighed=4,playout=student",
    "student+search:worlds=4",
    "policy:family,sample=1",
    "policy+search:worlds=2",
]


@pytest.mark.parametrize("promise", PROMISES_OF_AGENTS)
@pytest.mark.parametrize("spec", AGENTS)
def test_every_agent_keeps_the_promises_of_agents(
    spec: str, promise: Callable[[str], None]
) -> None:
    promise(spec)


def test_what_is_no_view_is_refused_in_a_sentence() -> None:
    for views, why in (
        (np.zeros((1, 5)), r"not float64 in the shape \(1, 5\)"),
        (Game(seed=3).view()[0], "views are an array of VIEW structs, not"),
        (Game(seed=3).state(), "not .* in the shape"),
        ([3], r"not \[3\]"),
    ):
        for spec in ("greedy", "pimc:worlds=4"):
            with pytest.raises(InputError, match=why) as refused:
                make_agent(spec)(views, np.random.default_rng(0))  # type: ignore[arg-type]
            assert len(str(refused.value)) < 250


def test_a_level_plays_as_what_it_stands_for() -> None:
    view = Game(players=2, seed=3, target=5).view()
    for level, spec in zip(LEVEL_SPECS, LEVELS, strict=True):
        first, second = (make_agent(one)(view, np.random.default_rng(0)) for one in (level, spec))
        assert first == second


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        *((spec, r"from 1 to 10|must be a int") for spec in ("level:0", "level:11", "level:1.5")),
        ("level", "needs its number"),
        ("casual:student", "rung of the ladder"),
        ("casual:tiles=1.5", "chance from 0 to 1"),
        ("casual:doubles=often", "must be a float"),
        ("casual:luck=1", "option of casual"),
        ("pimc:playout=gredy", r"no playout 'gredy' \(did you mean 'greedy'\?\)"),
        ("pimc:aim=win", "no aim 'win'; known: game, hand"),
        ("pimc:worlds=0", "worlds=1 or more"),
        ("pimc:ms=-1", "worlds=1 or more and ms=0 or more"),
        ("pimc:weighed=2000", "weighed must be from 1 to 1024, not 2000"),
        ("student+search:error=0", r"error must be above 0, not 0\.0"),
        ("pair:greedy", "pair needs its second"),
        ("pair:greedy,second=pimc:worlds=5,world=1", "there is no option of pimc 'world'"),
        ("pair:worlds=5,second=greedy", "there is no option of pair 'worlds'"),
        ("seats:greedy,second=greedy,fourth=greedy", "filled in order: name the third"),
        ("seats:greedy,second=mix:greedy=1", "seats has no mixtures in it"),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(spec: str, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        make_agent(spec)


# --- Specs


@dataclass(frozen=True)
class Slow:
    """Waits before it moves."""

    seconds: float = field(default=1.5, metadata={"help": "how long"})
    times: int = 2

    def __call__(self, views: np.ndarray, rng: Any) -> np.ndarray:
        """Choose the lowest action."""
        return lowest(views, rng)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what tests register."""
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))


def test_a_function_is_an_agent() -> None:
    register_agent("lowest", lowest)
    assert make_agent("lowest") is lowest
    assert "\nlowest          Return the lowest legal action of every view.\n" in listing() + "\n"
    with pytest.raises(AgentError, match="lowest is a function, which has no options, not 'n=1'"):
        make_agent("lowest:n=1")


def test_a_spec_names_a_class_or_a_function_of_any_module() -> None:
    assert make_agent(f"{__name__}:lowest") is lowest
    assert make_agent(f"{__name__}:Slow,times=5") == Slow(times=5)
    with pytest.raises(AgentError, match=r"there is no Fast in the module tests\.opponents"):
        make_agent(f"{__name__}:Fast")
    with pytest.raises(AgentError, match=r"no agent 'mine'.*of your own is named module:Class"):
        make_agent("mine:Mine")


def called_with_masks(views: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    del views, rng
    return masks.argmax(1)


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (called_with_masks, "is called with views and rng, which .* does not take"),
        (SimpleNamespace, "a class whose instances are called like one, not .*SimpleNamespace"),
        (SimpleNamespace(), "a class whose instances are called like one, not namespace"),
        (7, "a class whose instances are called like one, not 7"),
        ("module", "is written module:Class, not 'module'"),
        ("a module:Class", "is written module:Class, not 'a module:Class'"),
    ],
)
def test_what_cannot_be_an_agent_is_refused_at_once(agent: Any, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        register_agent("wrong", agent)
    assert "wrong" not in registry.known_agents()


@pytest.mark.parametrize("name", ["", "two words", "a:b", "a,b", "a=b", None])
def test_the_name_of_an_agent_is_one_word(name: Any) -> None:
    with pytest.raises(AgentError, match="the name of an agent is a word such as 'greedy'"):
        register_agent(name, Slow)


def test_a_spec_sets_the_options_of_an_agent() -> None:
    register_agent("slow", Slow)
    assert make_agent("slow") == Slow()
    assert make_agent("slow:times=5,seconds=0.25") == make_agent("slow:0.25,times=5")
    assert make_agent("slow:0.25,times=5") == Slow(0.25, 5)
    assert "seconds=1.5  how long" in listing()
    register_agent("slow+even+slower", Slow)
    assert "\nslow+even+slower  Waits before it moves.\n" in listing()
    for spec, why in (
        ("slow:second=3", r"no option of slow 'second'.*did you mean 'seconds'"),
        ("slow:times", "times must be a int"),
        ("slow:times=two", "times must be a int"),
        ("slow:seconds=nan", "seconds must be a float"),
        ("greedy:depth=3", "no option of greedy 'depth'; known: none"),
        ("sb3", "sb3 needs its path: sb3:path="),
    ):
        with pytest.raises(AgentError, match=why):
            make_agent(spec)


@pytest.mark.parametrize("kind", [float | None, Optional[float]])  # noqa: UP045  (older packages)
def test_an_option_that_may_be_none_is_read_as_what_it_is_otherwise(kind: Any) -> None:
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


def test_opponents_of_a_learner_are_named_by_specs_or_given() -> None:
    for agent in ("greedy", make_agent("pimc:worlds=2")):
        env = FiveUpEnv(players=2, opponents=agent, episode="hand")
        _, info = env.reset(seed=3)
        env.step(int(info["action_mask"].argmax()))
        assert env._opponents.agents == [registry.get_agent(agent)]
    for make in (make_agent, lambda spec: FiveUpEnv(opponents=spec)):
        with pytest.raises(AgentError, match=r"\(did you mean 'greedy'\?\); known: .*defensive"):
            make("greedi")


def test_agents_of_other_packages_are_found_by_their_entry_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone() -> type:
        raise ImportError("no module named 'gone'")

    points = [
        SimpleNamespace(name="elsewhere", load=lambda: Slow),
        SimpleNamespace(name="broken", load=gone),
    ]
    offers = {"fiveup.agents": points}
    monkeypatch.setattr(registry, "entry_points", lambda group: offers[group])
    assert make_agent("elsewhere:times=3") == Slow(times=3)
    assert make_agent("greedy") == Greedy()
    assert re.search("^broken +cannot be loaded: no module named 'gone'$", listing(), re.MULTILINE)


def test_agents_play_without_the_laboratory_or_torch() -> None:
    code = (
        "import sys; sys.modules.update(torch=None, agents=None, safetensors=None)\n"
        "import fiveup_env, gymnasium\n"
        "assert 'fiveup_env.opponents.heuristics.ladder' not in sys.modules\n"
        "env = gymnasium.make('fiveup/FiveUp-v0', opponents='partner', episode='hand')\n"
        "_, info = env.reset(seed=1)\n"
        "over = False\n"
        "while not over:\n"
        "    _, reward, ended, cut, info = env.step(int(info['action_mask'].argmax()))\n"
        "    over = ended or cut\n"
        "game = fiveup_env.Game(seed=1)\n"
        "for spec in ('student', 'policy:partners', 'policy:family', 'pimc:worlds=4'):\n"
        "    game.ask(fiveup_env.make_agent(spec))\n"
        "print(*sorted(fiveup_env.opponents.known_agents()))\n"
    )
    done = python("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    others = "random reader casual level pair seats student student+search policy policy+search pimc program sb3"
    assert done.stdout.split() == sorted([*LADDER, *others.split(), "mix", "text"])
