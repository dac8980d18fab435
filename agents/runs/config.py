"""The configuration of a training run: typed, documented, and checked before the run begins.

A file in `configs/` sets some of the keys; the command line changes any of them (`key=value`).
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

from agents.fitting.teachers import check_aim, make_teacher
from fiveup_env.encoders import get_encoder, registered_encoder
from fiveup_env.errors import FiveUpError, InputError, shown, unknown
from fiveup_env.learning.networks import KINDS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.trust import check_policy, check_spec
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONFIGS: Final = Path(__file__).parents[2] / "configs"
# What PyYAML raises besides its own errors, for dates, numbers and nesting that make no sense.
UNREADABLE: Final = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
LARGEST: Final = 10**18  # of any number
LARGEST_SEED: Final = (1 << 32) - 1  # what every generator that a run seeds takes

# Which learners read a key.
SELF_PLAY: Final = ("self_play",)
EXPERT: Final = ("expert",)
CLUSTER: Final = ("rllib",)
LABELS: Final = ("expert", "all_actions")
STARTED: Final = ("self_play", *LABELS)
ROLLOUTS: Final = ("self_play", "rllib")
PPO: Final = (*ROLLOUTS, "plain")

# The only values that some learners support, of keys that others give more to choose from.
OF_LABELS: Final = {"reward": ("margin", "outlook"), "horizon": ("hand",)}
SUPPORTED: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "expert": {"network": ("guided",), "shared": (True,), **OF_LABELS},
    "all_actions": OF_LABELS,
    "plain": {"reward": ("margin", "win"), "network": ("plain",), "shared": (False,)},
}


class ConfigError(InputError):
    """A configuration that does not exist or that cannot be run; the message names the key."""


def key(default: Any, about: str, **limits: Any) -> Any:
    """Return a field for a key: its default, its help text, and its limits.

    They are `least`, `most` or `choices`, and `of`, the learners that read the key (default: all).
    `check` is what a value must pass that stands in a file: of specs and policies.
    """
    return field(default=default, metadata={"help": about, **limits})


def _check_encoder(name: object, _folder: Path) -> None:
    """Raise EncoderError unless a file may name this encoder: it imports nothing."""
    registered_encoder(name)


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a training run."""

    # The games
    rules: tuple[str, ...] = key(
        ("five_up",),
        "presets to train on; the games take every combination of rules and players in turn, so "
        "what is named twice is played twice as often",
    )
    players: tuple[int, ...] = key(
        (4,), "numbers of players to train on, from 2 to 5 (four play as partners)"
    )
    horizon: str = key(
        "hand", "what ends a trajectory: the end of a hand or of the game", choices=("hand", "game")
    )
    episode: str = key(
        "game",
        "what an episode is: a whole game, so that scores vary, or one hand, led by a seat drawn "
        "by lot",
        choices=("game", "hand"),
    )
    reward: str = key(
        "margin",
        "what a side is rewarded for: its points less the others', the change in its chance to win "
        "the game, or winning the game",
        choices=("margin", "outlook", "win"),
    )

    # The length of the run, and what it depends on
    minutes: float = key(
        10.0, "minutes to train for; runs limited by time are not reproducible", least=0.01
    )
    decisions: int | None = key(
        None,
        "decisions to train on, instead of minutes; the same seed and threads give the same run",
        least=1,
    )
    seed: int = key(0, "seed of the deals and of all other chance", least=0, most=LARGEST_SEED)
    threads: int | None = key(None, "threads that learn (null: one for every core)", least=1)

    # The learner, with MaskablePPO's names
    learner: str = key(
        "self_play",
        "how to learn: from every seat's decisions, by expert iteration (from what every action "
        "brings in the true deal), from all actions of a policy's own decisions in self-play (from "
        "the same), by RLlib on a Ray cluster, or by stock MaskablePPO in one seat against a fixed "
        "opponent",
        choices=("self_play", "expert", "all_actions", "rllib", "plain"),
    )
    engine: str | None = key(
        None,
        "what learns: compiled code, which has plain and guided networks with shared=true and "
        "without oracle, or torch (null: compiled code if it has the network)",
        choices=("compiled", "torch"),
        of=("self_play", "all_actions"),
    )
    games: int = key(1024, "games played side by side", least=1)
    n_steps: int = key(64, "moves made in every game between two updates", least=1)
    batch_size: int = key(1024, "decisions in a minibatch", least=2)
    n_epochs: int = key(1, "passes over the decisions of each update", least=1)
    learning_rate: float = key(1e-3, "learning rate of Adam", least=0)
    learning_rate_end: float | None = key(
        None, "final learning rate, reached linearly (null: constant)", least=0
    )
    gamma: float = key(
        1.0, "discount factor from one decision of a seat to its next", least=0, most=1, of=PPO
    )
    gae_lambda: float = key(
        0.95, "lambda of generalised advantage estimation (GAE)", least=0, most=1, of=PPO
    )
    clip_range: float = key(
        0.2,
        "PPO's clip range: how far an update may move the ratio of new to old probability from 1",
        least=0,
        of=PPO,
    )
    ent_coef: float = key(0.03, "weight of the entropy bonus", least=0, of=PPO)
    ent_coef_end: float | None = key(
        None,
        "final weight of the entropy bonus, reached linearly (null: constant)",
        least=0,
        of=PPO,
    )
    vf_coef: float = key(0.5, "weight of the value loss", least=0)
    max_grad_norm: float = key(
        0.5, "largest norm of the gradient; a longer one is scaled down", least=0
    )
    normalize_advantage: bool = key(
        True, "scale each minibatch's advantages to mean 0 and standard deviation 1", of=PPO
    )
    forced: bool = key(False, "also learn from moves that were the only one allowed", of=ROLLOUTS)

    # The network
    network: str = key(
        "plain",
        "plain, residual, attention, or guided, which also reads what the heuristics compute",
    )
    encoder: str | None = key(
        None,
        "what writes the rows that a plain or residual network reads: flat, flat_belief, tokens, "
        "or one of your own, module:Class (null: flat)",
        check=_check_encoder,
        of=(*PPO, "all_actions"),
    )
    width: int = key(256, "units in each layer", least=1)
    depth: int = key(2, "number of layers or blocks", least=1)
    shared: bool = key(False, "let policy and value share all but their last layers")
    networks: str = key(
        "one",
        "who has a network of its own: one for all seats, one for each side, or one for each seat",
        choices=("one", "side", "seat"),
        of=SELF_PLAY,
    )
    start: str | None = key(
        None,
        "saved policy to start from: a shipped one or a folder (null: from nothing)",
        check=check_policy,
        of=STARTED,
    )
    start_temperature: float = key(
        1.0,
        "temperature of that policy; below 1 it plays its likeliest moves more often",
        least=0.01,
        of=STARTED,
    )

    # Options that may make the policy stronger
    oracle: bool = key(
        False, "learn with a separate critic that sees the hidden tiles", of=SELF_PLAY
    )
    critic_scale: float = key(
        1.0, "learning rate of that critic, as a multiple of the policy's", least=0, of=SELF_PLAY
    )
    warm_up: int = key(
        0,
        "decisions at the beginning from which only values are learnt, not the policy",
        least=0,
        of=SELF_PLAY,
    )
    kl_coef: float = key(
        0.0, "weight of the penalty on diverging from the reference policy", least=0, of=SELF_PLAY
    )
    kl_every: int = key(
        50,
        "updates between replacements of the reference by the current policy",
        least=1,
        of=SELF_PLAY,
    )
    rival_share: float = key(
        0.0,
        "share of the games in which a rival plays all sides but one",
        least=0,
        most=1,
        of=ROLLOUTS,
    )
    rivals: tuple[str, ...] = key(
        (),
        "specs of the agents that play as rivals; for learner=plain, its one opponent",
        check=check_spec,
        of=PPO,
    )
    partner_share: float = key(
        0.0,
        "share of the games in which a partner plays one seat, and the learner the others; rivals "
        "play in other games",
        least=0,
        most=1,
        of=ROLLOUTS,
    )
    partners: tuple[str, ...] = key(
        (),
        "specs of the agents that play as partners, one drawn for each game",
        check=check_spec,
        of=ROLLOUTS,
    )
    past_every: int = key(
        0,
        "updates between additions of the current policy to the rivals (0: never)",
        least=0,
        of=SELF_PLAY,
    )
    past_kept: int = key(
        10,
        "past policies to keep as rivals; the one beaten most often is dropped",
        least=1,
        of=SELF_PLAY,
    )
    target: str | None = key(
        None,
        "spec of an agent to exploit, which is then the only rival, in every game",
        check=check_spec,
    )

    # Labels, for learner=expert and learner=all_actions
    teacher: str | None = key(
        None,
        "spec of a search whose values label decisions, such as pimc:worlds=16,weighed=4 "
        "(null: the judge plays them out, in the true deal)",
        check=check_spec,
        of=LABELS,
    )
    judge: str = key(
        "student",
        "who plays out what is labelled: `partner`, or the student (for learner=expert, the run's "
        "own from when it is accepted; for learner=all_actions, the one of the library)",
        choices=("student", "partner"),
        of=LABELS,
    )
    averaging: float = key(
        0.998,
        "decay of the moving average of the weights, which plays (0: the weights themselves)",
        least=0,
        most=0.999999,
        of=LABELS,
    )

    # Expert iteration, for learner=expert
    student: int = key(
        32, "units of the student, the network that plays the games", least=1, of=EXPERT
    )
    explore: float = key(
        0.05, "share of the moves that are made at random", least=0, most=1, of=EXPERT
    )
    gate_every: int = key(
        5, "updates between two challenges of the current player by the student", least=1, of=EXPERT
    )
    gate_deals: int = key(
        2000,
        "deals of a gate, played once from every side; to win points is to pass",
        least=2,
        of=EXPERT,
    )

    # The cluster, for learner=rllib
    env_runners: int = key(
        0,
        "processes that play for learner=rllib, on any nodes (0: the trainer plays)",
        least=0,
        of=CLUSTER,
    )
    learners: int = key(
        0,
        "processes that learn together for learner=rllib (0: the trainer learns)",
        least=0,
        of=CLUSTER,
    )

    # What is shown and kept
    panel: tuple[str, ...] = key(
        ("greedy", "defensive"),
        "specs of the agents that the policy is measured against",
        check=check_spec,
    )
    panel_minutes: float = key(1.0, "minutes between measurements against the panel", least=0)
    panel_deals: int = key(100, "deals in each measurement, played once from every side", least=2)
    table_deals: int = key(500, "deals in the table of results at the end (0: no table)", least=0)
    checkpoint_minutes: float = key(
        1.0, "minutes between checkpoints (0: one after each update)", least=0
    )

    def __post_init__(self) -> None:
        """Convert every value to the type of its key, and refuse what cannot be run."""
        kinds = get_type_hints(type(self))
        for setting in dataclasses.fields(self):
            value = _typed(setting.name, getattr(self, setting.name), kinds[setting.name])
            object.__setattr__(self, setting.name, value)
            _check_limits(setting.name, value, setting.metadata)
        if self.target is not None:
            self._apply_target(self.target)
        self._check_games()
        self._check_supported()
        self._check_learning()
        if self.encoder is not None:
            _check_by_making("encoder", get_encoder, self.encoder)
        for name in ("rivals", "partners", "panel"):
            for spec in getattr(self, name):
                _check_by_making(name, make_agent, spec)

    def _apply_target(self, target: str) -> None:
        """Make the target the only rival, in all games, and add it to the panel."""
        _check_by_making("target", make_agent, target)
        if self.learner != "self_play":
            raise ConfigError(
                "target: an exploiter plays all seats of a side, so it needs learner=self_play"
            )
        alone = {"rivals": (target,), "rival_share": 1.0, "past_every": 0}
        for name, value in alone.items():
            if getattr(self, name) and getattr(self, name) != value:
                raise ConfigError(
                    f"{name}: an exploiter plays only against its target; leave this key out"
                )
            object.__setattr__(self, name, value)
        if target not in self.panel:
            object.__setattr__(self, "panel", (target, *self.panel))

    def _check_games(self) -> None:
        for name in ("rules", "players"):
            if not getattr(self, name):
                raise ConfigError(f"{name}: name at least one")
        for preset, players in itertools.product(self.rules, self.players):
            _check_by_making("rules, players", Rules.preset, preset, players)
        if self.reward == "win" and self.horizon == "hand":
            raise ConfigError("reward: `win` comes at the end of a game, so it needs horizon=game")
        if self.reward == "outlook" and self.episode == "hand":
            raise ConfigError(
                "reward: `outlook` is the chance to win a game, so it needs episode=game"
            )

    def _check_supported(self) -> None:
        """Refuse what the learner would ignore."""
        for setting in dataclasses.fields(self):
            name, readers = setting.name, setting.metadata.get("of", (self.learner,))
            if self.learner not in readers and getattr(self, name) != setting.default:
                raise ConfigError(
                    f"{name}: learner={self.learner} does not support this key; leave it out"
                )
        for name, known in SUPPORTED.get(self.learner, {}).items():
            if getattr(self, name) not in known:
                words = " or ".join(str(value).lower() for value in known)
                raise ConfigError(f"{name}: learner={self.learner} supports only {words}")

    def _check_learning(self) -> None:
        window = self.games * self.n_steps
        if self.batch_size > window:
            raise ConfigError(
                f"batch_size: {self.batch_size} decisions are more than the {window} that "
                f"games={self.games} times n_steps={self.n_steps} make"
            )
        if self.engine == "compiled" and not self._has_compiled:
            raise ConfigError(
                "engine: compiled code learns networks plain and guided with shared=true and "
                f"oracle=false, not {self.network} with shared={str(self.shared).lower()} and "
                f"oracle={str(self.oracle).lower()}"
            )
        if self.networks != "one":
            self._check_networks()
        if self.learner == "plain" and len(self.rivals) != 1:
            raise ConfigError(
                "rivals: the plain learner needs exactly one opponent, such as [greedy]"
            )
        if self.learner == "rllib":
            self._check_rllib()
        if self.teacher is not None:
            _check_by_making("teacher", _make_teacher_for, self.teacher, self.reward)
        if self.critic_scale != 1 and not self.oracle:
            raise ConfigError("critic_scale: only with oracle=true is there a critic; leave it out")
        if self.rival_share > 0 and not self.rivals and not self.past_every:
            raise ConfigError("rival_share: there are no rivals; set rivals or past_every")
        if self.partner_share > 0:
            self._check_partners()

    def _check_networks(self) -> None:
        """Refuse seats that are not the same in all games, and past selves, which have no seat."""
        if len(set(self.players)) > 1:
            raise ConfigError(
                f"networks: with networks={self.networks}, all games have the same number of "
                "players; name one"
            )
        if self.past_every:
            raise ConfigError(
                f"past_every: with networks={self.networks}, no past selves are kept; leave it out"
            )

    def _check_partners(self) -> None:
        """Refuse partners who would have no game to play in."""
        if not self.partners:
            raise ConfigError("partner_share: there are no partners; set partners")
        if all(rules.sides == rules.players for rules in self.all_rules):
            raise ConfigError("partner_share: only four players have partners; add 4 to players")
        if self.rival_share + self.partner_share > 1:
            raise ConfigError(
                "partner_share: partners and rivals play in different games, so this and "
                f"rival_share must be 1 or less together, not {self.partner_share:g} and "
                f"{self.rival_share:g}"
            )

    def _check_rllib(self) -> None:
        """Refuse what RLlib's learner does not support."""
        for name in ("learning_rate_end", "ent_coef_end"):
            if getattr(self, name) is not None and self.decisions is None:
                raise ConfigError(
                    f"{name}: RLlib's schedules count decisions, so decisions must be set too"
                )

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code learns."""
        return self.engine != "torch" and self._has_compiled

    @property
    def _has_compiled(self) -> bool:
        """Whether compiled code has the network."""
        return self.network in KINDS and self.shared and not self.oracle

    @property
    def is_compiled_whole(self) -> bool:
        """Whether compiled code also plays the games: in all seats, by what the network reads."""
        alone = not (self.rival_share or self.partner_share or self.past_every or self.kl_coef)
        return (
            self.learner == "self_play"
            and self.is_compiled
            and alone
            and self.networks == "one"
            and self.encoder in (None, "flat")
        )

    @property
    def network_count(self) -> int:
        """The number of networks; that of seat k is k modulo this."""
        rules = self.all_rules[0]
        return {"one": 1, "side": rules.sides, "seat": rules.players}[self.networks]

    @property
    def all_rules(self) -> list[Rules]:
        """The rules of every combination of preset and number of players."""
        return [Rules.preset(*pair) for pair in itertools.product(self.rules, self.players)]

    def as_dict(self) -> dict[str, Any]:
        """Return every key with its value, ready to be written as YAML or JSON."""
        values = dataclasses.asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


KEYS: Final = tuple(setting.name for setting in dataclasses.fields(Config))

# What a resumed run may change: its length, its cluster, and what no update depends on.
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
    """Return the names of the files in `configs/`."""
    return sorted(path.stem for path in CONFIGS.glob("*.yaml"))


def load_config(chosen: str, changes: Iterable[str] = (), *, trust: bool = False) -> Config:
    """Return the configuration with this name or file, with `key=value` changes."""
    path = Path(chosen) if chosen.endswith(".yaml") else CONFIGS / f"{chosen}.yaml"
    if not path.is_file():
        raise ConfigError(unknown("config", chosen, known_configs()))
    return read_config(path, parse_changes(changes), trust=trust)


def read_config(path: Path, changes: Mapping[str, Any], *, trust: bool = False) -> Config:
    """Return the configuration in a file, with changes, which may name any agents.

    The file may do so only if it is trusted, and else those that `check_spec` allows.
    """
    values = _values_in(path)
    for setting in dataclasses.fields(Config):
        check, value = setting.metadata.get("check"), values.get(setting.name)
        if check and not trust and setting.name not in changes and value is not None:
            for name in value if isinstance(value, list) else [value]:
                _check_named(setting.name, check, name, path)
    return make_config({**values, **changes})


def _check_named(key_name: str, check: Any, name: object, path: Path) -> None:
    """Raise ConfigError unless a config that is not trusted may name an agent or a policy."""
    try:
        check(name, path.parent)
    except FiveUpError as error:
        raise ConfigError(
            f"{key_name}: {error}; {key_name}=... on the command line names any, and --trust lets "
            f"{path} do so"
        ) from None


def _values_in(path: Path) -> dict[str, Any]:
    """Return the keys that a file sets."""
    try:
        values = _read_yaml(path.read_text("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must contain lines such as `games: 1024`")
    return values


def _read_yaml(text: str) -> Any:
    """Return the value of a YAML text; raise ValueError if it is not YAML or has an alias.

    Settings need no aliases, and by aliases of aliases a few lines can become very many values.
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise ValueError("it has an alias (*), which a config does not need")
        return yaml.safe_load(text)
    except (yaml.YAMLError, *UNREADABLE) as error:
        raise ValueError(str(error)) from None


def parse_changes(changes: Iterable[str]) -> dict[str, Any]:
    """Return the keys that `key=value` arguments set; values are written as in YAML."""
    values = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise ConfigError(f"a change must be written key=value, not {shown(change)}")
        try:
            values[name] = _read_yaml(text)
        except ValueError:
            raise ConfigError(f"{name}: {shown(text)} cannot be read as a value") from None
    return values


def make_config(values: Mapping[str, Any]) -> Config:
    """Return a configuration with some keys set and the others at their defaults."""
    for name in values:
        if name not in KEYS:
            raise ConfigError(unknown("config key", name, KEYS))
    return Config(**values)


def describe_keys() -> str:
    """Return the help text: a line for every key, with its default, what it does, and for whom."""
    defaults = Config().as_dict()
    lines = []
    for setting in dataclasses.fields(Config):
        default = yaml.safe_dump(defaults[setting.name], default_flow_style=True)
        written = default.removesuffix("\n").removesuffix("\n...")
        choices = ", ".join(setting.metadata.get("choices", ()))
        about = setting.metadata["help"] + (f" ({choices})" if choices else "")
        if "of" in setting.metadata:
            about += f" [learner: {', '.join(setting.metadata['of'])}]"
        lines.append(f"  {setting.name + '=' + written:<34} {about}")
    return "\n".join(lines)


def _typed(name: str, value: Any, kind: Any) -> Any:
    """Return a value converted to the type of its key; a list key accepts a single value."""
    if get_origin(kind) is types.UnionType:
        return None if value is None else _typed(name, value, get_args(kind)[0])
    if get_origin(kind) is tuple:
        values = value if isinstance(value, (list, tuple)) else [value]
        return tuple(_typed(name, part, get_args(kind)[0]) for part in values)
    if kind in {int, float} and not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):  # YAML reads 3e-4 as a string
            value = value if isinstance(value, int) else float(value)
            value = kind(value) if kind(value) == value else value
    if type(value) is not kind:
        words = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise ConfigError(
            f"{name}: must be {words.get(kind.__name__, 'a string')}, not {shown(value)}"
        )
    return value


def _check_limits(name: str, value: Any, limits: Mapping[str, Any]) -> None:
    if value is None:
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{name}: must be a finite number, not {value}")
    if "choices" in limits and value not in limits["choices"]:
        raise ConfigError(f"{name}: {unknown('value', value, limits['choices'])}")
    if "least" in limits and not value >= limits["least"]:
        raise ConfigError(f"{name}: must be {limits['least']} or more, not {shown(value)}")
    most = limits.get("most", LARGEST)
    if isinstance(value, (int, float)) and not value <= most:
        raise ConfigError(f"{name}: must be {most} or less, not {shown(value)}")


def _make_teacher_for(spec: str, reward: str) -> None:
    check_aim(make_teacher(spec), reward)


def _check_by_making(name: str, make: Any, *arguments: Any) -> None:
    """Construct an object from the value of a key; an error for it names the key."""
    try:
        make(*arguments)
    except FiveUpError as error:
        raise ConfigError(f"{name}: {error}") from None
