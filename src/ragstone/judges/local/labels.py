"""The classes of a classifier of pairs of texts: which of its outputs means that a claim is supported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.judges.choices import PairLabel

MEANINGS: dict[PairLabel, tuple[str, ...]] = {
    "supported": ("entailment", "entails", "entailed", "entail", "supported", "supports", "support", "consistent"),
    "contradicted": ("contradiction", "contradicts", "contradicted", "contradict", "contradictory", "refuted", "refutes"),
    "not_found": (
        "neutral", "not_found", "nei", "not_enough_info", "not_enough_information", "not_entailment", "non_entailment",
        "unsupported", "not_supported", "inconsistent", "hallucinated", "hallucination",
    ),
}  # fmt: skip
"""Names that models give their classes, by what they mean."""
EXAMPLES = {2: ("supported", "unsupported"), 3: ("entailment", "neutral", "contradiction")}
"""Labels that a message proposes, by the number of classes."""
_MEANING_OF = {name: meaning for meaning, names in MEANINGS.items() for name in names}


class UnclearLabels(RagstoneError):
    """A classifier does not say what its classes mean."""


def read_labels(model: str, names: Sequence[str], given: Any = None) -> tuple[PairLabel, ...]:
    """Return the meaning of each output of a model, from the names in its config or those that the user gives.

    Raises UnclearLabels for names that say nothing, such as LABEL_0: the order of classes is never guessed."""
    if given is not None:
        names = _apply_given(model, names, given)
    meanings = [_MEANING_OF.get(_normalize(name)) for name in names]
    if len(names) not in (2, 3):
        raise UnclearLabels(
            f"{model} has {len(names)} classes; a classifier of pairs has two (supported or not) or three "
            "(entailment, neutral, contradiction)"
        )
    known = [meaning for meaning in meanings if meaning is not None]
    if len(names) == 2 and "supported" in known and len(known) == 2:
        # of two classes the other one says no more than that the claim is not supported
        known = ["supported" if meaning == "supported" else "not_found" for meaning in known]
    if len(known) < len(names) or len(set(known)) < len(names) or "supported" not in known:
        raise UnclearLabels(
            f"{model} calls its classes {', '.join(map(repr, names))}, which does not say what they mean; "
            f"give the judge labels: [{', '.join(EXAMPLES[len(names)])}], in the order of its outputs"
        )
    return tuple(known)


def list_names(id_to_label: Mapping[Any, Any]) -> list[str]:
    """Return the label names of a config in the order of the outputs."""
    return [str(id_to_label[key]) for key in sorted(id_to_label, key=int)]


def _apply_given(model: str, names: Sequence[str], given: Any) -> list[str]:
    """Return the names that the user gives: a list in the order of the outputs, or a mapping of the model's own names."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise UnclearLabels(
                f"{model} has no class {unknown[0]!r}; it has {', '.join(map(repr, names))}"
            )
        return [str(given.get(name, name)) for name in names]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UnclearLabels(
            f"labels: is {given!r}; give a list in the order of the model's outputs, such as "
            "[entailment, neutral, contradiction]"
        )
    if names and len(given) != len(names):
        raise UnclearLabels(f"{model} has {len(names)} classes and labels: names {len(given)}")
    return list(map(str, given))


def _normalize(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())
