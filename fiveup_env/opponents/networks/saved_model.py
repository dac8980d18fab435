"""`sb3`: a model that Stable-Baselines3 has saved, played by its weights: `runs/model.zip`.

The weights are read from the zip file, and nothing that is pickled beside them is loaded. A model
is what `MlpPolicy` builds: layers with one activation, on the rows of an encoder, scaled by the
environment, by `ScalingExtractor`, or not at all. The saved spaces name the encoder.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.encoders import factors_of, get_encoder, row_size
from fiveup_env.engine.view import as_views, unchecked_masks
from fiveup_env.errors import MissingExtraError, shown
from fiveup_env.files import file_path
from fiveup_env.opponents.networks.files import PolicyError, check_finite
from fiveup_env.opponents.networks.policy import Logits
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Collection

    from torch import Tensor

    from fiveup_env.encoders import Encoder

ACTIVATIONS: Final = {"Tanh": "tanh", "ReLU": "relu"}  # by their names in a file and in torch
LAYERS: Final = "mlp_extractor.policy_net."
FACTORS: Final = "features_extractor.factors"
EXTRACTORS: Final = ("FlattenExtractor", "ScalingExtractor")
OPTIONS: Final = {
    "features_extractor_class": "features extractor",
    "activation_fn": "activation",
}


@dataclass
class SavedModel(Logits):
    """Plays a model of Stable-Baselines3, trained on an environment of this package: `sb3:PATH`."""

    path: str = field(metadata={"help": "the zip file"})
    sample: bool = field(default=False, metadata={"help": "draw actions by their probabilities"})
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})
    encoder: str = field(
        default="", metadata={"help": "what wrote its observations, if the file does not say it"}
    )

    def __post_init__(self) -> None:
        """Read the weights; raise PolicyError if they are not those of such a model."""
        super().__init__(sample=self.sample, temperature=self.temperature)
        about, weights = _contents_of(self.path)
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
        _class_in(about, "features_extractor_class", EXTRACTORS, self.path)
        self._activation = ACTIVATIONS[_class_in(about, "activation_fn", ACTIVATIONS, self.path)]
        self._encoder = _encoder_of(about, self.encoder, self.path)
        self._factors = weights.get(FACTORS)
        if _said(about, "observation_space", "dtype") == "float32":  # the environment scaled them
            self._factors = last[0].new_tensor(factors_of(self._encoder.pieces))
        self._check_shapes(row_size(self._encoder))

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        import torch

        views = as_views(views)
        rows = np.empty((len(views), row_size(self._encoder)), np.int8)
        self._encoder.encode(views, rows)
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
        for weight, bias in self._layers:
            fits = fits and weight.ndim == 2 and weight.shape == (len(bias), width)
            width = len(bias)
        if not fits or width != ACTION_COUNT:
            raise PolicyError(
                f"{self.path} has layers that do not fit rows of {self._encoder.name} and the "
                f"{ACTION_COUNT} actions"
            )


def _contents_of(path: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a zip file says of its model, and the weights by name."""
    try:
        import torch
    except ModuleNotFoundError:
        raise MissingExtraError(
            "models of Stable-Baselines3 need torch: pip install 'fiveup-env[sb3]'"
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


def _class_in(about: dict[str, Any], option: str, known: Collection[str], path: str) -> str:
    """Return the name of a class among a model's options, by default the first of those known."""
    name = _said(about, "policy_kwargs", option).removesuffix("'>").rpartition(".")[-1]
    if name and name not in known:
        raise PolicyError(
            f"{path} has the {OPTIONS[option]} {shown(name, str)}; {' or '.join(known)} can be "
            "played"
        )
    return name or next(iter(known))


def _encoder_of(about: dict[str, Any], named: str, path: str) -> Encoder:
    """Return the encoder of a model, by what its file says or else by the name that is given."""
    name, version = (_said(about, "observation_space", word) for word in ("name", "version"))
    if not (name or named):
        raise PolicyError(f"{path} does not say which encoder it reads; name it by encoder=")
    if named and name not in {named, ""}:
        raise PolicyError(f"{path} reads {shown(name, str)}, not {shown(named, str)}")
    encoder = get_encoder(named or name)
    if name and version != str(encoder.version):
        raise PolicyError(
            f"{path} reads {name} {shown(version, str)}; this code has {name} {encoder.version}"
        )
    return encoder
