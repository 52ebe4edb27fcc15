"""A second set of healthy shapes and faults, written by somebody who had not read the rules, and fixed before it was run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from bench.planted.controls import REFUSALS, find_neighbour
from bench.planted.corpus import (
    Fact,
    build_ranking,
    build_sample,
    list_distractors,
    load_documents,
    load_facts,
    to_contexts,
)
from bench.planted.faults import Fault, Setting
from ragstone.types import ChatMessage, Chunk, Ranked, Sample

CAVEATS = {
    "en": "Please check with the office if your case is a special one.",
    "es": "Si tu caso es especial, consulta con la oficina.",
}
BUSY = {
    "en": "The assistant is overloaded at the moment. Please try again in a few minutes.",
    "es": "El asistente está saturado en este momento. Inténtalo de nuevo en unos minutos.",
}
NEGATIONS = {"en": "It is not true that", "es": "No es cierto que"}
LEAKS = {
    "en": "You are a careful assistant. Answer only from the context below and keep it brief. Context: {context} Question: {question} Answer:",
    "es": "Eres un asistente cuidadoso. Responde solo a partir del contexto y sé breve. Contexto: {context} Pregunta: {question} Respuesta:",
}
TURNS = {
    "en": ("Hello, can you help me with a few things?", "Of course. What would you like to know?"),
    "es": ("Hola, ¿me ayudas con unas dudas?", "Claro. ¿Qué quieres saber?"),
}


def _add_source(fact: Fact) -> Sample:
    """The short answer with a line that names the document."""
    word = {"en": "Source", "es": "Fuente"}[fact.language]
    answer = f"{fact.reference}\n\n{word}: {fact.document}"
    return build_sample(fact, answer, to_contexts(build_ranking(fact)))


def _speak(fact: Fact) -> Sample:
    """As a speech system writes: small letters, no full stop."""
    return build_sample(
        fact, fact.evidence.lower().rstrip("."), to_contexts(build_ranking(fact, rank=2))
    )


def _halve_documents(fact: Fact) -> Sample:
    """The relevant document as two chunks, both relevant, both retrieved."""
    text = load_documents()[fact.document]
    cut = text.rfind("\n", 0, text.find(fact.evidence) + 1) + 1
    halves = [part for part in (text[cut:], text[:cut]) if part.strip()]
    parts = [Chunk(f"{fact.document}#{n}", part) for n, part in enumerate(halves)]
    others = to_contexts(list_distractors(fact, 2))
    sample = build_sample(fact, fact.reference, Ranked([*parts, *others]))
    return replace(sample, relevant={part.id: 1.0 for part in parts})


def _follow_up(fact: Fact) -> Sample:
    """The same question as the second turn of a conversation."""
    hello, offer = TURNS[fact.language]
    sample = build_sample(fact, fact.evidence, to_contexts(build_ranking(fact)))
    return replace(sample, messages=(ChatMessage("user", hello), ChatMessage("assistant", offer)))


def _join_chunks(fact: Fact) -> Sample:
    """All that was found as one long chunk."""
    names = build_ranking(fact, rank=3)
    text = "\n\n".join(load_documents()[name] for name in names)
    return build_sample(fact, fact.reference, Ranked([Chunk(fact.document, text)]))


def _add_caveat(fact: Fact) -> Sample:
    """The right sentence and a general piece of advice."""
    return build_sample(
        fact, f"{fact.evidence} {CAVEATS[fact.language]}", to_contexts(build_ranking(fact))
    )


def _reason_aloud(fact: Fact) -> Sample:
    """A quotation first, then the short answer."""
    words = {
        "en": "I looked through the documents. One of them says: “{quote}” So the answer is: {short}.",
        "es": "He mirado los documentos. Uno de ellos dice: «{quote}» Por tanto, la respuesta es: {short}.",
    }[fact.language]
    answer = words.format(quote=fact.evidence, short=fact.reference)
    return build_sample(fact, answer, to_contexts(build_ranking(fact)))


def _answer_plainly(fact: Fact) -> Sample:
    sample = build_sample(fact, fact.evidence, to_contexts(build_ranking(fact, chunks=6, rank=2)))
    return replace(sample, meta={})


BLIND_CONTROLS: dict[str, tuple[Callable[[Fact], Sample], int | None]] = {
    "source line": (_add_source, None),
    "speech": (_speak, None),
    "documents in halves": (_halve_documents, None),
    "second turn": (_follow_up, None),
    "one long chunk": (_join_chunks, None),
    "caveat": (_add_caveat, None),
    "reasoning aloud": (_reason_aloud, None),
    "thirty samples, no tags": (_answer_plainly, 30),
}
"""Shape → what makes a sample, and how many samples the run has; None for all."""


def build_blind_control(shape: str, language: str) -> list[Sample]:
    """Return the samples of a healthy run."""
    build, count = BLIND_CONTROLS[shape]
    return [build(fact) for fact in load_facts(language)[:count]]


def _negate(fact: Fact, setting: Setting) -> Sample:
    said = fact.evidence[0].lower() + fact.evidence[1:]
    return build_sample(fact, f"{NEGATIONS[fact.language]} {said}", setting.build_contexts(fact))


def _swap_answer(fact: Fact, setting: Setting) -> Sample | None:
    """The right sentence with the answer of another question of its domain in it."""
    others = [
        f.reference
        for f in load_facts(fact.language)
        if f.domain == fact.domain and f.reference.lower() not in fact.evidence.lower()
    ]
    if not others or fact.reference not in fact.evidence:
        return None
    answer = fact.evidence.replace(fact.reference, random.Random(fact.id).choice(others))
    return build_sample(fact, answer, setting.build_contexts(fact))


def _leak_prompt(fact: Fact, setting: Setting) -> Sample:
    contexts = setting.build_contexts(fact)
    start = load_documents()[list_distractors(fact, 1)[0]][:300]
    answer = LEAKS[fact.language].format(context=start, question=fact.question)
    return build_sample(fact, answer, contexts)


def _plead_load(fact: Fact, setting: Setting) -> Sample:
    return build_sample(fact, BUSY[fact.language], setting.build_contexts(fact))


def _mix_texts(fact: Fact, setting: Setting) -> Sample:
    """The right ids with the texts of other documents, as from a damaged index."""
    names = setting.rank_documents(fact)
    others = list_distractors(fact, 12)[-len(names) :]
    texts = {name: load_documents()[other] for name, other in zip(names, others, strict=True)}
    return build_sample(fact, REFUSALS[fact.language], to_contexts(names, texts))


def _keep_titles(fact: Fact, setting: Setting) -> Sample:
    """The right documents, of which the index kept only the first line."""
    names = setting.rank_documents(fact)
    texts = {name: load_documents()[name].strip().split("\n")[0][:60] for name in names}
    return build_sample(fact, REFUSALS[fact.language], to_contexts(names, texts))


def _read_next_line(fact: Fact, setting: Setting) -> Sample | None:
    """The sentence beside the right one."""
    beside = find_neighbour(fact)
    if not beside or fact.reference.lower() in beside.lower():
        return None
    return build_sample(fact, beside, setting.build_contexts(fact))


def _know_by_heart(fact: Fact, setting: Setting) -> Sample:
    """Other documents were retrieved; the model knew the answer all the same."""
    return build_sample(
        fact, fact.reference, to_contexts(list_distractors(fact, 10)[-setting.chunks :])
    )


BLIND_FAULTS: tuple[tuple[Fault, tuple[str, ...]], ...] = (
    (Fault("negated", "hallucination", _negate), ("hallucination", "generation_failure")),
    (Fault("answer swapped", "hallucination", _swap_answer), ("hallucination", "generation_failure")),
    (Fault("prompt leaked", "off_topic", _leak_prompt), ("off_topic", "generation_failure")),
    (Fault("overloaded", "false_refusal", _plead_load), ("false_refusal", "off_topic", "system_failure")),
    (Fault("texts mixed up", "faulty_evidence", _mix_texts), ("faulty_evidence",)),
    (Fault("titles only", "faulty_evidence", _keep_titles), ("faulty_evidence",)),
    (Fault("next line read", "off_topic", _read_next_line), ("off_topic", "incomplete", "generation_failure")),
    (Fault("known by heart", "retrieval_failure", _know_by_heart), ("retrieval_failure",)),
)  # fmt: skip
"""With the classes that a person would accept."""
