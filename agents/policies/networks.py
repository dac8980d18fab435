"""Networks: from observation rows (int8) to a logit for every action, and to a value.

All are deterministic given `torch.manual_seed`. A network needs nothing but rows: it scales them to
floats by the factors of the encoder's pieces. Sums modulo five are hard to learn, so
what each action would score bypasses the trunk and goes straight to the action's logit.

The names of the modules' attributes are the names of tensors in saved policies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from fiveup_env.encoders import factors_of, get_encoder, place_of
from fiveup_env.encoders.flat import USUAL_POINTS
from fiveup_env.encoders.truth import TRUTH_PIECES
from fiveup_env.errors import InputError, unknown
from fiveup_env.opponents.networks.compiled import MOST_DEPTH, MOST_WIDTH
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT, STEPS
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from fiveup_env.encoders import Piece

READS: Final = {
    "plain": "flat",
    "residual": "flat",
    "attention": "tokens",
    "guided": "lookahead",
}
APART: Final = {"attention": "events", "guided": "features"}  # the piece read by itself, by kind
PLAYS: Final = "plays"  # the piece that says what each action would score
HEAD_WIDTH: Final = 32
FIRST_LOGITS: Final = 0.01  # gain of the policy's last layer: all actions are nearly equal at first


class ShapeError(InputError):
    """A network that cannot be built."""


@dataclass(frozen=True)
class Shape:
    """The architecture of a network; `build` makes it.

    kind: `plain` (layers of ReLU), `residual` (blocks with skip connections), `attention` (a
        transformer over the history, with the rest of the row as one more token) or `guided`
        (residual blocks that also weigh the heuristics' features of every action).
    width, depth: units in a layer, and the number of layers or blocks.
    shared: whether policy and value share all but their last layers.
    encoder: the encoder whose rows it reads, by default that of its kind. `plain` and `residual`
        read any, named as `get_encoder` takes it.
    """

    kind: str = "plain"
    width: int = 256
    depth: int = 2
    shared: bool = False
    encoder: str = ""

    def __post_init__(self) -> None:
        """Raise ShapeError if no such network can be built, EncoderError for no such encoder."""
        if self.kind not in READS:
            raise ShapeError(unknown("network", self.kind, READS))
        usual = READS[self.kind]
        if self.encoder not in {"", usual}:
            if self.kind in APART:
                raise ShapeError(f"{self.kind} reads rows of {usual}, not of {self.encoder}")
            get_encoder(self.encoder)
        object.__setattr__(self, "encoder", self.encoder or usual)
        for name, most in (("width", MOST_WIDTH), ("depth", MOST_DEPTH)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ShapeError(f"{name} must be a whole number from 1 to {most}, not {value!r}")
        if self.kind == "attention" and self.width % HEAD_WIDTH:
            raise ShapeError(
                f"the width of attention must be a multiple of {HEAD_WIDTH}, not {self.width}"
            )
        if type(self.shared) is not bool:
            raise ShapeError(f"shared must be true or false, not {self.shared!r}")


def build(shape: Shape) -> PolicyNetwork:
    """Return a network of a shape, with newly initialized weights."""
    return PolicyNetwork(shape)


class PolicyNetwork(nn.Module):
    """From an encoder's rows to a logit for every action, and the value for the seat to move."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.reader = Reader(shape)
        self.policy_trunk = _trunk(shape, self.reader.size)
        self.value_trunk = None if shape.shared else _trunk(shape, self.reader.size)
        self.policy_head = _linear(shape.width, ACTION_COUNT, FIRST_LOGITS)
        self.value_head = _linear(shape.width, 1, 1.0)
        encoder = get_encoder(shape.encoder)
        self.worth = nn.Parameter(torch.zeros(USUAL_POINTS + 2))  # logits by the points of a play
        scores = any(piece.name == PLAYS and piece.size == ACTION_COUNT for piece in encoder.pieces)
        self.plays = place_of(encoder, PLAYS)[1] if scores else None
        guided = shape.kind == "guided"
        self.guide = _linear(shape.width, FEATURE_COUNT, FIRST_LOGITS) if guided else None
        self.features = place_of(encoder, APART[shape.kind])[1] if guided else slice(0)

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return a logit for every action, allowed or not, and a value, for every row."""
        inputs = self.reader(rows)
        latent = self.policy_trunk(*inputs)
        logits = self._logits(rows, latent)
        if self.value_trunk is not None:
            latent = self.value_trunk(*inputs)
        return logits, self.value_head(latent)[:, 0]

    def logits(self, rows: Tensor) -> Tensor:
        """Return the logits alone, which takes less time."""
        return self._logits(rows, self.policy_trunk(*self.reader(rows)))

    def values(self, rows: Tensor) -> Tensor:
        """Return the values alone, which takes less time."""
        trunk = self.policy_trunk if self.value_trunk is None else self.value_trunk
        return self.value_head(trunk(*self.reader(rows)))[:, 0]

    @torch.no_grad()
    def divide_logits(self, divisor: float) -> None:
        """Divide all logits by a number, by scaling the weights in place."""
        self.worth.div_(divisor)
        for head in (self.policy_head, self.guide):
            if head is not None:
                head.weight.div_(divisor)
                head.bias.div_(divisor)

    def _logits(self, rows: Tensor, latent: Tensor) -> Tensor:
        # Rows without that piece score all actions alike.
        plays = rows.new_zeros(len(rows), 1) if self.plays is None else rows[:, self.plays]
        plays = plays.long().clamp(0, USUAL_POINTS + 1)
        logits = self.policy_head(latent) + self.worth[plays]
        if self.guide is None:
            return logits
        steps = rows[:, self.features].view(-1, ACTION_COUNT, FEATURE_COUNT)
        features = steps * (1 / STEPS)
        return logits + (features @ self.guide(latent)[:, :, None])[:, :, 0]


class Critic(nn.Module):
    """A value from rows and hidden information (`Batch(oracle=True).oracle`), for learning."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.reader = Reader(shape, hidden=True)
        self.trunk = _trunk(shape, self.reader.size)
        self.value_head = _linear(shape.width, 1, 1.0)

    def forward(self, rows: Tensor, truth: Tensor) -> Tensor:
        """Return a value for every row."""
        return self.value_head(self.trunk(*self.reader(rows, truth)))[:, 0]


def masked_log_probabilities(logits: Tensor, masks: Tensor) -> Tensor:
    """Return the log-probability of every action, -inf where it is not allowed."""
    return functional.log_softmax(logits.masked_fill(masks == 0, -torch.inf), dim=-1)


def entropy_of(log_probabilities: Tensor) -> Tensor:
    """Return the entropy of each row of log-probabilities, some of which may be -inf."""
    finite = log_probabilities.masked_fill(log_probabilities == -torch.inf, 0)
    return -(log_probabilities.exp() * finite).sum(-1)


def facts_of(shape: Shape) -> list[Piece]:
    """Return the pieces of rows that a network reads as facts; they are in one place."""
    pieces = get_encoder(shape.encoder).pieces
    return [piece for piece in pieces if piece.name != APART.get(shape.kind)]


class Reader(nn.Module):
    """Splits rows into facts (`flat`, and what is hidden) as floats, and events as numbers."""

    factors: Tensor

    def __init__(self, shape: Shape, *, hidden: bool = False) -> None:
        super().__init__()
        encoder = get_encoder(shape.encoder)
        facts = facts_of(shape)
        first = place_of(encoder, facts[0].name)[1].start
        self.facts = slice(first, first + sum(piece.size for piece in facts))
        attention = shape.kind == "attention"
        self.events = place_of(encoder, APART[shape.kind])[1] if attention else slice(0)
        pieces = [*facts, *(TRUTH_PIECES if hidden else ())]
        # On the CPU even if the weights have no device yet: factors are not in the saved weights.
        factors = torch.tensor(factors_of(pieces), device="cpu")
        self.size = len(factors)
        self.register_buffer("factors", factors, persistent=False)

    def forward(self, rows: Tensor, truth: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the facts and the events, which are empty if the network reads none."""
        facts = rows[:, self.facts]
        if truth is not None:
            facts = torch.cat([facts, truth], 1)
        return facts * self.factors, rows[:, self.events]


def _trunk(shape: Shape, facts: int) -> nn.Module:
    """Return the body of a network, from facts and events to `width` numbers."""
    if shape.kind == "attention":
        events, _ = place_of(get_encoder(shape.encoder), APART[shape.kind])
        return Attention(facts, events, shape.width, shape.depth)
    kinds = {"plain": Layers, "residual": Blocks, "guided": Blocks}
    return kinds[shape.kind](facts, shape.width, shape.depth)


def _linear(inputs: int, outputs: int, gain: float = math.sqrt(2)) -> nn.Linear:
    """Return a layer with orthogonal weights; the default gain suits a layer before a ReLU."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Layers(nn.Module):
    """A sequence of ReLU layers."""

    def __init__(self, facts: int, width: int, depth: int) -> None:
        super().__init__()
        sizes = [facts] + [width] * (depth - 1)
        self.layers = nn.ModuleList(_linear(size, width) for size in sizes)

    def forward(self, facts: Tensor, _events: Tensor) -> Tensor:
        """Return the output for the facts."""
        for layer in self.layers:
            facts = layer(facts).relu()
        return facts


class Blocks(nn.Module):
    """Residual blocks: each normalizes its input and adds its output to the stream."""

    def __init__(self, facts: int, width: int, depth: int) -> None:
        super().__init__()
        self.first = _linear(facts, width, 1.0)
        self.blocks = nn.ModuleList(_block(width, depth) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, facts: Tensor, _events: Tensor) -> Tensor:
        """Return the output for the facts."""
        stream = self.first(facts)
        for block in self.blocks:
            stream = stream + block(stream)
        return self.norm(stream)


def _block(width: int, depth: int) -> nn.Sequential:
    """Return the layers of a block.

    The more blocks there are, the less each adds, so that the size of the sum stays the same.
    """
    last = _linear(width, width, 1 / math.sqrt(depth))
    return nn.Sequential(nn.LayerNorm(width), _linear(width, width), nn.ReLU(), last)


class Attention(nn.Module):
    """A transformer over the events, with the facts as the token whose final state is returned."""

    def __init__(self, facts: int, events: Piece, width: int, depth: int) -> None:
        super().__init__()
        self.length, self.fields = events.shape
        self.most = events.high + 1
        self.facts = _linear(facts, width, 1.0)
        self.words = nn.Parameter(torch.randn(self.fields * (self.most + 1), width) * 0.1)
        self.places = nn.Parameter(torch.randn(self.length, width) * 0.1)
        self.attending = nn.ModuleList(_Attending(width, depth) for _ in range(depth))
        self.thinking = nn.ModuleList(_block(width, depth) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, facts: Tensor, events: Tensor) -> Tensor:
        """Return the output for the facts and the events."""
        events = events.reshape(-1, self.length, self.fields)
        happened = events[..., 0] > 0
        longest = int(happened.sum(1).amax()) if len(events) else 0
        stream = self._tokens(facts, events[:, :longest])
        present = functional.pad(happened[:, :longest], (1, 0), value=True)
        for attend, transform in zip(self.attending, self.thinking, strict=True):
            tokens = stream
            if transform is self.thinking[-1]:
                stream = stream[:, :1]  # no later layer attends to the others
            stream = stream + attend(stream, tokens, present)
            stream = stream + transform(stream)
        return self.norm(stream[:, 0])

    def _tokens(self, facts: Tensor, events: Tensor) -> Tensor:
        """Return the embedded facts, then the events, each a sum of field and place embeddings."""
        firsts = torch.arange(self.fields, device=events.device) * (self.most + 1)
        fields = (events + firsts).flatten(0, 1)
        words = functional.embedding_bag(fields, self.words, mode="sum")
        tokens = words.view(*events.shape[:2], words.shape[1]) + self.places[: events.shape[1]]
        return torch.cat([self.facts(facts)[:, None], tokens], 1)


class _Attending(nn.Module):
    """Attention of some tokens to all tokens."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.ask = _linear(width, width, 1.0)
        self.offer = _linear(width, 2 * width, 1.0)
        self.take = _linear(width, width, 1 / math.sqrt(depth))

    def forward(self, asking: Tensor, tokens: Tensor, present: Tensor) -> Tensor:
        """Return what the asking tokens take from all tokens that are present."""
        queries = _by_heads(self.ask(self.norm(asking)))
        keys, contents = (_by_heads(part) for part in self.offer(self.norm(tokens)).chunk(2, -1))
        attended = functional.scaled_dot_product_attention(
            queries, keys, contents, attn_mask=present[:, None, None]
        )
        return self.take(attended.transpose(1, 2).flatten(2))


def _by_heads(tokens: Tensor) -> Tensor:
    """Reshape [rows x tokens x width] to [rows x heads x tokens x width of a head]."""
    return tokens.view(*tokens.shape[:-1], -1, HEAD_WIDTH).transpose(1, 2)
