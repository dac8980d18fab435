"""Configurations: what is read, what is refused, and that every key is documented."""

from __future__ import annotations

import itertools
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from agents.runs.config import (
    CONFIGS,
    KEYS,
    Config,
    ConfigError,
    describe_keys,
    known_configs,
    load_config,
    make_config,
    read_config,
)
from tests.own_encoders import PLACE
from tests.support import python


@pytest.mark.parametrize("name", known_configs())
def test_every_config_can_be_run(name: str) -> None:
    assert load_config(name).all_rules


def test_changes_override_the_file() -> None:
    config = load_config(
        "smoke", ["games=64", "learning_rate=3e-4", "decisions=1e6", "rivals=greedy"]
    )
    assert (config.games, config.learning_rate, config.decisions) == (64, 3e-4, 1_000_000)
    assert config.rivals == ("greedy",)
    assert config.width == load_config("smoke").width


def test_a_config_is_the_same_after_it_was_written() -> None:
    config = load_config("all_fives", ["rivals=[greedy, 'pimc:worlds=5']", "decisions=100"])
    assert make_config(yaml.safe_load(yaml.safe_dump(config.as_dict()))) == config


REFUSED: dict[str, list[tuple[str, str]]] = {
    "selfplay": [
        ("gammes=3", "no config key 'gammes' (did you mean 'games'?)"),
        ("encoder=flatt", "encoder: there is no encoder 'flatt' (did you mean 'flat'?)"),
        ("encoder=os:nothing", "encoder: there is no nothing in the module os"),
        ("games=many", "games: must be a whole number, not 'many'"),
        ("games=0", "games: must be 1 or more, not 0"),
        ("oracle=1", "oracle: must be true or false, not 1"),
        ("critic_scale=10", "critic_scale: only with oracle=true is there a critic"),
        (
            "engine=compiled shared=false",
            "engine: compiled code learns networks plain and guided with shared=true and oracle=false, not guided with shared=false",
        ),
        ("learning_rate=.nan", "learning_rate: must be a finite number, not nan"),
        ("rules=five_upp", "rules, players: there is no preset 'five_upp' (did you mean 'five_up'"),
        ("players=[2,7]", "rules, players: there must be 2 to 5 players, not 7"),
        ("batch_size=70000", "batch_size: 70000 decisions are more than the 16384"),
        ("panel=[greedy,foo]", "panel: there is no agent 'foo'"),
        ("reward=win", "reward: `win` comes at the end of a game"),
        ("episode=hand reward=outlook", "needs episode=game"),
        ("horizon=hands", "horizon: there is no value 'hands' (did you mean 'hand'?)"),
        ("rival_share=0.5", "rival_share: there are no rivals"),
        ("partner_share=0.5", "partner_share: there are no partners; set partners"),
        ("partner_share=0.5 partners=greedy players=[2,3]", "only four players have partners"),
        ("partner_share=0.5 partners=greedy target=greedy", "1 or less together, not 0.5 and 1"),
        ("games={", "games: '{' cannot be read as a value"),
        ("games", "a change must be written key=value, not 'games'"),
        (f"games={'9' * 500}", "games: must be 1000000000000000000 or less, not 999"),
        (f"minutes={'9' * 5000}", "minutes: '999"),
        ("seed=2001-99-99", "seed: '2001-99-99' cannot be read as a value"),
        (f"rivals={'[' * 1500}", "cannot be read as a value"),
        ("start=!!python/object:os.system", "cannot be read as a value"),
        ("target=policy:a\0b", "target: 'policy:a\\x00b' cannot be read as a value"),
        ("target=policy:nowhere", "target: nowhere/policy.json cannot be read"),
        ("networks=seat players=[3,4]", "networks: with networks=seat, all games have the same"),
        ("networks=side past_every=3", "past_every: with networks=side, no past selves are kept"),
        ("target=greedy rivals=random", "rivals: an exploiter plays only against its target"),
    ],
    "plain": [
        ("reward=outlook", "reward: learner=plain supports only margin or win"),
        ("rivals=[]", "rivals: the plain learner needs exactly one opponent"),
        ("target=greedy", "target: an exploiter plays all seats of a side"),
    ],
    "quick": [
        ("network=plain", "network: learner=expert supports only guided"),
        ("horizon=game reward=win", "reward: learner=expert supports only margin or outlook"),
        ("teacher=greedy", "teacher: greedy has no values for actions, so it cannot teach"),
        ("teacher=pimc:aim=hand", "teacher: reward outlook needs a teacher with aim=game, not han"),
    ],
    "all_actions": [("horizon=game", "horizon: learner=all_actions supports only hand")],
    "cluster": [
        ("ent_coef_end=0.01", "ent_coef_end: RLlib's schedules count decisions, so decisions must")
    ],
}


@pytest.mark.parametrize(
    ("config", "changes", "sentence"),
    [(config, *case) for config, cases in REFUSED.items() for case in cases],
)
def test_what_cannot_be_run_is_refused_by_its_key(config: str, changes: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        load_config(config, changes.split())


# A config for each learner, and another value for every key that not all of them read.
CONFIG_OF = {
    "self_play": "selfplay", "rllib": "cluster", "plain": "plain", "expert": "quick", "all_actions": "all_actions",
}  # fmt: skip
OTHERWISE = {
    "engine": "torch", "encoder": "tokens", "gamma": 0.9, "gae_lambda": 0.9, "clip_range": 0.1, "ent_coef": 0.01, "ent_coef_end": 0.01,
    "normalize_advantage": False, "forced": True, "start_temperature": 0.5,
    "networks": "seat",
    "start": "fiveup_env/opponents/networks/policies/partners", "oracle": True, "critic_scale": 2, "warm_up": 1,
    "kl_coef": 0.1, "kl_every": 3, "rival_share": 0.5, "rivals": ["greedy"], "partner_share": 0.5,
    "partners": ["greedy"], "past_every": 3, "past_kept": 3, "judge": "partner", "averaging": 0.9, "teacher": "pimc",
    "student": 16, "explore": 0.5, "gate_every": 3, "gate_deals": 100, "env_runners": 1, "learners": 1,
}  # fmt: skip
LEARNERS = next(key for key in fields(Config) if key.name == "learner").metadata["choices"]
READ_BY_SOME = {key.name: key.metadata["of"] for key in fields(Config) if "of" in key.metadata}


def test_every_key_that_a_learner_would_ignore_is_refused() -> None:
    assert READ_BY_SOME.keys() == OTHERWISE.keys()
    assert CONFIG_OF.keys() == set(LEARNERS)
    for (learner, config), name in itertools.product(CONFIG_OF.items(), OTHERWISE):
        path = CONFIGS / f"{config}.yaml"
        assert read_config(path, {}).learner == learner
        if learner not in READ_BY_SOME[name]:
            with pytest.raises(ConfigError, match=f"^{name}: learner={learner} does not support"):
                read_config(path, {name: OTHERWISE[name]})


def test_a_file_names_registered_encoders_alone_and_the_command_line_any(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"encoder: {PLACE}")
    with pytest.raises(ConfigError, match=r"encoder: there is no encoder .*--trust lets"):
        read_config(path, {})
    assert read_config(path, {}, trust=True).encoder == PLACE
    assert load_config("selfplay", [f"encoder={PLACE}"]).encoder == PLACE
    path.write_text("encoder: tokens")
    assert read_config(path, {}).encoder == "tokens"


def test_files_that_are_no_configs_are_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"
    for text, sentence in (
        ("games: [", "is not valid YAML"),
        ("just words", "must contain lines"),
        ("", "must contain lines"),
        (bomb, r"it has an alias \(\*\)"),
        ("3: 4", "no config key 3"),
        ("[1]: 4", "is not valid YAML"),
    ):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        with pytest.raises(ConfigError, match=sentence):
            load_config(str(path))
    with pytest.raises(ConfigError, match="did you mean 'quick'"):
        load_config("quik")


def test_every_key_is_documented() -> None:
    help_text = describe_keys()
    for name in KEYS:
        assert f"  {name}=" in help_text
    assert len(help_text.splitlines()) == len(KEYS)
    assert Config().as_dict().keys() == set(KEYS)


def test_help_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import train; sys.argv = ['x', '--keys']; train.main()"
    assert "  gae_lambda=0.95" in python("-c", code).stdout
