"""Facts of the bundled corpus: a question, its reference, the document and the sentence that tell it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ragstone.data import corpora
from ragstone.text.content import find_content_words
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text
from ragstone.types import Chunk, Ranked, Sample

WORDINGS = Path(__file__).with_name("wordings.tsv")
"""Hand-written answers to some of the questions: id, other words, the other language."""
ASKED_TYPES = ("fact", "near", "paraphrase")


@dataclass(frozen=True, slots=True)
class Fact:
    """A question that one sentence of one document answers."""

    id: str
    question: str
    reference: str
    language: str
    domain: str
    type: str
    document: str
    evidence: str
    near: tuple[str, ...]
    """Documents that say almost the same of something else."""
    paraphrase: str | None
    other_language: str | None


@lru_cache(maxsize=1)
def load_documents() -> Mapping[str, str]:
    """Return the text of each document."""
    return {row["id"]: row["text"] for row in _read_lines(corpora.documents())}


@lru_cache(maxsize=1)
def _load_document_languages() -> Mapping[str, str]:
    return {row["id"]: row["language"] for row in _read_lines(corpora.documents())}


@lru_cache(maxsize=4)
def load_facts(language: str) -> tuple[Fact, ...]:
    """Return the facts of a language whose reference stands in a sentence of its one relevant document."""
    wordings = {}
    for line in WORDINGS.read_text("utf-8").splitlines():
        id, paraphrase, other = line.split("\t")
        wordings[id] = (paraphrase, other)
    facts = []
    for row in _read_lines(corpora.questions()):
        if row["language"] != language or row["meta"]["type"] not in ASKED_TYPES:
            continue
        gold = [name for name, grade in row["relevant"].items() if grade > 0]
        evidence = find_sentence(load_documents()[gold[0]], row["reference"], language)
        if len(gold) > 1 or evidence is None:
            continue
        near = tuple(name for name, grade in row["relevant"].items() if grade == 0)
        paraphrase, other = wordings.get(row["id"], (None, None))
        facts.append(
            Fact(
                row["id"], row["question"], row["reference"], language, row["meta"]["domain"],
                row["meta"]["type"], gold[0], evidence, near, paraphrase, other,
            )
        )  # fmt: skip
    return tuple(facts)


def list_impossible(language: str) -> list[str]:
    """Return the questions that no document answers."""
    return [
        row["question"]
        for row in _read_lines(corpora.questions())
        if row["language"] == language and row["meta"]["type"] == "impossible"
    ]


def find_sentence(text: str, wanted: str, language: str) -> str | None:
    """Return the first sentence of a text that holds some words, as they stand."""
    for start, end in split_sentences(text, language):
        if fold_text(wanted) in fold_text(text[start:end]):
            return text[start:end]
    return None


def list_sentences(document: str, language: str) -> list[str]:
    """Return the sentences of a document that end in a full stop: headings are left out."""
    text = load_documents()[document]
    parts = [
        part
        for start, end in split_sentences(text, language)
        for part in text[start:end].split("\n")
    ]
    return [part for part in parts if part.endswith(".") and not part.startswith("#")]


def find_nearest_sentence(document: str, fact: Fact) -> str:
    """Return the sentence of a document that has most words of the fact's question."""
    words = find_content_words(fact.question)
    sentences = list_sentences(document, fact.language)
    return max(sentences, key=lambda sentence: len(words & find_content_words(sentence)))


def list_distractors(fact: Fact, count: int) -> list[str]:
    """Return documents that do not tell the fact: near ones first, then those of its domain, then others."""
    languages = _load_document_languages()
    names = [
        name for name in languages if languages[name] == fact.language and name != fact.document
    ]
    dice = random.Random(fact.id)
    dice.shuffle(names)
    names.sort(key=lambda name: (name not in fact.near, not name.startswith(fact.domain)))
    return names[:count]


def build_ranking(fact: Fact, *, chunks: int = 4, rank: int = 1) -> list[str]:
    """Return document ids with the relevant one at a rank, 0 for nowhere."""
    names = list_distractors(fact, chunks - (rank > 0))
    if rank:
        names.insert(rank - 1, fact.document)
    return names


def to_contexts(names: Sequence[str], texts: Mapping[str, str] | None = None) -> Ranked:
    """Return chunks of whole documents; `texts` replaces some."""
    known = {**load_documents(), **(texts or {})}
    return Ranked(Chunk(name, known[name]) for name in names)


def build_sample(
    fact: Fact, answer: str | None, contexts: Ranked, *, error: str | None = None
) -> Sample:
    """Return a sample of the fact with what a system made of it."""
    return Sample(
        fact.id, fact.question, answer, contexts, fact.reference, {fact.document: 1.0}, fact.language,
        meta={"domain": fact.domain, "type": fact.type}, error=error,
    )  # fmt: skip


def _read_lines(path: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
