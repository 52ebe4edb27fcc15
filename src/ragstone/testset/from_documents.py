"""A test set of the questions that documents ask themselves, as they stand, over the whole corpus.

Read twice: first each document for its questions, of which only hashes are kept, then the chosen ones. What two
documents
ask in the same words is one question where they answer alike, a contradiction that is reported where they do not, and
two questions that name their page where they speak of different things."""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragstone.data.documents import Document
from ragstone.engine import Progress
from ragstone.testset.document_questions import FoundQuestion, find_questions
from ragstone.testset.items import (
    Difficulty,
    Evidence,
    Item,
    Outcome,
    Rejection,
    make_item_id,
)
from ragstone.testset.likeness import leaks_answer
from ragstone.testset.question_terms import (
    compute_question_key,
    extract_content_stems,
    extract_question_stems,
    find_opener,
)
from ragstone.testset.sampling import language_of, spread_documents
from ragstone.testset.sources import Corpus
from ragstone.text.answers import says_yes
from ragstone.text.language import detect_language
from ragstone.text.quantities import find_quantities, is_comparable, matches
from ragstone.types import NO_USAGE

MAX_ASKING = 30
"""Documents that ask in the same words, of which the answers are compared."""
SAME_SHARE, KINDRED_SHARE = 0.7, 0.4
"""Shares of the words of two answers from which they say the same, and from which they speak of the same thing."""
HARD_SHARE, EASY_SHARE = 0.34, 0.67
"""Shares of a question's words in its answer: below the first it is hard to find, above the second easy."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with the document that asks it."""

    document: Document
    position: int
    number: int
    found: FoundQuestion
    language: str


def ask_documents(
    corpus: Corpus,
    wanted: int,
    seed: int,
    languages: Sequence[str] = (),
    watch: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Questions of the documents, spread over them, until there are enough."""
    keys, positions, numbers = _index_questions(corpus, languages)
    outcome = Outcome(visited=len(corpus), there=len(keys))
    shared = _find_shared(keys)
    order = spread_documents(corpus, seed, wanted=wanted, among=np.unique(positions).tolist())
    settled: set[tuple[int, int]] = set()
    for asked in _take_turns(corpus, order, wanted, outcome):
        if (asked.position, asked.number) in settled:
            continue
        if asked.found.fault is not None:
            outcome.rejected.append(_refuse(asked))
            continue
        key = _hash_key(asked)
        group = [asked]
        if key in shared:
            same = np.flatnonzero(keys == key)[:MAX_ASKING]
            group = [_load(corpus, int(positions[at]), int(numbers[at])) for at in same]
            group = [one for one in group if one.found.fault is None]
            settled.update((one.position, one.number) for one in group)
        _settle_group(group, outcome)
        if watch is not None:
            watch(Progress(len(outcome.items), wanted, len(outcome.rejected), NO_USAGE))
    outcome.items = outcome.items[:wanted]
    return outcome


Hashes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.uint32]


def _index_questions(
    corpus: Corpus, languages: Sequence[str]
) -> tuple[Hashes, Positions, Positions]:
    """Of each question of the corpus the hash of its words, its document and its number there."""
    keys, positions, numbers = array("Q"), array("I"), array("I")
    for position, document in enumerate(corpus):
        if "?" not in document.text and "#" not in document.text and "<" not in document.text:
            continue
        language = language_of(document.text, document.language)
        if languages and language not in languages:
            continue
        for number, found in enumerate(find_questions(document.text, language)):
            asked = _Asked(document, position, number, found, _find_language(found, document))
            keys.append(_hash_key(asked))
            positions.append(position)
            numbers.append(number)
    return (
        np.frombuffer(keys, np.uint64).copy(),
        np.frombuffer(positions, np.uint32).copy(),
        np.frombuffer(numbers, np.uint32).copy(),
    )


def _find_shared(keys: Hashes) -> set[int]:
    values, counts = np.unique(keys, return_counts=True)
    return set(values[counts > 1].tolist())


def _hash_key(asked: _Asked) -> int:
    key = compute_question_key(asked.found.question, asked.language)
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _find_language(found: FoundQuestion, document: Document) -> str:
    """The language of a question by its own words: a page may have several."""
    return detect_language(f"{found.question} {found.answer[:400]}", document.language)


def _load(corpus: Corpus, position: int, number: int) -> _Asked:
    document = corpus[position]
    language = language_of(document.text, document.language)
    found = find_questions(document.text, language)[number]
    return _Asked(document, position, number, found, _find_language(found, document))


def _take_turns(
    corpus: Corpus, order: Sequence[int], wanted: int, outcome: Outcome
) -> Iterator[_Asked]:
    """Questions document by document, each giving its share, and round by round until there are enough."""
    given: dict[int, int] = {}
    open_positions = list(order)
    while open_positions:
        missing = wanted - len(outcome.items)
        share = max(1, math.ceil(missing / len(open_positions)))
        remaining = []
        for position in open_positions:
            document = corpus[position]
            language = language_of(document.text, document.language)
            found = find_questions(document.text, language)
            before = len(outcome.items)
            number = given.get(position, 0)
            while number < len(found) and len(outcome.items) - before < share:
                if len(outcome.items) >= wanted:
                    return
                one = found[number]
                yield _Asked(document, position, number, one, _find_language(one, document))
                number += 1
            given[position] = number
            if number < len(found):
                remaining.append(position)
        open_positions = remaining


def _settle_group(group: Sequence[_Asked], outcome: Outcome) -> None:
    """The items of what is asked in the same words."""
    clusters: list[list[_Asked]] = []
    for asked in group:
        for cluster in clusters:
            if say_the_same(cluster[0].found.answer, asked.found.answer, asked.language):
                cluster.append(asked)
                break
        else:
            clusters.append([asked])
    if len(clusters) == 1:
        _add(_build_item(clusters[0]), outcome)
        return
    for at, cluster in enumerate(clusters):
        for other in clusters[at + 1 :]:
            first, second = cluster[0], other[0]
            if contradict(first.found.answer, second.found.answer, first.language):
                detail = (
                    f"{first.document.id} says {first.found.answer[:120]!r}, {second.document.id} "
                    f"{second.found.answer[:120]!r}"
                )
                items = [_build_item(one) for one in clusters]
                outcome.rejected += [Rejection("contradictory", item, detail) for item in items]
                return
    names = [" ".join(cluster[0].document.title.split()) for cluster in clusters]
    for cluster, name in zip(clusters, names, strict=True):
        if name and names.count(name) == 1:
            _add(_build_item(cluster, name), outcome)
        else:
            others = next(one[0] for one in clusters if one is not cluster)
            detail = f"{others.document.id} answers {others.found.answer[:120]!r}"
            outcome.rejected.append(Rejection("ambiguous", _build_item(cluster), detail))


def _add(item: Item, outcome: Outcome) -> None:
    stems = set(extract_question_stems(item.question, item.language))
    answer = item.reference or ""
    told = set(extract_content_stems(answer, item.language))
    if leaks_answer(item.question, answer) or (len(told) > 1 and told <= stems):
        outcome.rejected.append(
            Rejection("leaked", item, f"the question says {answer[:80]!r} itself")
        )
    else:
        outcome.items.append(item)


def _build_item(cluster: Sequence[_Asked], name: str = "") -> Item:
    first = cluster[0]
    found = first.found
    question = f"{found.question} ({name})" if name else found.question
    evidence = tuple(
        Evidence(
            one.document.id,
            one.document.text[one.found.start : one.found.end],
            one.found.start,
            one.found.end,
        )
        for one in cluster
    )
    return Item(
        id=make_item_id(question, evidence),
        question=question,
        reference=found.answer,
        relevant=dict.fromkeys((one.document.id for one in cluster), 1.0),
        evidence=evidence,
        kind=classify_question(found.question),
        difficulty=measure_difficulty(question, found.answer, first.language),
        language=first.language,
        how=f"document:{found.form}",
        proof={"found": found.form} | ({"page": name} if name else {}),
    )


def _refuse(asked: _Asked) -> Rejection:
    found = asked.found
    assert found.fault is not None
    described = {"question": found.question, "document": asked.document.id, "form": found.form}
    return Rejection(found.fault, described, found.detail)


def classify_question(question: str) -> str:
    """The kind of a question by the word that it asks with."""
    opener = find_opener(question)
    if opener in ("why", "por qué"):
        return "why"
    is_task = re.search(r"\b(?:how (?:do|can|should|to|would|does one)|cómo)\b", question.lower())
    return "how_to" if is_task else "factual"


def measure_difficulty(
    question: str, answer: str, language: str, *, joins: bool = False
) -> Difficulty:
    """Easy where the answer has the words of the question, hard where it has few of them or two documents are
    needed."""
    wanted = set(extract_question_stems(question, language))
    held = wanted.intersection(extract_content_stems(answer, language))
    share = len(held) / max(1, len(wanted))
    if joins or share < HARD_SHARE:
        return "hard"
    return "easy" if share > EASY_SHARE else "medium"


def say_the_same(first: str, second: str, language: str) -> bool:
    """Whether two answers have nearly the same words, and no figure of one excludes the other."""
    if _measure_overlap(first, second, language) < SAME_SHARE:
        return False
    return not contradict(first, second, language)


def contradict(first: str, second: str, language: str) -> bool:
    """Whether two answers to the same words exclude each other: yes and no, or one thing with two figures."""
    said = [says_yes(answer.split(",")[0].split(".")[0]) for answer in (first, second)]
    if None not in said and said[0] != said[1]:
        return True
    if _measure_overlap(first, second, language) < KINDRED_SHARE:
        return False
    figures, others = find_quantities(first, language), find_quantities(second, language)
    lone = [
        one
        for one in figures
        if not any(matches(one, other) or matches(other, one) for other in others)
    ]
    rest = [
        one
        for one in others
        if not any(matches(one, other) or matches(other, one) for other in figures)
    ]
    return any(is_comparable(one, other) for one in lone for other in rest)


def _measure_overlap(first: str, second: str, language: str) -> float:
    """Words that two answers share, of all words of both; figures are compared by themselves."""
    sets = [
        {s for s in extract_content_stems(text, language) if not s[0].isdigit()}
        for text in (first, second)
    ]
    if not sets[0] or not sets[1]:
        return float(
            sets[0] == sets[1] and first.casefold().strip(". ") == second.casefold().strip(". ")
        )
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])
