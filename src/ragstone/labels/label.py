"""A label: what a person said of a claim, a chunk, an answer or a pair of answers, and on which texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from ragstone.errors import DataError, suggest_nearest
from ragstone.types import Sample

Target = Literal[
    "claim", "chunk", "support", "correctness", "relevance", "refusal", "preference", "score", "note",
]  # fmt: skip
"""What a label is about: a claim's verdict, a chunk's relevance; whether an answer is supported throughout, correct,
relevant, a refusal; which of two answers is better; the value of any other metric; a free note."""
TARGETS: tuple[Target, ...] = get_args(Target)

Origin = Literal["random", "unsure", "import", "feedback", "viewer", "adjudicated"]
"""How the label came about: drawn at random, chosen where the judge is unsure, read from a file, given by a user of the
monitored system, given in the viewer, decided after two people disagreed (it then counts instead of theirs)."""
ORIGINS: tuple[Origin, ...] = get_args(Origin)

MONITOR = "monitor"
"""Stands for the run of labels on monitored interactions."""
SKIP = "skip"
"""Word of a label that says: seen, and cannot be decided."""

VERDICT_VALUES: Mapping[str, float] = {"supported": 1.0, "contradicted": 0.0, "not_found": 0.0}
PREFERENCE_VALUES: Mapping[str, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
_YES_WORDS = (
    "yes", "y", "true", "correct", "relevant", "supported", "good", "pass", "passed", "up", "thumbs_up", "positive",
    "factual", "faithful", "grounded", "refusal", "refused", "sí", "si", "verdadero", "correcto", "relevante", "👍",
)  # fmt: skip
_NO_WORDS = (
    "no", "n", "false", "incorrect", "wrong", "irrelevant", "unrelated", "not_relevant", "unsupported", "not_supported", "bad",
    "fail", "failed", "down", "thumbs_down", "negative", "hallucinated", "hallucination", "unfaithful", "answered", "falso",
    "incorrecto", "irrelevante", "👎",
)  # fmt: skip
_PARTLY_WORDS = ("partly", "partly_relevant", "partially_relevant", "partial", "neutral", "parcial")
WORD_VALUES: Mapping[str, float] = {
    **dict.fromkeys(_YES_WORDS, 1.0),
    **dict.fromkeys(_NO_WORDS, 0.0),
    **dict.fromkeys(_PARTLY_WORDS, 0.5),
}
_VERDICT_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("entailment", "entailed", "true", "yes", "1", "correct"), "supported"),
    **dict.fromkeys(("contradiction", "refuted", "refutes", "contradicts"), "contradicted"),
    **dict.fromkeys(("neutral", "unsupported", "not_supported", "not_enough_info", "unverifiable", "no", "false", "0"), "not_found"),
}  # fmt: skip

CONTENT_FIELDS: Mapping[Target, tuple[str, ...]] = {
    "claim": ("answer", "contexts"),
    "support": ("answer", "contexts"),
    "chunk": ("question", "contexts"),
    "correctness": ("question", "answer"),
    "relevance": ("question", "answer"),
    "refusal": ("question", "answer"),
    "preference": ("question", "answer"),
    "score": ("question", "answer", "contexts"),
    "note": ("question", "answer"),
}
"""The texts that a label depends on: it counts for another run's sample only where these are the same."""


@dataclass(frozen=True, slots=True)
class Label:
    """What one person said of one item."""

    sample: str
    """Id of the sample, or of the monitored interaction."""
    target: Target
    value: float | None = None
    """0 to 1 (a `score`: on the metric's scale); None for a note, a skipped item and a label that was taken back."""
    word: str = ""
    """The verdict, the preference or the text of a note; `skip` for an item that cannot be decided."""
    item: str = ""
    """The claim, the chunk's id, the metric of a `score`, or the run whose answer is the second of a preference."""
    author: str = ""
    at: int = 0
    """Microseconds since 1970, UTC."""
    run: str = ""
    """The run whose sample was labelled; empty for any run with a sample of that id."""
    comment: str = ""
    content: str = ""
    """Hash of the labelled texts; empty when they are not known."""
    sampling_probability: float | None = None
    """Probability with which the item was drawn, `chance` in files and in the store; None when nobody knows."""
    origin: Origin = "import"
    number: int = 0
    """Its number in the store, which orders revisions; 0 before it is stored."""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about: labels with the same key are on the same item."""
        return (self.sample, self.content or self.run, self.target, self.item)

    @property
    def is_withdrawn(self) -> bool:
        """Whether it takes an earlier label back."""
        return self.value is None and not self.word

    @property
    def is_skip(self) -> bool:
        """Whether the person saw the item and could not decide."""
        return self.value is None and self.word == SKIP

    def to_row(self) -> dict[str, Any]:
        """The label as a row of a file, which `labels import` reads back."""
        at = datetime.fromtimestamp(self.at / 1e6, UTC).isoformat(timespec="seconds")
        return {
            "sample": self.sample, "on": self.target, "item": self.item or None, "value": self.value,
            "word": self.word or None, "author": self.author, "at": at, "run": self.run or None,
            "comment": self.comment or None, "chance": self.sampling_probability, "origin": self.origin,
            "content": self.content or None,
        }  # fmt: skip


def parse_target(text: str) -> Target:
    """The target of that name; an unknown one is an error that names the nearest."""
    for target in TARGETS:
        if text == target:
            return target
    raise DataError(f"no target of labels {text!r}{suggest_nearest(text, TARGETS)}")


def parse_value(
    target: Target, given: Any, scale: tuple[float, float] | None = None
) -> tuple[float | None, str]:
    """The number and word that a label of a target stands for; ValueError says what to write instead.

    `scale` is the lowest and the highest number that could be given; None: 0..2 for a chunk, any for a score, else 0..1."""
    if target == "note":
        return None, str(given)
    if isinstance(given, str):
        text = "_".join(given.strip().lower().replace("-", " ").split())
        if text == SKIP:
            return None, SKIP
        if target == "claim":
            verdict = _VERDICT_ALIASES.get(text, text)
            if verdict in VERDICT_VALUES:
                return VERDICT_VALUES[verdict], verdict
        elif target == "preference":
            if text in PREFERENCE_VALUES:
                return PREFERENCE_VALUES[text], text
        elif text in WORD_VALUES:
            return WORD_VALUES[text], ""
        given = _to_number(text)
    if isinstance(given, bool | int | float):
        return _scale_number(target, float(given), scale)
    raise ValueError(_describe_values(target))


def _scale_number(
    target: Target, number: float, scale: tuple[float, float] | None
) -> tuple[float, str]:
    if target == "score" and scale is None:
        return number, ""
    low, high = scale or ((0.0, 2.0) if target == "chunk" else (0.0, 1.0))
    if not low <= number <= high:
        raise ValueError(f"{number:g} is outside {low:g}..{high:g}; give the scale: --scale 1..5")
    value = (number - low) / (high - low)
    if target == "claim":
        return value, "supported" if value > 0.5 else "not_found"
    words = {known: word for word, known in PREFERENCE_VALUES.items()}
    return value, words.get(value, "") if target == "preference" else ""


def _to_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _describe_values(target: Target) -> str:
    words = {
        "claim": "supported, contradicted or not_found",
        "preference": "first, second or tie",
        "chunk": "0, 1 or 2",
    }
    return f"give {words.get(target, 'yes, no or a number from 0 to 1')}"


def hash_content(sample: Sample, target: Target, item: str = "") -> str:
    """The hash of the texts that a label of the target depends on; that of a chunk takes its own text alone."""
    parts: list[Any] = []
    for name in CONTENT_FIELDS[target]:
        value = getattr(sample, name)
        if name == "contexts" and value is not None:
            chunks = [chunk for chunk in value if target != "chunk" or chunk.id == item]
            value = [" ".join(chunk.text.split()) for chunk in chunks]
        elif isinstance(value, str):
            value = " ".join(value.split())
        parts.append(value)
    # stores keep it: computed in another way, it would no longer match the labels that they have
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
