"""Kind: everything the package knows of one kind of question, in one place.

Each file of this folder registers one; judges, merging, juries and cascades walk this registry. Two tables name some of its
kinds, since asks know neither judges nor metrics: `judges/offline/kinds.py` those that the embedded judge answers,
`experiments/judge_check/controls.py` those with controls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.asks.choices import Choose
from ragstone.asks.protocol import PromptSpec
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed

ExtractPart = Callable[[Any], Any]
"""Extracts the value of one Ask's reply from the value of a merged reply."""
Members = list[tuple[Ask, ExtractPart]]
"""The Asks that a merged one stands for, each with the way to its part of the reply."""
Vote = Callable[[Sequence[Any]], tuple[Any, tuple[str, ...]]]
"""Takes the values of the jurors' replies; returns the value that counts, and notes on disagreement."""
ItemKey = tuple[str, str]
"""Id of a claim; id and target of a chunk."""


class Merge(NamedTuple):
    """How Asks of one sample become one."""

    group: Callable[[Ask], Hashable | None]
    """What two Asks must share to be merged; None for one that stays alone."""
    unite: Callable[[Sequence[Ask]], Iterable[tuple[Ask, Members]]]


class Items(NamedTuple):
    """A kind that is decided item by item, so that a cascade can put some of them to another judge."""

    rows: str
    """The list of rows in the reply."""
    decision: str
    """What a row decides."""
    list_contents: Callable[[Ask], Iterator[tuple[ItemKey, Any]]]
    """Each item of an Ask with its content, which does not depend on ids."""
    narrow: Callable[[Ask, frozenset[ItemKey]], Ask]
    """Returns the Ask with only these items, which keep their ids."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question."""

    name: str
    example: Callable[[str | None], Ask]
    """Builds a small Ask in a language: what a judge says of itself for it stands for the kind."""
    spec: Callable[[Ask], PromptSpec] | None = None
    """How a language model is asked for JSON, and how its reply is checked."""
    choose: Choose | None = None
    """How a model is asked for one token."""
    prompts: tuple[str, ...] = ()
    """Prompt files of `choose`."""
    vote: Vote | None = None
    """How a jury decides; without it the first juror that replies speaks for all."""
    merge: Merge | None = None
    items: Items | None = None
    by_first: bool = False
    """Whether the first judge of a cascade answers alone, since there is no verdict to check."""
    has_scale: bool = False
    """Whether judges answer on scales of their own, so that values of two judges do not mix."""
    is_text: bool = False
    """Whether the reply is a text that one token cannot give."""


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Add a kind to the registry."""
    KINDS[kind.name] = kind
    return kind


def list_example_asks(languages: Iterable[str | None]) -> list[Ask]:
    """Build an Ask of each kind in each language: what a judge says of itself for them is what it is."""
    return [kind.example(language) for language in languages for kind in KINDS.values()]


def build_spec(ask: Ask) -> PromptSpec:
    """Build the prompt spec for an Ask; raises JudgeFailed for a kind that language models do not answer."""
    spec = KINDS[ask.kind].spec if ask.kind in KINDS else None
    if spec is None:
        raise JudgeFailed("refusal", "kind_unknown_model", kind=ask.kind)
    return spec(ask)
