"""Questions written by a small language model: one question about one sentence a call, proved without its prose.

A model of one or two billion parameters loses count of orders, copies no quotes, adds to its answers and does not end long
replies. So code chooses a sentence that stands on its own, which is the reference, and the model is asked for the question
alone. The gate of the rules refuses doubtful questions, the reader makes the round trip (proofs.py), and the model says
with one token whether the sentence answers the question."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.asks import Answered, Ask, Reply, useful, write_one
from ragstone.data.documents import Document
from ragstone.testset.blocks import tidy_text
from ragstone.testset.generation import StepResult
from ragstone.testset.items import Evidence, Item, Reason, Rejection, make_item_id
from ragstone.testset.judge_writer import JudgeWriter, OrderSheet
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import drop_references
from ragstone.testset.offline.page import Page, find_sentences, open_page
from ragstone.testset.offline.subjects import frame_question
from ragstone.testset.question_terms import extract_content_stems
from ragstone.testset.sampling import language_of
from ragstone.types import NO_USAGE, Chunk

MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 8, 40
MAX_READ_CHARS = 200_000
"""Characters of a document from which sentences are drawn."""
_EMPTY_WORDS = re.compile(
    r"\b(?:purpose|name|function|application|program|library|propósito|nombre|función|aplicación|programa)\b"
)
"""Words by which a model asks, and which say nothing of what it asks about."""
MIN_TOLD_STEMS = 2
"""Words of meaning that the sentence must have and the question not."""


@dataclass(slots=True)
class SmallModelWriter(JudgeWriter):
    """Orders one question a call from a small model, and has it confirm with one token that it is answered."""

    patience: int = 8

    def _build_order(
        self, document: Document, kinds: Sequence[str], rng: random.Random
    ) -> OrderSheet | None:
        language = language_of(document.text, document.language)
        page = open_page(replace(document, text=document.text[:MAX_READ_CHARS]), language)
        span = choose_sentence(page, rng)
        return SentenceOrder(page, span, kinds[0]) if span else None

    async def _verify_items(self, items: Sequence[Item], made: StepResult) -> None:
        """Whether the sentence answers its question, by the model's own word."""
        for item in items:
            chunk = Chunk(item.evidence[0].document, str(item.reference))
            ask = useful(item.question, [chunk], {"question": None}, language=item.language)
            (answered,) = await self.broker.answer([ask])
            made.usage = made.usage + (answered.usage or NO_USAGE)
            self._note_failure(answered, made)
            if not isinstance(answered, Reply):
                made.judged.append(Rejection("judge_failed", item, answered.reason))
            elif not answered.value["grades"][0]["grade"]:
                detail = "the judge finds no answer"
                made.judged.append(Rejection("not_answerable_from_evidence", item, detail))
            else:
                made.items.append(replace(item, proof={**item.proof, "answered_by": self.judge}))


@dataclass(frozen=True, slots=True)
class SentenceOrder:
    """One question ordered about one sentence, and how the reply is read."""

    page: Page
    span: tuple[int, int]
    """Where the sentence stands."""
    kind: str

    @property
    def sentence(self) -> str:
        """The sentence, as a reference shows it."""
        return drop_references(tidy_text(self.page.document.text[slice(*self.span)]))

    @property
    def ask(self) -> Ask:
        """The call. The title goes with the sentence, so that the question can name what it is about."""
        text = f"{self.page.product or self.page.title}: {self.sentence}"
        chunk = Chunk(self.page.document.id, text)
        return write_one(chunk, self.kind, language=self.page.grammar.language)

    def read_items(self, answered: Answered, judge: str) -> list[Item | Rejection]:
        """The item of the reply, or why there is none."""
        if not isinstance(answered, Reply):
            return [Rejection("judge_failed", {"kind": self.kind}, answered.reason)]
        question = " ".join(answered.value["question"].split())
        row = {"kind": self.kind, "question": question, "sentence": self.sentence}
        if not question:
            return [Rejection("empty", row, "no question")]
        asks = frame_question(self.page, question, product=True)
        if fault := self._find_fault(asks):
            return [Rejection(fault[0], row, fault[1])]
        document, (start, end) = self.page.document, self.span
        evidence = (Evidence(document.id, document.text[start:end], start, end),)
        # the reader looks for what is asked, not for the product, which no sentence repeats
        product = re.escape(self.page.product or self.page.title)
        plain = re.sub(rf"\b{product}\b|{_EMPTY_WORDS.pattern}", "", question)
        return [
            Item(
                make_item_id(asks, evidence), asks, self.sentence, {document.id: 1.0}, evidence,
                self.kind, "medium", self.page.grammar.language, judge, proof={"plain": plain},
            )
        ]  # fmt: skip

    def _find_fault(self, question: str) -> tuple[Reason, str] | None:
        """Why a question is doubtful: by the gate of the rules, by its names, or because it says what it asks for."""
        grammar, document = self.page.grammar, self.page.document
        if doubt := gate.explain_doubtful_question(question, grammar):
            return "malformed", doubt
        if not gate.is_specific(question.lstrip("¿")):
            return "not_self_contained", "it names nothing in particular"
        known = f"{document.title} {document.text} {self.page.product}"
        names = re.findall(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑ]\w+", question)
        if foreign := next((name for name in names if name not in known), ""):
            return "malformed", f"the document does not speak of {foreign!r}"
        asked = set(extract_content_stems(question, grammar.language))
        told = set(extract_content_stems(self.sentence, grammar.language)) - asked
        return None if len(told) >= MIN_TOLD_STEMS else ("leaked", "the question says it all")


def choose_sentence(page: Page, rng: random.Random) -> tuple[int, int] | None:
    """Where a sentence that needs no other one stands, drawn at random; None when there is none."""
    blocks = [section.block for section in page.sections if section.block.kind == "paragraph"]
    rng.shuffle(blocks)
    for block in blocks:
        spans = [span for span in find_sentences(page, block) if _stands_alone(page, span)]
        if spans:
            return rng.choice(spans)
    return None


def _stands_alone(page: Page, span: tuple[int, int]) -> bool:
    """Whether a sentence is whole, of fair length, and points at nothing outside of it."""
    sentence = tidy_text(page.document.text[slice(*span)])
    if not MIN_SENTENCE_WORDS <= len(sentence.split()) <= MAX_SENTENCE_WORDS:
        return False
    is_whole = gate.is_sentence(sentence, page.grammar)
    return is_whole and not gate.explain_doubtful_reference(sentence, page.grammar)
