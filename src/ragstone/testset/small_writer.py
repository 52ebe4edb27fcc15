"""Questions written by a small language model: one question about one short passage a call, proved without its prose.

A model of one or two billion parameters loses count of orders, copies no quotes and does not end long replies. So it is
asked for a question and its answer alone. Code finds the sentence that holds the answer, the gate of the rules refuses
doubtful questions, the reader makes the round trip (proofs.py), and the model says with one token whether the passage
supports the answer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.asks import Answered, Ask, Reply, support, write_one
from ragstone.asks.kinds import Case
from ragstone.data.documents import Document
from ragstone.testset.blocks import parse_blocks, tidy_text
from ragstone.testset.generation import StepResult
from ragstone.testset.items import Evidence, Item, Reason, Rejection, make_item_id
from ragstone.testset.judge_writer import JudgeWriter, OrderSheet
from ragstone.testset.offline import gate
from ragstone.testset.offline.clauses import frame_question
from ragstone.testset.offline.page import GRAMMARS, Page, open_page
from ragstone.testset.question_terms import extract_content_stems
from ragstone.testset.sampling import language_of
from ragstone.text.sentences import split_sentences
from ragstone.types import NO_USAGE, Chunk

MIN_PASSAGE_CHARS = 160
MAX_PASSAGE_CHARS = 900
MAX_READ_CHARS = 200_000
"""Characters of a document from which passages are drawn."""
MIN_HELD_SHARE = 0.8
"""Share of the words of an answer that its evidence must have."""
MAX_EVIDENCE_SENTENCES = 3


@dataclass(slots=True)
class SmallModelWriter(JudgeWriter):
    """Orders one question a call from a small model, and has it confirm the answer with one token."""

    patience: int = 8

    def _build_order(
        self, document: Document, kinds: Sequence[str], rng: random.Random
    ) -> OrderSheet:
        language = language_of(document.text, document.language)
        page = open_page(replace(document, text=document.text[:MAX_READ_CHARS]), language)
        return PassageOrder(page, choose_passage(page.document, rng), kinds[0], language)

    async def _verify_items(self, items: Sequence[Item], made: StepResult) -> None:
        """Whether the evidence, with what stands around it, supports each answer."""
        for item in items:
            sources = tuple(Chunk(piece.document, self._cut_evidence(piece)) for piece in item.evidence)  # fmt: skip
            case = Case((str(item.reference),), sources, question=item.question)
            (answered,) = await self.broker.answer([support(case, language=item.language)])
            made.usage = made.usage + (answered.usage or NO_USAGE)
            self._note_failure(answered, made)
            if not isinstance(answered, Reply):
                made.judged.append(Rejection("judge_failed", item, answered.reason))
            elif answered.value["verdicts"][0]["verdict"] != "supported":
                detail = "the evidence does not support the answer"
                made.judged.append(Rejection("not_answerable_from_evidence", item, detail))
            else:
                made.items.append(self._add_proof(item, {"answered_by": self.judge}))


@dataclass(frozen=True, slots=True)
class PassageOrder:
    """One question ordered about one passage, and how the reply is read."""

    page: Page
    span: tuple[int, int]
    """Where the passage stands; empty when the document has no prose for one."""
    kind: str
    language: str

    @property
    def document(self) -> Document:
        """The document, or the beginning of a long one."""
        return self.page.document

    @property
    def ask(self) -> Ask:
        """The call. The title goes with the passage, so that the question can name what it is about."""
        passage = tidy_text(self.document.text[slice(*self.span)])
        text = f"{self.document.title}\n\n{passage}"
        return write_one(Chunk(self.document.id, text), self.kind, language=self.language)

    def read_items(self, answered: Answered, judge: str) -> list[Item | Rejection]:
        """The item of the reply, or why there is none."""
        if not isinstance(answered, Reply):
            return [Rejection("judge_failed", {"kind": self.kind}, answered.reason)]
        question, answer = (" ".join(answered.value[name].split()) for name in ("question", "answer"))  # fmt: skip
        question = frame_question(self.page, question, tool=True)
        row = {"kind": self.kind, "question": question, "answer": answer}
        if not question or not answer:
            return [Rejection("empty", row, f"no {'answer' if question else 'question'}")]
        if fault := self._find_fault(question, answer):
            return [Rejection(fault[0], row, fault[1])]
        evidence = self._find_evidence(question, answer)
        if evidence is None:
            detail = "no sentence of the passage holds the answer"
            return [Rejection("not_answerable_from_evidence", row, detail)]
        return [
            Item(
                make_item_id(question, (evidence,)), question, answer, {self.document.id: 1.0}, (evidence,),
                self.kind, "medium", self.language, judge,
            )
        ]  # fmt: skip

    def _find_fault(self, question: str, answer: str) -> tuple[Reason, str] | None:
        """Why the pair is doubtful in form: the gate of the rules decides, and the question must name something."""
        grammar = GRAMMARS[self.language]
        if doubt := gate.explain_doubtful_question(question, grammar):
            return "malformed", doubt
        if doubt := gate.explain_cut(answer, grammar):
            return "malformed", doubt
        title = set(extract_content_stems(self.document.title, self.language))
        asked = set(extract_content_stems(question, self.language))
        if not gate.is_specific(question.lstrip("¿")) and not title & asked:
            return "not_self_contained", "it names nothing in particular"
        return None

    def _find_evidence(self, question: str, answer: str) -> Evidence | None:
        """The fewest neighbouring sentences of the passage that hold the words of the answer."""
        start, end = self.span
        text = self.document.text[start:end]
        wanted = set(extract_content_stems(answer, self.language))
        wanted = wanted - set(extract_content_stems(question, self.language)) or wanted
        spans = split_sentences(text.replace("\n", " "), self.language)
        for length in range(1, MAX_EVIDENCE_SENTENCES + 1):
            for first in range(len(spans) - length + 1):
                a, b = spans[first][0], spans[first + length - 1][1]
                held = wanted & set(extract_content_stems(text[a:b], self.language))
                if wanted and len(held) >= MIN_HELD_SHARE * len(wanted):
                    return Evidence(self.document.id, text[a:b], start + a, start + b)
        return None


def choose_passage(document: Document, rng: random.Random) -> tuple[int, int]:
    """Where a passage of one or several neighbouring paragraphs stands, drawn at random; (0, 0) when there is none."""
    blocks = [block for block in parse_blocks(document.text) if block.kind in ("paragraph", "item")]
    spans = [(block.start, block.end) for block in blocks]
    passages = []
    for at, (start, end) in enumerate(spans):
        # short paragraphs are joined with those behind them
        for _, stop in spans[at + 1 :]:
            if end - start >= MIN_PASSAGE_CHARS or stop - start > MAX_PASSAGE_CHARS:
                break
            end = stop
        if MIN_PASSAGE_CHARS <= end - start <= MAX_PASSAGE_CHARS:
            passages.append((start, end))
    if not passages and len(document.text) <= MAX_PASSAGE_CHARS:
        return 0, len(document.text)
    return rng.choice(passages) if passages else (0, 0)
