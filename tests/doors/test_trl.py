"""TRL's `environment_factory`: the environment, with its moves and tools as methods."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fiveup_env.doors.text import TextEnv
from fiveup_env.doors.trl import factory_of
from fiveup_env.errors import AgentError, OptionError

OPTIONS: Any = {"players": 2, "opponents": "greedy", "episode": "hand"}


def methods_of(game: object) -> set[str]:
    """Return the public methods, as TRL collects them."""
    named = inspect.getmembers(type(game), predicate=inspect.isfunction)
    return {name for name, _ in named if not name.startswith("_")} - {"reset", "get_reward"}


def test_a_scripted_model_is_told_and_paid_what_the_environment_says() -> None:
    factory = factory_of(tools=["score", "belief"], **OPTIONS)
    for seed in range(50):
        env = TextEnv(tools="belief+score", **OPTIONS)
        game: Any = factory()
        prompt, info = env.reset(seed=seed)
        assert game.reset(seed=seed, prompt=[{"role": "user", "content": ""}]) == prompt
        total, over = 0.0, False
        for wrong in ("", "<tool>play 6-6</tool>", "lead 6-6\x00"):
            if seed % 3 == 0 and not over:
                prompt, reward, over, _, _ = env.step(wrong)
                assert game.play(wrong) == prompt
                total += reward
        while not over:
            move = info["legal"][-1]
            for asked, said in (
                ("ask belief", game.belief()),
                (f"ask score {move}", game.score(move)),
            ):
                assert env.step(asked)[0] == said
            prompt, reward, over, _, info = env.step(f"So:\n{move}")
            assert game.play(f"So:\n{move}") == prompt
            total += reward
            assert game.get_reward() == total
        assert game.play("pass") == "The episode is over."
        assert game.get_reward() == total


def test_only_the_tools_that_are_named_are_there_each_with_its_arguments() -> None:
    assert methods_of(factory_of(**OPTIONS)()) == {"play"}
    game = factory_of(tools="ends+history+score+belief", **OPTIONS)()
    assert methods_of(game) == {"play", "ends", "history", "score", "belief"}
    utils = pytest.importorskip("transformers.utils", reason="TRL's schema of tools (no TRL)")
    for name in methods_of(game):
        schema = utils.get_json_schema(getattr(game, name))["function"]
        assert schema["name"] == name
        assert ("move" in schema["parameters"]["properties"]) == (name in {"play", "score"})


def test_what_is_wrong_is_said_before_anything_is_trained() -> None:
    with pytest.raises(AgentError, match="there is no tool 'hands'"):
        factory_of(tools="hands")
    with pytest.raises(OptionError, match="there is no reward 'lost'"):
        factory_of(reward="lost")
