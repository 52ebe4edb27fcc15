"""Whether an item can be trusted: each is checked against its evidence, its document and the rest of the corpus.

Round trip without an LLM: a reader (reader.py) is given the question and the whole document. It must find the evidence,
and where the question asks for a number, a date or a sum, the reference. Then the evidence is taken away: the rest of
the document must not give the same answer, nor the rest of the corpus another one. Questions put in other words (a
paraphrase, slips, a second turn) are read as the plain question they were made from (`proof["plain"]`). bench/testsets.py
measures how many of the items let through the embedded judge confirms.

Keys of `Item.proof` that are read here, all optional: `plain` and `plain_reference` (the question and reference before
they were put in other words), `parts` (the plain questions of a compound one, in the order of the evidence), `claim` and
`about` (see Fact), `swapped` (`{"was", "for"}` of a near miss)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import JOINING, KINDS, UNANSWERABLE, Evidence, Item, Reason, Rejection
from ragstone.testset.likeness import is_dangling, leaks_answer
from ragstone.testset.offline.frames import drop_frame
from ragstone.testset.passed_questions import PassedQuestions
from ragstone.testset.question_terms import extract_content_stems, extract_question_stems
from ragstone.testset.reader import (
    AnswerSentence,
    agrees_with_any,
    find_asked_sort,
    find_best_sentence,
)
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language

MIN_COVER = 0.6
"""Weighted share of a question's words that its evidence, the sentence before it and the title must have."""
ANSWERING_COVER = 0.9
"""Share from which a sentence elsewhere answers the same question."""
NEAR_MISS_COVER = 0.8
"""Share from which a sentence would answer a question that should have no answer."""
OUT_OF_SCOPE_COVER = 0.55
"""Share of the words of an out-of-scope question below which a document does not speak of it."""
COMMON_SHARE = 0.15
"""Share of the documents from which a word does not tell which is meant."""
MANY_MENTIONS = 10
"""Documents that may name what a question is about, in a corpus of any size."""
COPIED_CHARS = 80
"""Characters at the end of a section by which its copy in another document is known."""
MANY_DOCUMENTS = 3
"""Other documents with the same answer from which a question is not about its document."""
_NAMED_RECORDS = frozenset({"record:option", "record:purpose_line"})
"""Values of `Item.how` whose question names the record that answers it."""
_FREE_REFERENCE_KINDS = frozenset(
    {
        "false_premise",
        "negation",
        "two_in_one",
        "conceptual",
        "aggregation",
        "cross_language",
        *JOINING,
    }
)
"""Kinds whose reference need not stand in the evidence word for word."""

# words that point at something outside of the question, by language
_POINTING = {
    "en": re.compile(
        r"\b(?:does|did|do|is|was|were|are|has|have|had|can|may|will|would|must)\s+(?:it(?! (?:cost|take|possible|necessary)\b)|he|she|they|this|these|those)\b"
        r"|\b(?:this|these|those) (?:\w+ )?\w+\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:est[eao]s?|es[eao]s?|dich[oa]s?|aquell?[oa]s?|él|ella|ellos|ellas)\b(?! (?:abiert|cerrad|disponib))",
        re.IGNORECASE,
    ),
}
# `If the card is lost, can it …`: a clause before the pronoun names what it points at
_FIRST_CLAUSE = re.compile(r"\b(?:if|when|once|while|si|cuando)\b|[A-Z]\w+ .*,", re.IGNORECASE)


class Prover:
    """Checks items one by one and remembers those it let through, so that none comes twice.

    `round_trip=False`: a judge will answer the questions, from the evidence and from elsewhere."""

    def __init__(self, index: CorpusIndex, *, round_trip: bool = True) -> None:
        self._index = index
        self._round_trip = round_trip
        self._passed = PassedQuestions()

    def check_item(self, item: Item) -> Item | Rejection:
        """The item with what was found out about it, or why it is refused."""
        # cheap checks first; the corpus is searched only for items that pass them
        for check in (self._check_form, self._check_quotes, self._check_words):
            fault = check(item)
            if fault is not None:
                return Rejection(fault[0], item, fault[1])
        twin = self._passed.find_twin(item)
        if twin:
            return Rejection("duplicate", item, f"asks what {twin!r} asks")
        # after the search for a twin: proving costs far more
        proof = self._prove_item(item)
        if isinstance(proof, tuple):
            return Rejection(proof[0], item, proof[1])
        relevant = dict(item.relevant)
        # `also`: other documents that tell the same; a system that finds one of them is right too
        relevant.update({key: 1.0 for key in proof.pop("also", ()) if key not in relevant})
        proved = replace(item, proof={**item.proof, **proof}, relevant=relevant)
        self._passed.add(proved)
        return proved

    def remember_item(self, item: Item) -> None:
        """Remember an item that was let through in an earlier process, without checking it again."""
        self._passed.add(item)

    def _check_form(self, item: Item) -> tuple[Reason, str] | None:
        if not item.question.strip():
            return "empty", "the question is empty"
        if item.kind not in KINDS:
            return "malformed", f"the kind {item.kind!r} is unknown"
        if item.kind in UNANSWERABLE:
            return ("malformed", "a reference is given") if item.reference is not None else None
        if item.reference is None or not item.reference.strip():
            return "empty", "the reference is empty"
        if not item.relevant or not item.evidence:
            return "malformed", "no evidence, or no relevant document"
        if item.kind in JOINING and len({evidence.document for evidence in item.evidence}) < 2:
            return "malformed", "the evidence comes from one document"
        if item.kind == "follow_up" and not item.history:
            return "malformed", "a follow-up has no first turn"
        if (
            len(extract_content_stems(item.question, detect_language(item.question, item.language)))
            < 1
        ):
            return "malformed", "the question has no word that carries meaning"
        return None

    def _check_quotes(self, item: Item) -> tuple[Reason, str] | None:
        for evidence in item.evidence:
            try:
                text = self._index.get_document(evidence.document).text
            except KeyError:
                return "malformed", f"no document {evidence.document!r}"
            if text[evidence.start : evidence.end] != evidence.quote or not evidence.quote.strip():
                return (
                    "quote_not_verbatim",
                    f"{evidence.quote[:80]!r} does not stand at {evidence.start} of {evidence.document}",
                )
        return None

    def _check_words(self, item: Item) -> tuple[Reason, str] | None:
        language = detect_language(item.question, item.language)
        if item.reference is not None and item.kind not in ("negation", "false_premise"):
            reference_stems = frozenset(extract_content_stems(item.reference, language))
            question_stems = frozenset(extract_content_stems(item.question, language))
            if leaks_answer(item.question, item.reference) or (
                reference_stems and reference_stems <= question_stems
            ):
                return "leaked", f"the question says {item.reference[:80]!r} itself"
        if is_dangling(item.question, item.language):
            return "not_self_contained", "it speaks of a text that nobody sees"
        pointing = _POINTING[language].search(item.question)
        if (
            pointing
            and item.kind != "follow_up"
            and not _FIRST_CLAUSE.search(item.question[: pointing.start()])
        ):
            return "not_self_contained", f"{pointing.group()!r} points at something outside"
        return None

    def _prove_item(self, item: Item) -> dict[str, Any] | tuple[Reason, str]:
        """The proof (a dict), or the fault (a tuple); callers tell them apart by type."""
        if item.kind in UNANSWERABLE:
            return self._check_unanswerable(item)
        if not self._round_trip:
            return {"checked": "form, quotes, words, duplicates"}
        also: set[str] = set()
        covers = []
        for question, reference, evidence in self._split_parts(item):
            cover = self._check_answerable(item, question, reference, evidence, also)
            if not isinstance(cover, float):  # a fault
                return cover
            covers.append(cover)
        return {"round_trip": "reader", "cover": round(min(covers), 2), "also": sorted(also)}

    def _split_parts(self, item: Item) -> list[tuple[str, str, Evidence]]:
        """What is asked, in plain words, part by part, with the evidence of each."""
        parts = item.proof.get("parts")
        if parts:
            return [
                (str(part["question"]), str(part["reference"]), evidence)
                # part n is proved by evidence n
                for part, evidence in zip(parts, item.evidence, strict=False)
            ]
        question = str(item.proof.get("plain", item.question))
        reference = str(item.proof.get("plain_reference", item.reference))
        return [(question, reference, evidence) for evidence in item.evidence[:1]]

    def _check_answerable(
        self, item: Item, question: str, reference: str, evidence: Evidence, also: set[str]
    ) -> float | tuple[Reason, str]:
        """The share of the question that its evidence covers, or the fault; adds to `also` who tells the same."""
        document = self._index.get_document(evidence.document)
        language = detect_language(document.text, item.language)
        held = _holds_reference(evidence.quote, reference, language)
        if not held and item.kind not in _FREE_REFERENCE_KINDS:
            return "not_answerable_from_evidence", "the reference does not stand in the evidence"
        claim = str(item.proof.get("claim", ""))
        if claim:
            fault = self._check_claim(item, claim, document, evidence, also)
            # True: the reader must look further; None: the claim alone is proof enough
            if fault is not True:
                return fault or 1.0
        if item.how in _NAMED_RECORDS:
            return 1.0  # the question names the record by its key, and whose it is
        # a record is found by its key, which no sentence repeats: structure proves it, not the reader
        is_record = item.how.startswith("record:")
        # inside its own document nothing needs the name that a question was framed with
        read = drop_frame(question) if claim and not item.proof.get("about") else question
        cover = 1.0 if is_record else _read_cover(item, read, reference, evidence, document)
        if not isinstance(cover, float):
            return cover
        if is_record and (other := self._find_copy(item, reference, evidence, language)):
            return "answerable_without_evidence", f"{other} has the same section"
        return self._find_other_answer(item, question, reference, language, also) or cover

    def _find_copy(self, item: Item, reference: str, evidence: Evidence, language: str) -> str:
        """Another document whose text ends alike, such as the footer of all pages of a site; empty where there is none."""
        stems = self._index.sort_rarest(extract_content_stems(reference, language), 3)
        others = self._index.find_with_all(stems, but=tuple(item.relevant), most=3)
        end = evidence.quote[-COPIED_CHARS:]
        return next((other.id for other in others if end in other.text), "")

    def _check_claim(
        self, item: Item, claim: str, document: Document, evidence: Evidence, also: set[str]
    ) -> tuple[Reason, str] | Literal[True] | None:
        """The fault if another sentence begins as the evidence does, None if none does, True if the reader must look on.

        A question for a date or an amount can be answered in other words: the reader looks for those."""
        language = detect_language(document.text, item.language)
        start = _compile_claim(claim)
        if len(start.findall(document.text)) > 1:
            return "ambiguous", f"the document says {claim!r} twice"
        stems = self._index.sort_rarest(extract_content_stems(claim, language), 4)
        about = str(item.proof.get("about", ""))
        if about and self._is_common(about, language):
            return "ambiguous", f"many documents speak of {about!r}"
        for other in self._index.find_with_all(stems, but=tuple(item.relevant), most=4):
            if start.search(other.text) is None:
                continue
            if find_quote(evidence.quote, other.text) is None:
                return "ambiguous", f"{other.id} says {claim!r} too"
            also.add(other.id)
        if len(also) >= MANY_DOCUMENTS:
            return "answerable_without_evidence", f"{len(also)} other documents tell it too"
        return True if find_asked_sort(str(item.proof.get("plain", item.question))) else None

    def _is_common(self, about: str, language: str) -> bool:
        """Whether so many documents speak of something that a question about it could mean any of them."""
        most = min(MANY_MENTIONS, max(MANY_DOCUMENTS, int(COMMON_SHARE * self._index.count)))
        stems = self._index.sort_rarest(extract_content_stems(about, language), 4)
        if (
            self._index.count <= MANY_MENTIONS
            or not stems
            or self._index.count_documents(stems[0]) <= most
        ):
            return False
        named = _compile_claim(about)
        documents = self._index.find_with_all(stems, most=2 * most)
        return sum(named.search(document.text) is not None for document in documents) > most

    def _find_other_answer(
        self, item: Item, question: str, reference: str, language: str, also: set[str]
    ) -> tuple[Reason, str] | None:
        """Whether another document gives another answer; one that gives the same is noted as relevant too."""
        stems = self._index.sort_rarest(extract_question_stems(question, language), 5)
        for document in self._index.find_with_all(stems, but=tuple(item.relevant), most=3):
            best = find_best_sentence(question, document.text, document.title, language)
            if best is None or best.cover < ANSWERING_COVER or best.own < ANSWERING_COVER:
                continue
            if find_quote(reference, best.sentence) is not None:
                also.add(document.id)
                if len(also) >= MANY_DOCUMENTS:
                    return "answerable_without_evidence", f"{len(also)} other documents tell it too"
            elif best.answers or not find_asked_sort(question):
                return "ambiguous", f"{document.id} says {best.sentence[:80]!r}"
        return None

    def _check_unanswerable(self, item: Item) -> dict[str, Any] | tuple[Reason, str]:
        """Proof that no document of the corpus tells: the sentences that come closest do not cover the question."""
        # the words of a style would hide how close a document comes
        question = str(item.proof.get("plain", item.question))
        language = detect_language(question, item.language)
        stems = extract_question_stems(question, language)
        rare = self._index.sort_rarest(stems, 6)
        candidates: dict[str, Document] = {}
        swapped = item.proof.get("swapped")
        if isinstance(swapped, Mapping):
            key = list(extract_content_stems(str(swapped.get("for", "")), language))
            others = [stem for stem in rare if stem not in key]
            # with the swapped-in name: documents with most other words first, then with fewer
            for stop in range(min(3, len(others)), 0, -1):
                candidates.update(
                    {
                        document.id: document
                        for document in self._index.find_with_all([*key, *others[:stop]])
                    }
                )
        candidates.update(
            {document.id: document for document in self._index.find_with_any(rare, most=4)}
        )
        top: tuple[float, str, str] = (0.0, "", "")
        for document in candidates.values():
            best = find_best_sentence(question, document.text, document.title, language)
            if best is None:
                continue
            share = best.cover if item.kind == "near_miss" else best.own
            # no number or date there that could be the answer: just below the bar of a near miss
            if best.answers == () and find_asked_sort(question):
                share = min(share, NEAR_MISS_COVER - 0.01)
            top = max(top, (share, document.id, best.sentence))
        bar = NEAR_MISS_COVER if item.kind == "near_miss" else OUT_OF_SCOPE_COVER
        if top[0] >= bar:
            return "answered_by_corpus", f"{top[1]} says {top[2][:80]!r}"
        return {
            "searched": len(candidates),
            "of": self._index.count,
            "closest": {"document": top[1], "cover": round(top[0], 2), "bar": bar},
        }


@lru_cache(maxsize=64)
def _compile_claim(claim: str) -> re.Pattern[str]:
    """The claim as it is searched for in a text, whatever its marks and line breaks."""
    words = [re.escape(word.strip('`“”«»"')) for word in claim.split()]
    return re.compile(
        r"(?<!\w)" + r"[`“”«»\"*]*\s+[`“”«»\"*]*".join(words) + r"(?!\w)", re.IGNORECASE
    )


def _holds_reference(quote: str, reference: str, language: str) -> bool:
    """Whether a quote gives the reference: word for word, or all its words where marks of a list or a table stand between."""
    if find_quote(reference.rstrip("."), quote) is not None:
        return True
    return frozenset(extract_content_stems(reference, language)) <= frozenset(
        extract_content_stems(quote, language)
    )


def _read_cover(
    item: Item, question: str, reference: str, evidence: Evidence, document: Document
) -> float | tuple[Reason, str]:
    """How much of the question its evidence covers, when a reader of the whole document takes it for the answer."""
    language = detect_language(document.text, item.language)
    best = find_best_sentence(question, document.text, document.title, language)
    if best is None or best.cover < MIN_COVER:
        return "not_answerable_from_evidence", "the document hardly has the question's words"
    span = (evidence.start, evidence.end)
    if not (best.start < span[1] and best.start + len(best.sentence) > span[0]):
        mistake = f"the reader takes {best.sentence[:80]!r} for the answer"
        return "not_answerable_from_evidence", mistake
    # such a reference is the whole evidence, so there is no other answer to compare it with
    if item.kind == "negation" and item.reference == evidence.quote.strip():
        return best.cover
    has_answer = best.answers and _holds_reference(evidence.quote, reference, language)
    is_other = has_answer and not agrees_with_any(reference, best.answers, language)
    if is_other and find_asked_sort(question):
        return "not_answerable_from_evidence", f"the reader answers {best.answers[0]!r}"
    other = find_best_sentence(question, document.text, document.title, language, without=span)
    rival = _check_rival(other, best, question, reference) if other is not None else None
    return rival or best.cover


def _check_rival(
    other: AnswerSentence, best: AnswerSentence, question: str, reference: str
) -> tuple[Reason, str] | None:
    """Whether the rest of the document answers as well as the evidence does."""
    if other.own < ANSWERING_COVER or other.own < 0.95 * best.own:
        return None
    if find_quote(reference, other.sentence) is not None:
        return "answerable_without_evidence", f"{other.sentence[:80]!r} tells it too"
    if other.answers or not find_asked_sort(question):
        return "ambiguous", f"{other.sentence[:80]!r} answers it as well"
    return None
