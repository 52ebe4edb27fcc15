"""Rubric metrics: a judge places texts on a closed scale, fixed for `coherence`, the user's own for `rubric`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ragstone.asks import Asking, ask, rate
from ragstone.errors import JudgeFailed, MissingField, NotApplicable, SystemFailed
from ragstone.metrics.claims import name_chunks
from ragstone.registry import metric
from ragstone.types import SYSTEM_FIELDS, Finding, Sample, Score

COHERENCE: dict[str, tuple[str, tuple[str, ...]]] = {
    "en": (
        "How well does the text hold together: do its sentences follow from one another, without "
        "contradiction, repetition or gaps? Judge the form only, not whether it is true.",
        (
            "incoherent: fragments that cannot be followed",
            "poor: the thread is often lost, or sentences contradict one another",
            "fair: it can be followed, with jumps or repetitions",
            "good: clear and ordered, with a minor flaw",
            "excellent: every sentence follows and nothing is out of place",
        ),
    ),
    "es": (
        "¿Hasta qué punto el texto forma un conjunto: se siguen sus frases unas de otras, sin "
        "contradicciones, repeticiones ni saltos? Juzga solo la forma, no si lo que dice es cierto.",
        (
            "incoherente: fragmentos que no se pueden seguir",
            "deficiente: se pierde el hilo a menudo, o hay frases que se contradicen",
            "aceptable: se puede seguir, con saltos o repeticiones",
            "bueno: claro y ordenado, con algún defecto menor",
            "excelente: cada frase se sigue de la anterior y nada está fuera de lugar",
        ),
    ),
}
"""The question and the levels, worst first, in each language; English for all others."""

RubricField = Literal["question", "answer", "contexts", "reference"]


def _check_options(options: Mapping[str, Any]) -> str | None:
    levels = options["levels"]
    if len(set(levels)) < 2 or len(set(levels)) != len(levels):
        return f"levels are {list(levels)!r}; give at least two different ones, worst first"
    if not options["question"].strip() or not options["name"].strip():
        return "name or question is empty; say what to judge"
    return None if options["fields"] else "fields is empty; name the texts to show the judge"


@metric
def coherence(answer: str, language: str | None = None) -> Asking[Score]:
    """How well the answer holds together, on a fixed five-level rubric, scaled to 0..1."""
    if not answer.strip():
        raise NotApplicable("empty_field", field="answer")
    question, levels = COHERENCE.get((language or "en").split("-")[0], COHERENCE["en"])
    return (yield from rate_texts({"answer": answer}, "coherence", question, levels, language))


@metric(label="name", check=_check_options)
def rubric(
    sample: Sample,
    *,
    name: str = "quality",
    question: str = "How good is the answer as a reply to the question?",
    levels: Sequence[str] = ("useless", "poor", "fair", "good", "excellent"),
    fields: Sequence[RubricField] = ("question", "answer"),
) -> Asking[Score]:
    """The level that the judge chooses on criteria written by the user, scaled to 0..1: worst level 0, best 1.

    `question` says what to judge, `levels` are its closed scale, worst first, and `fields` the texts to show."""
    texts: dict[str, str] = {field: _to_text(sample, field, name) for field in fields}
    if "question" in fields and sample.messages:
        said = [f"{message.role}: {message.content}" for message in sample.messages]
        texts = {"conversation": "\n".join(said), **texts}
    if not any(text.strip() for text in texts.values()):
        raise NotApplicable("rubric_nothing_to_show", rubric=name, fields=tuple(fields))
    return (yield from rate_texts(texts, name, question, levels, sample.language))


def rate_texts(
    texts: Mapping[str, str], name: str, question: str, levels: Sequence[str], language: str | None
) -> Asking[Score]:
    """Ask the judge for a level of the texts and scale it to 0..1."""
    reply = yield from ask(rate(texts, name, question, levels, language=language))
    level = reply.get("level") if isinstance(reply, Mapping) else None
    reason = reply.get("reason") if isinstance(reply, Mapping) else None
    # the type, since True is an int by isinstance
    if type(level) is not int or not 0 <= level < len(levels) or not isinstance(reason, str):
        raise JudgeFailed("unparseable", "level_missing", rubric=name)
    return Score(level / (len(levels) - 1), findings=(Finding(name, levels[level], reason),))


def _to_text(sample: Sample, field: RubricField, name: str) -> str:
    """Format a field for the judge; each chunk starts with its id."""
    value = getattr(sample, field)
    if value is None and field in SYSTEM_FIELDS and sample.error is not None:
        raise SystemFailed(sample.error)
    if value is None:
        raise MissingField("rubric_field_missing", rubric=name, name=field)
    if isinstance(value, str):
        return value
    return "\n\n".join(f"[{chunk.id}] {chunk.text}" for chunk in name_chunks(value))
