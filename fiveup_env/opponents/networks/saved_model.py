"""`sb3`: a model that Stable-Baselines3 has saved, played by its weights: `runs/model.zip`.

The weights are read from the zip file, and nothing that is pickled beside them is loaded. A model
is what `MlpPolicy` builds: layers with one activation, on the rows of an encoder, scaled by the
environment, by `ScalingExtractor`, or not at all, and normalized by `VecNormalize` or not. The
saved spaces name the encoder.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.encoders import (
    bounds,
    factors_of,
    get_encoder,
    registered_encoder,
    row_size,
    rows_of,
)
from fiveup_env.engine.view import as_views, unchecked_masks
from fiveup_env.errors import EncoderError, MissingExtraError, shown
from fiveup_env.files import file_path
from fiveup_env.opponents.networks.files import PolicyError, check_finite
from fiveup_env.opponents.networks.policy import Logits
from fiveup_env.opponents.networks.statistics import SUFFIX, read_statistics
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from torch import Tensor

    from fiveup_env.encoders import Encoder

LAYERS: Final = "mlp_extractor.policy_net."
FACTORS: Final = "features_extractor.factors"
# Classes by their places in a file: the policies that can be played, and by option what they may be
# made of. The first is the default.
POLICIES: Final = (
    "stable_baselines3.common.policies.ActorCriticPolicy",
    "sb3_contrib.common.maskable.policies.MaskableActorCriticPolicy",
)
CLASSES: Final = {
    "features_extractor_class": (
        "stable_baselines3.common.torch_layers.FlattenExtractor",
        "fiveup_env.envs.sb3.ScalingExtractor",
    ),
    "activation_fn": ("torch.nn.modules.activation.Tanh", "torch.nn.modules.activation.ReLU"),
}
ROUNDING: Final = 0.1  # of the numbers that a file shows as text


@dataclass
class SavedModel(Logits):
    """Plays a model of Stable-Baselines3, trained on an environment of this package: `sb3:PATH`."""

    path: str = field(metadata={"help": "the zip file"})
    sample: bool = field(default=False, metadata={"help": "draw actions by their probabilities"})
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})
    encoder: str = field(
        default="", metadata={"help": "its encoder, module:Class if it is not registered"}
    )

    def __post_init__(self) -> None:
        """Read the weights; raise PolicyError if they are not those of such a model."""
        super().__init__(sample=self.sample, temperature=self.temperature)
        about, weights = _contents_of(self.path)
        _check_policy(about, self.path)
        check_finite({name: weight.numpy() for name, weight in weights.items()}, self.path)
        try:
            last = weights["action_net.weight"], weights["action_net.bias"]
            layers = [name for name in weights if re.fullmatch(rf"{LAYERS}.*\.weight", name)]
            numbers = sorted(int(name.split(".")[-2]) for name in layers)
            self._layers = [
                (weights[f"{LAYERS}{n}.weight"], weights[f"{LAYERS}{n}.bias"]) for n in numbers
            ]
        except (KeyError, ValueError):
            raise PolicyError(f"{self.path} is not a model of MlpPolicy") from None
        self._layers.append(last)
        _class_in(about, "features_extractor_class", self.path)
        self._activation = _class_in(about, "activation_fn", self.path).lower()
        self._encoder = _encoder_of(about, self.encoder, self.path)
        self._scales = _scales(about, self._encoder, self.path)
        self._statistics = read_statistics(self.path)
        if about.get("_last_original_obs") and not self._statistics:
            raise PolicyError(
                f"{self.path} was trained in VecNormalize, whose statistics are missing: "
                f"fiveup_env.envs.sb3.save_statistics writes them beside it, as NAME{SUFFIX}"
            )
        self._factors = weights.get(FACTORS)
        self._check_shapes(row_size(self._encoder))

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        import torch

        views = as_views(views)
        rows = rows_of(self._encoder, views, scaled=self._scales)
        if self._statistics:
            rows = self._statistics.normalize(rows)
        values = torch.from_numpy(rows).float()
        if self._factors is not None:
            values = values * self._factors
        for weight, bias in self._layers[:-1]:
            values = getattr(torch, self._activation)(
                torch.nn.functional.linear(values, weight, bias)
            )
        logits = torch.nn.functional.linear(values, *self._layers[-1])
        return np.where(unchecked_masks(views) > 0, logits.numpy(), np.float32(-np.inf))

    def _check_shapes(self, width: int) -> None:
        """Raise PolicyError unless each layer takes what the one before gives."""
        fits = self._factors is None or self._factors.shape == (width,)
        fits = fits and (self._statistics is None or self._statistics.mean.shape == (width,))
        for weight, bias in self._layers:
            fits = fits and weight.ndim == 2 and weight.shape == (len(bias), width)
            width = len(bias)
        if not fits or width != ACTION_COUNT:
            raise PolicyError(
                f"{self.path} has layers that do not fit rows of {self._encoder.name} and the "
                f"{ACTION_COUNT} actions"
            )


def _contents_of(path: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return a zip file's metadata about its model, and the weights by name."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "models of Stable-Baselines3 need torch: pip install 'fiveup-env[sb3]'",
            error,
        ) from None
    try:
        with zipfile.ZipFile(file_path(path)) as file:
            about = json.loads(file.read("data"))
            with file.open("policy.pth") as content:
                tensors = torch.load(content, map_location="cpu", weights_only=True)
        weights = {name: tensor.float() for name, tensor in tensors.items()}
    except OSError as error:
        raise PolicyError(f"{path} cannot be read ({error.strerror})") from None
    except Exception as error:  # noqa: BLE001  (what zip files, JSON and torch raise for damage)
        raise PolicyError(
            f"{path} is not a model that Stable-Baselines3 has saved ({type(error).__name__})"
        ) from None
    return about if isinstance(about, dict) else {}, weights


def _said(about: dict[str, Any], *names: str) -> str:
    """Return a word of a model's description, which holds words beside what is pickled."""
    for name in names[:-1]:
        inner = about.get(name)
        about = inner if isinstance(inner, dict) else {}
    return str(about.get(names[-1], ""))


def _check_policy(about: dict[str, Any], path: str) -> None:
    """Raise PolicyError if a model's policy is none of those that can be played."""
    module = _said(about, "policy_class", "__module__")
    # A class is saved without its name, which its first method has.
    method = re.match(r"<function (\w+)\.", _said(about, "policy_class", "__init__"))
    name = method[1] if method else "custom"
    if f"{module}.{name}" not in POLICIES:
        raise PolicyError(
            f"{path} is a {shown(name.removesuffix('Policy'), str)} model of {shown(module, str)}; "
            "models of PPO, MaskablePPO and A2C with MlpPolicy can be played"
        )


def _class_in(about: dict[str, Any], option: str, path: str) -> str:
    """Return the name of a class among a model's options, which has to be a known one."""
    known = CLASSES[option]
    named = _said(about, "policy_kwargs", option).removeprefix("<class '").removesuffix("'>")
    if named and named not in known:
        names = " or ".join(place.rpartition(".")[-1] for place in known)
        raise PolicyError(f"{path} has the {option} {shown(named, str)}; {names} can be played")
    return (named or known[0]).rpartition(".")[-1]


def _encoder_of(about: dict[str, Any], named: str, path: str) -> Encoder:
    """Return the encoder of a model, by what its file says or else by the name that is given."""
    name, version = (_said(about, "observation_space", word) for word in ("name", "version"))
    if not (name or named):
        raise PolicyError(f"{path} does not say which encoder it reads; name it by encoder=")
    try:
        encoder = get_encoder(named) if named else registered_encoder(name)
    except EncoderError as error:
        raise PolicyError(f"{path} reads {shown(name or named, str)}, but {error}") from None
    if name and (name, version) != (encoder.name, str(encoder.version)):
        raise PolicyError(
            f"{path} reads {shown(name, str)} {shown(version, str)}, not {encoder.name} "
            f"{encoder.version}, which is here"
        )
    return encoder


def _scales(about: dict[str, Any], encoder: Encoder, path: str) -> bool:
    """Return whether a model's observations are scaled rows of its encoder, by their bounds.

    Where a wrapper has put another space in place of the rows' own, bounds are all that it has.
    """
    texts = [_said(about, "observation_space", bound) for bound in ("low", "high")]
    for scaled, factors in ((False, 1), (True, factors_of(encoder.pieces))):
        if all(map(_shows, texts, (bound * factors for bound in bounds(encoder)))):
            return scaled
    raise PolicyError(
        f"{path} was trained on observations with other bounds than rows of {encoder.name} have: "
        "of another encoder, or changed by a wrapper"
    )


def _shows(text: str, bound: np.ndarray) -> bool:
    """Return whether a text shows an array as `str` does, which leaves out the middle of most."""
    words = text.strip("[]").split()
    if "..." in words:
        end = words.index("...")
        del words[end]
        bound = np.concatenate([bound[:end], bound[-end:]])
    try:
        numbers = np.array(words, np.float64)
    except ValueError:
        return False
    return numbers.shape == bound.shape and np.allclose(numbers, bound, atol=ROUNDING)
