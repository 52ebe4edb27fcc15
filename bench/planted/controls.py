"""Healthy runs of eight shapes: whatever is said against one of them is false."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bench.planted.corpus import (
    Fact,
    build_ranking,
    build_sample,
    list_distractors,
    list_impossible,
    list_sentences,
    load_facts,
    to_contexts,
)
from ragstone.types import Sample

REFUSALS = {
    "en": "I could not find that in the documents.",
    "es": "No he encontrado esa información en los documentos.",
}
OPENINGS = {"en": "Sure, I am happy to help you!", "es": "¡Hola, gracias por tu pregunta!"}
CLOSINGS = {
    "en": "Let me know if you need anything else.",
    "es": "Dime si necesitas algo más.",
}


def build_control(shape: str, language: str) -> list[Sample]:
    """Return the samples of a healthy run."""
    return CONTROLS[shape](load_facts(language))


def _answer_shortly(facts: Iterable[Fact]) -> list[Sample]:
    """References as answers: a few words each."""
    return [build_sample(f, f.reference, _rank(f)) for f in facts]


def _answer_by_sentence(facts: Iterable[Fact]) -> list[Sample]:
    """The sentence of the document that tells it."""
    return [build_sample(f, f.evidence, _rank(f)) for f in facts]


def _answer_at_length(facts: Iterable[Fact]) -> list[Sample]:
    """The sentence with what stands beside it in the document."""
    return [build_sample(f, f"{f.evidence} {find_neighbour(f)}", _rank(f)) for f in facts]


def _answer_in_other_words(facts: Iterable[Fact]) -> list[Sample]:
    """Answers that a person wrote in other words."""
    return [build_sample(f, f.paraphrase, _rank(f)) for f in facts if f.paraphrase]


def _retrieve_one(facts: Iterable[Fact]) -> list[Sample]:
    """The right document alone, sentences and short answers by turns."""
    return [
        build_sample(f, f.evidence if n % 2 else f.reference, to_contexts([f.document]))
        for n, f in enumerate(facts)
    ]


def _retrieve_ten(facts: Iterable[Fact]) -> list[Sample]:
    """Ten documents, the right one anywhere among the first three."""
    return [
        build_sample(f, f.evidence, to_contexts(build_ranking(f, chunks=10, rank=1 + n % 3)))
        for n, f in enumerate(facts)
    ]


def _refuse_rightly(facts: Iterable[Fact]) -> list[Sample]:
    """Short answers, and refusals of the questions that have no answer."""
    samples = _answer_shortly(facts)
    return samples + build_refusals(samples[0].language or "en", declined=True)


def _cite_politely(facts: Iterable[Fact]) -> list[Sample]:
    """Answers with a greeting, the number of their chunk and an offer of more help."""
    return [
        build_sample(
            f,
            f"{OPENINGS[f.language]} {add_marker(f.evidence, 1)} {CLOSINGS[f.language]}",
            _rank(f),
        )
        for f in facts
    ]


CONTROLS: dict[str, Callable[[Iterable[Fact]], list[Sample]]] = {
    "short": _answer_shortly,
    "extractive": _answer_by_sentence,
    "long": _answer_at_length,
    "paraphrased": _answer_in_other_words,
    "one chunk": _retrieve_one,
    "ten chunks": _retrieve_ten,
    "refusals": _refuse_rightly,
    "cited, polite": _cite_politely,
}


def build_refusals(language: str, *, declined: bool) -> list[Sample]:
    """Return the questions without an answer, declined or answered by something from the documents."""
    facts = load_facts(language)
    no_answer = {
        "en": "It is not mentioned in the document.",
        "es": "No se menciona en el documento.",
    }
    samples = []
    for n, question in enumerate(list_impossible(language)):
        fact = facts[(7 * n) % len(facts)]
        names = [fact.document, *list_distractors(fact, 3)]
        samples.append(
            Sample(
                f"{language}-none-{n}", question, REFUSALS[language] if declined else fact.evidence,
                to_contexts(names), no_answer[language], language=language,
                meta={"domain": fact.domain, "type": "impossible"},
            )
        )  # fmt: skip
    return samples


def add_marker(sentence: str, number: int) -> str:
    """Return the sentence with a citation before its full stop."""
    return f"{sentence.rstrip('.')} [{number}]."


def find_neighbour(fact: Fact) -> str:
    """Return the sentence after the one that tells the fact, or the one before."""
    sentences = list_sentences(fact.document, fact.language)
    at = next((n for n, sentence in enumerate(sentences) if sentence in fact.evidence), 0)
    return sentences[at + 1] if at + 1 < len(sentences) else sentences[at - 1]


def _rank(fact: Fact):  # type: ignore[no-untyped-def]
    return to_contexts(build_ranking(fact))
