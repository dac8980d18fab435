"""The configuration of a training run: typed, documented, and refused where it is impossible.

A file in `configs/` changes some of the keys; the command line changes any of them (`key=value`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import types
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

import yaml

from fiveup_env.errors import FiveUpError, unknown
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONFIGS: Final = Path(__file__).parents[3] / "configs"
LARGEST_SEED: Final = (1 << 23) - 1  # the deals of every seed are apart: see rollouts.first_deal


class ConfigError(FiveUpError):
    """A configuration that does not exist or cannot be run; the message names the key."""


def key(default: Any, about: str, **limits: Any) -> Any:
    """A key of the configuration: its default, a sentence, and `least`, `most` or `choices`."""
    return field(default=default, metadata={"help": about, **limits})


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything that decides how a run goes."""

    # What is played
    rules: tuple[str, ...] = key(("five_up",), "presets; the games take every combination in turn")
    players: tuple[int, ...] = key((4,), "numbers of players, 2 to 5 (four play as partners)")
    horizon: str = key("hand", "where a trajectory ends", choices=("hand", "game"))
    episode: str = key(
        "game",
        "whole games, so that scores vary, or single hands, each led by lot",
        choices=("game", "hand"),
    )
    reward: str = key(
        "margin",
        "points of one's side less the others', change of the chance to win, or winning the game",
        choices=("margin", "outlook", "win"),
    )

    # How long, and on what
    minutes: float = key(10.0, "time to train for; no two runs are alike then", least=0.01)
    decisions: int | None = key(
        None, "train on so many decisions instead; the same seed gives the same run", least=1
    )
    seed: int = key(0, "chooses the deals and all other chance", least=0, most=LARGEST_SEED)
    threads: int | None = key(None, "of PyTorch (null: one for every core)", least=1)

    # The learner, with MaskablePPO's names
    learner: str = key(
        "self_play",
        "every seat's decisions, the same by RLlib on a Ray cluster, or stock MaskablePPO in one "
        "seat among fixed opponents",
        choices=("self_play", "rllib", "plain"),
    )
    games: int = key(1024, "games that are played side by side", least=1)
    n_steps: int = key(64, "moves made in every game between two updates", least=1)
    batch_size: int = key(1024, "decisions in a minibatch", least=2)
    n_epochs: int = key(1, "times that an update goes through its decisions", least=1)
    learning_rate: float = key(1e-3, "of Adam", least=0)
    learning_rate_end: float | None = key(None, "where it gets to, linearly (null: stays)", least=0)
    gamma: float = key(1.0, "discount from one decision of a seat to its next", least=0, most=1)
    gae_lambda: float = key(0.95, "of generalised advantage estimation", least=0, most=1)
    clip_range: float = key(0.2, "how far an update may move a probability's ratio", least=0)
    ent_coef: float = key(0.03, "weight of the entropy; at 0.01 policies collapse", least=0)
    ent_coef_end: float | None = key(None, "where it gets to, linearly (null: stays)", least=0)
    vf_coef: float = key(0.5, "weight of the value's loss", least=0)
    max_grad_norm: float = key(0.5, "longest gradient", least=0)
    normalize_advantage: bool = key(True, "give each minibatch's advantages mean 0, deviation 1")

    forced: bool = key(False, "learn also from moves that were the only one allowed")

    # The network
    network: str = key("plain", "plain, residual, attention, or guided by what heuristics look at")
    width: int = key(256, "units in a layer", least=1)
    depth: int = key(2, "layers or blocks", least=1)
    shared: bool = key(False, "policy and value share all but their last layers")
    start: str | None = key(None, "folder of a saved policy to begin from")
    start_temperature: float = key(
        1.0, "of that policy's probabilities: below 1 it plays more surely", least=0.01
    )

    # What may make it stronger
    oracle: bool = key(False, "learn with a critic of its own that sees the hidden tiles")
    kl_coef: float = key(0.0, "weight of the divergence from the reference policy", least=0)
    kl_every: int = key(50, "updates after which the reference becomes the policy", least=1)
    rival_share: float = key(0.0, "share of the games with a rival in all sides but one", most=1)
    rivals: tuple[str, ...] = key((), "specs of agents that are rivals; of `plain`, the opponent")
    past_every: int = key(0, "updates after which the policy joins the rivals (0: never)", least=0)
    past_kept: int = key(10, "past selves that are kept; the most beaten one goes", least=1)
    target: str | None = key(None, "spec of an agent to exploit: the only rival, in every game")

    # The cluster, of `rllib`
    env_runners: int = key(0, "processes that play, on any nodes (0: the trainer plays)", least=0)
    learners: int = key(0, "processes that learn together (0: the trainer learns)", least=0)

    # What is shown and kept
    panel: tuple[str, ...] = key(
        ("greedy", "defensive"), "agents that the policy is measured against"
    )
    panel_minutes: float = key(1.0, "time between measurements", least=0)
    panel_deals: int = key(100, "deals of a measurement, each played both ways", least=2)
    table_deals: int = key(500, "deals of the table at the end (0: no table)", least=0)
    checkpoint_minutes: float = key(1.0, "time between checkpoints (0: after each update)", least=0)

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        kinds = get_type_hints(type(self))
        for one in dataclasses.fields(self):
            value = _typed(one.name, getattr(self, one.name), kinds[one.name])
            object.__setattr__(self, one.name, value)
            _check_limits(one.name, value, one.metadata)
        if self.target is not None:
            self._take_aim(self.target)
        self._check_games()
        self._check_learning()
        for name in ("rivals", "panel"):
            for spec in getattr(self, name):
                _blaming(name, make_agent, spec)

    def _take_aim(self, target: str) -> None:
        """Make the target the only rival, in all games, and measure against it."""
        _blaming("target", make_agent, target)
        if self.learner != "self_play":
            raise ConfigError("target: all seats of a side exploit it, which wants self_play")
        alone = {"rivals": (target,), "rival_share": 1.0, "past_every": 0}
        for name, value in alone.items():
            if getattr(self, name) and getattr(self, name) != value:
                raise ConfigError(f"{name}: an exploiter meets its target alone; leave it out")
            object.__setattr__(self, name, value)
        if target not in self.panel:
            object.__setattr__(self, "panel", (target, *self.panel))

    def _check_games(self) -> None:
        for name in ("rules", "players"):
            if not getattr(self, name):
                raise ConfigError(f"{name}: name one at least")
        for preset, players in itertools.product(self.rules, self.players):
            _blaming("rules, players", Rules.preset, preset, players)
        if self.reward == "win" and self.horizon == "hand":
            raise ConfigError("reward: `win` comes at the end of a game, so it needs horizon=game")
        if self.reward == "outlook" and self.episode == "hand":
            raise ConfigError("reward: `outlook` is the chance to win a game: set episode=game")

    def _check_learning(self) -> None:
        window = self.games * self.n_steps
        if self.batch_size > window:
            raise ConfigError(
                f"batch_size: {self.batch_size} decisions are more than the {window} that "
                f"games={self.games} times n_steps={self.n_steps} bring"
            )
        if self.learner == "plain":
            self._check_plain()
        if self.learner == "rllib":
            self._check_rllib()
        elif self.env_runners or self.learners:
            raise ConfigError("env_runners, learners: only learner=rllib has a cluster")
        if self.rival_share > 0 and not self.rivals and not self.past_every:
            raise ConfigError("rival_share: there are no rivals; set rivals or past_every")

    def _check_plain(self) -> None:
        """The stock learner has what is stock."""
        if len(self.rivals) != 1:
            raise ConfigError("rivals: the plain learner wants one opponent, such as [greedy]")
        stock = {"reward": ("margin", "win"), "network": ("plain",), "shared": (False,)}
        for name, known in stock.items():
            if getattr(self, name) not in known:
                shown = " or ".join(str(one).lower() for one in known)
                raise ConfigError(f"{name}: the plain learner has {shown}")

    def _check_rllib(self) -> None:
        """What RLlib's learner does not have, and how its schedules count."""
        for name in ("oracle", "kl_coef", "past_every", "start"):
            if getattr(self, name):
                raise ConfigError(f"{name}: learner=rllib has none of it; leave it out")
        for name in ("learning_rate_end", "ent_coef_end"):
            if getattr(self, name) is not None and self.decisions is None:
                raise ConfigError(f"{name}: RLlib's schedules count decisions; set decisions, too")

    @property
    def all_rules(self) -> list[Rules]:
        """Every combination of rules and numbers of players."""
        return [Rules.preset(*pair) for pair in itertools.product(self.rules, self.players)]

    def as_dict(self) -> dict[str, Any]:
        """Every key with its value, for files."""
        values = dataclasses.asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


KEYS: Final = tuple(one.name for one in dataclasses.fields(Config))

# What a run may change when it goes on: its length and its cluster, and what no update depends on.
FREE_KEYS: Final = (
    "minutes",
    "decisions",
    "threads",
    "env_runners",
    "learners",
    "panel",
    "panel_minutes",
    "panel_deals",
    "table_deals",
    "checkpoint_minutes",
)


def known_configs() -> list[str]:
    """The names of the files in `configs/`."""
    return sorted(path.stem for path in CONFIGS.glob("*.yaml"))


def load_config(chosen: str, changes: Iterable[str] = ()) -> Config:
    """The configuration of a name or a file, with `key=value` changes."""
    path = Path(chosen) if chosen.endswith(".yaml") else CONFIGS / f"{chosen}.yaml"
    if not path.is_file():
        raise ConfigError(unknown("config", chosen, known_configs()))
    return make_config(read_config(path) | parse_changes(changes))


def read_config(path: Path) -> dict[str, Any]:
    """The keys that a file sets."""
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold lines such as `games: 1024`")
    return values


def parse_changes(changes: Iterable[str]) -> dict[str, Any]:
    """The keys that `key=value` arguments set; values are written as in YAML."""
    values = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise ConfigError(f"a change is written key=value, not {change!r}")
        try:
            values[name] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise ConfigError(f"{name}: {text!r} cannot be read as a value") from None
    return values


def make_config(values: Mapping[str, Any]) -> Config:
    """A configuration from some keys, the others at their defaults."""
    for name in values:
        if name not in KEYS:
            raise ConfigError(unknown("config key", name, KEYS))
    return Config(**values)


def describe_keys() -> str:
    """Every key with its default and what it does, for people."""
    defaults = Config().as_dict()
    lines = []
    for one in dataclasses.fields(Config):
        default = yaml.safe_dump(defaults[one.name], default_flow_style=True)
        shown = default.removesuffix("\n").removesuffix("\n...")
        choices = ", ".join(one.metadata.get("choices", ()))
        about = one.metadata["help"] + (f" ({choices})" if choices else "")
        lines.append(f"  {one.name + '=' + shown:<34} {about}")
    return "\n".join(lines)


def _typed(name: str, value: Any, kind: Any) -> Any:
    """A value as its key's type; a single value where several may stand is one of them."""
    if get_origin(kind) is types.UnionType:
        return None if value is None else _typed(name, value, get_args(kind)[0])
    if get_origin(kind) is tuple:
        values = value if isinstance(value, (list, tuple)) else [value]
        return tuple(_typed(name, one, get_args(kind)[0]) for one in values)
    if kind in {int, float} and not isinstance(value, bool):
        with suppress(TypeError, ValueError):  # YAML takes 3e-4 for a word
            value = value if isinstance(value, int) else float(value)
            value = kind(value) if kind(value) == value else value
    if type(value) is not kind:
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise ConfigError(f"{name}: must be {words.get(kind.__name__, 'a word')}, not {value!r}")
    return value


def _check_limits(name: str, value: Any, limits: Mapping[str, Any]) -> None:
    if value is None:
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{name}: must be a finite number, not {value}")
    if "choices" in limits and value not in limits["choices"]:
        raise ConfigError(f"{name}: {unknown('value', value, limits['choices'])}")
    if "least" in limits and not value >= limits["least"]:
        raise ConfigError(f"{name}: must be {limits['least']} or more, not {value}")
    if "most" in limits and not value <= limits["most"]:
        raise ConfigError(f"{name}: must be {limits['most']} or less, not {value}")


def _blaming(name: str, make: Any, *arguments: Any) -> None:
    """Make something of a key's value; if that is refused, the sentence names the key."""
    try:
        make(*arguments)
    except FiveUpError as error:
        raise ConfigError(f"{name}: {error}") from None
