"""Faults and healthy shapes that were written after the rules were finished, and that no rule was tuned on."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bench.planted.corpus import (
    Fact,
    build_ranking,
    build_sample,
    load_documents,
    load_facts,
    to_contexts,
)
from bench.planted.faults import Fault, PlantedRun, Setting
from ragstone.data.demo import load_answers
from ragstone.types import Ranked, Sample, chunks

INTRODUCTIONS = {
    "en": "According to the document, the answer is as follows:",
    "es": "Según el documento, la respuesta es la siguiente:",
}
UNITS = {
    "en": [("hours", "weeks"), ("days", "months"), ("euros", "dollars"), ("kilometres", "miles"), ("minutes", "hours")],
    "es": [("horas", "semanas"), ("días", "meses"), ("euros", "dólares"), ("metros", "millas"), ("minutos", "horas")],
}  # fmt: skip


def _swap_unit(fact: Fact, setting: Setting) -> Sample | None:
    """The right number with a wrong unit."""
    for right, wrong in UNITS[fact.language]:
        if re.search(rf"\b{right}\b", fact.reference):
            answer = re.sub(rf"\b{right}\b", wrong, fact.evidence)
            return build_sample(fact, answer, setting.build_contexts(fact))
    return None


def _echo(fact: Fact, setting: Setting) -> Sample:
    """The question given back."""
    opening = {"en": "You would like to know:", "es": "Quieres saber lo siguiente:"}
    return build_sample(
        fact, f"{opening[fact.language]} {fact.question}", setting.build_contexts(fact)
    )


def _drop_sentence(fact: Fact, setting: Setting) -> Sample:
    """The right document without the sentence that tells it, and a guess."""
    text = {fact.document: load_documents()[fact.document].replace(fact.evidence, "")}
    guess = {
        "en": "As far as I know this is decided case by case.",
        "es": "Que yo sepa, eso se decide en cada caso.",
    }
    return build_sample(fact, guess[fact.language], to_contexts(setting.rank_documents(fact), text))


def _search_other_language(fact: Fact, setting: Setting) -> Sample:
    """Documents of the other language, and a refusal."""
    others = load_facts("es" if fact.language == "en" else "en")
    names = {other.document for other in random.Random(fact.id).sample(others, 4)}
    refusal = {"en": "The passages do not answer this.", "es": "Los textos no responden a eso."}
    return build_sample(fact, refusal[fact.language], to_contexts(sorted(names)))


def _stop_early(fact: Fact, setting: Setting) -> Sample | None:
    """An answer cut off before it says anything."""
    words = fact.evidence.split()
    place = fact.evidence.find(fact.reference)
    count = len(fact.evidence[:place].split()) if place > 0 else 0
    if not 3 <= count <= len(words):
        return None
    return build_sample(fact, " ".join(words[:count]), setting.build_contexts(fact))


UNSEEN_FAULTS: tuple[tuple[Fault, tuple[str, ...]], ...] = (
    (Fault("unit swapped", "hallucination", _swap_unit), ("hallucination",)),
    (Fault("question echoed", "off_topic", _echo), ("off_topic",)),
    (Fault("sentence dropped", "faulty_evidence", _drop_sentence), ("faulty_evidence",)),
    (Fault("wrong index", "retrieval_failure", _search_other_language), ("retrieval_failure",)),
    (Fault("cut off", "generation_failure", _stop_early), ("generation_failure", "incomplete", "off_topic")),
)  # fmt: skip
"""With the classes that a person would accept."""


def _introduce(facts: tuple[Fact, ...]) -> list[Sample]:
    return [
        build_sample(f, f"{INTRODUCTIONS[f.language]} {f.evidence}", to_contexts(build_ranking(f)))
        for f in facts
    ]


def _list_points(facts: tuple[Fact, ...]) -> list[Sample]:
    return [
        build_sample(
            f, f"- **{f.reference}**\n- {f.evidence}", to_contexts(build_ranking(f, rank=2))
        )
        for f in facts
    ]


def _lack_labels(facts: tuple[Fact, ...]) -> list[Sample]:
    """Neither references nor relevant ids, as in production."""
    return [
        replace(
            build_sample(f, f.evidence, to_contexts(build_ranking(f))),
            reference=None,
            relevant=None,
        )
        for f in facts
    ]


def _split_chunks(facts: tuple[Fact, ...]) -> list[Sample]:
    """Short chunks: single paragraphs of the documents."""
    samples = []
    for fact in facts:
        names = build_ranking(fact, chunks=3)
        parts = []
        for name in names:
            texts = load_documents()[name].split("\n\n")
            kept = [t for t in texts if fact.evidence in t] if name == fact.document else texts[:1]
            parts += [{"id": name, "text": text} for text in kept or texts]
        samples.append(build_sample(fact, fact.reference, chunks(*parts)))
    return samples


def _answer_shop(facts: tuple[Fact, ...]) -> list[Sample]:
    """The right answers of the shop of `ragstone demo`: other documents, by another author."""
    return [
        replace(to_sample(row), answer=row["reference"])
        for row in load_answers(2, facts[0].language)
    ]


UNSEEN_CONTROLS: dict[str, Callable[[tuple[Fact, ...]], list[Sample]]] = {
    "introduced": _introduce,
    "points": _list_points,
    "unlabelled": _lack_labels,
    "small chunks": _split_chunks,
    "shop": _answer_shop,
}


def build_unseen(fault: Fault, language: str) -> PlantedRun:
    """Return a run with the fault in three of ten samples."""
    dice = random.Random(f"unseen:{fault.name}:{language}")
    samples, planted = [], set()
    for number, fact in enumerate(load_facts(language)):
        spoiled = fault.plant(fact, Setting()) if dice.random() < 0.3 else None
        answer = fact.evidence if number % 2 else fact.reference
        samples.append(spoiled or build_sample(fact, answer, to_contexts(build_ranking(fact))))
        if spoiled is not None:
            planted.add(fact.id)
    return PlantedRun(tuple(samples), frozenset(planted), None, frozenset())


def build_shop(language: str) -> PlantedRun:
    """Return the shop's first version: its retriever never finds the page on returns."""
    samples = [to_sample(row) for row in load_answers(1, language)]
    members = frozenset(s.id for s in samples if s.meta["topic"] == samples[0].meta["topic"])
    return PlantedRun(tuple(samples), members, "topic", members)


def to_sample(row: Mapping[str, Any]) -> Sample:
    """Return a row of the shop as a sample."""
    return Sample(
        row["id"], row["question"], row["answer"], Ranked(chunks(*row["contexts"])), row["reference"],
        dict.fromkeys(row["relevant"], 1.0), row["language"], meta=row["meta"],
    )  # fmt: skip
