"""Questions written by a judge: it is asked for them document by document, and then answers those that pass the checker.

For an item to pass, the judge must answer it from its evidence, without seeing the reference, and not from elsewhere."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragstone.asks import Answered, Ask, Order, Problem, Reply, solve, write
from ragstone.data.documents import Document
from ragstone.engine import AskBroker
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.testset.entities import find_shared_name
from ragstone.testset.generation import ItemProver, StepResult
from ragstone.testset.items import JOINING, UNANSWERABLE, Evidence, Item, Rejection, make_item_id
from ragstone.testset.sampling import language_of
from ragstone.testset.sources import Corpus
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.text.quantities import find_quantities
from ragstone.text.words import split_bare_words
from ragstone.types import NO_USAGE, Chunk

MAX_SHOWN_CHARS = 6000
"""Characters of a document that are shown to the judge; a longer one shows a part, another one each time."""
EVIDENCE_MARGIN_CHARS = 400
"""Characters on each side of a quote that count as its evidence: a quote alone may lack what its words refer to."""
NEIGHBOURS = 2
"""Passages of other documents that are shown where a question needs several."""

PER_DOCUMENT = 6
"""Questions ordered in one call at most."""
GROUP = 4
"""Documents whose questions are answered in one call."""

Nearest = Callable[[str, int, frozenset[str]], Sequence[tuple[str, str]]]
"""Text, how many, which documents not → id and text of the nearest passages of the corpus."""

RELATED = JOINING | {"distractor"}
"""Kinds that need passages of other documents beside the document."""
THROUGH_A_NAME = frozenset({"bridge", "comparison"})
"""Kinds whose second document is one that names something of the first."""
PROVED_APART = frozenset({"bridge", "comparison", "conflict"})
"""Kinds that are also asked of each of their documents alone."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document as a judge sees it."""

    document: str
    text: str
    start: int
    """Where the part starts in the document."""


class OrderSheet(Protocol):
    """What one call orders, and how its reply is read."""

    @property
    def ask(self) -> Ask:
        """The call."""
        ...

    def read_items(self, answered: Answered, judge: str) -> list[Item | Rejection]:
        """An item or why there is none, for each order."""
        ...


@dataclass(slots=True)
class JudgeWriter:
    """Orders questions from a judge and has it answer them."""

    broker: AskBroker
    judge: str
    corpus: Corpus
    checker: ItemProver
    nearest: Nearest
    find: Callable[[str], Document]
    """The document of an id."""
    styles: Sequence[str] = ()
    """Styles to write in, one drawn for each question; empty: none is asked for."""
    # these six are described in generation.Writer
    per_document: int = PER_DOCUMENT
    group: int = GROUP
    window: int = 8
    rounds: int = 5
    patience: int = 2
    stopped: str = ""
    _unreachable: int = field(default=0, repr=False)
    """Calls in a row that did not reach the judge."""

    async def write_group(
        self,
        group: Sequence[tuple[int, list[str]]],
        rng: random.Random,
        turn: Awaitable[None],
        done: asyncio.Future[None],
    ) -> StepResult:
        """Order from each document, check what came when it is this group's turn, and have it answered."""
        made = StepResult()
        built = [self._build_order(self.corpus[position], kinds, rng) for position, kinds in group]
        sheets = [sheet for sheet in built if sheet is not None]
        made.rejected += [
            Rejection("empty", {"kind": kind}, "the document has nothing to ask about")
            for sheet, (_, kinds) in zip(built, group, strict=True)
            for kind in kinds
            if sheet is None
        ]
        replies = await self.broker.answer([sheet.ask for sheet in sheets])
        # replies come in any order; from here on groups go one by one, so that the same replies
        # give the same set
        await turn
        let_through = [
            item
            for sheet, answered in zip(sheets, replies, strict=True)
            for item in self._check_reply(sheet, answered, made)
        ]
        if not done.done():
            done.set_result(None)
        if let_through and self.stopped:
            made.cut = True
        elif let_through:
            await self._verify_items(let_through, made)
        return made

    def _check_reply(self, sheet: OrderSheet, answered: Answered, made: StepResult) -> list[Item]:
        """The items of a reply that the checker lets through; what it refuses is noted in `made`."""
        made.usage = made.usage + (answered.usage or NO_USAGE)
        self._note_failure(answered, made)
        let_through: list[Item] = []
        for candidate in sheet.read_items(answered, self.judge):
            checked = (
                candidate
                if isinstance(candidate, Rejection)
                else self.checker.check_item(candidate)
            )
            if isinstance(checked, Rejection):
                made.rejected.append(checked)
            else:
                let_through.append(checked)
        return let_through

    def _build_order(
        self, document: Document, kinds: Sequence[str], rng: random.Random
    ) -> OrderSheet | None:
        main_part = choose_part(document, rng)
        shown = [main_part]
        if RELATED.intersection(kinds):
            for name, text in self.nearest(
                main_part.text[:1000], NEIGHBOURS, frozenset({document.id})
            ):
                at = self.find(name).text.find(text)
                if at >= 0:
                    shown.append(DocumentPart(name, text, at))
        name = self._show_bridge(main_part, shown) if THROUGH_A_NAME.intersection(kinds) else ""
        styles = [rng.choice(self.styles) if self.styles else "" for _ in kinds]
        orders = tuple(
            Order(kind, style, name if kind in THROUGH_A_NAME else "")
            for kind, style in zip(kinds, styles, strict=True)
        )
        language = language_of(document.text, document.language)
        return WriteOrder(tuple(shown), orders, language)

    def _show_bridge(self, main_part: DocumentPart, shown: list[DocumentPart]) -> str:
        """Add a passage of another document that names something of this one; returns the name, empty when none does."""
        bridge = find_shared_name(main_part.text, main_part.document, self.nearest)
        if bridge is None:
            return ""
        name, document, text = bridge
        at = self.find(document).text.find(text)
        if at >= 0 and all(part.document != document for part in shown):
            shown.append(DocumentPart(document, text, at))
        return name

    async def _verify_items(self, items: Sequence[Item], made: StepResult) -> None:
        """One call for all: each question with its evidence, and with what comes nearest elsewhere."""
        problems: list[Problem] = []
        elsewhere: list[list[tuple[str, str]]] = []
        for item in items:
            asked = "\n".join([*item.history, item.question])
            near = list(self.nearest(asked, NEIGHBOURS, frozenset(item.relevant)))
            elsewhere.append(near)
            evidence_chunks = [
                Chunk(evidence.document, self._cut_evidence(evidence)) for evidence in item.evidence
            ]
            others = [Chunk(name, text) for name, text in near]
            if item.answerable:
                # two problems for each: with the evidence it must be answered, with what is nearest
                # elsewhere it must not
                problems.append(Problem((asked,), tuple(evidence_chunks)))
            problems.append(
                Problem((asked,), tuple([] if item.answerable else evidence_chunks) + tuple(others))
            )
            if item.kind in PROVED_APART:
                problems += [Problem((asked,), (chunk,)) for chunk in evidence_chunks]
        languages = {item.language for item in items}
        ask = solve(*problems, language=languages.pop() if len(languages) == 1 else None)
        (answered,) = await self.broker.answer([ask])
        made.usage = made.usage + (answered.usage or NO_USAGE)
        self._note_failure(answered, made)
        if not isinstance(answered, Reply):
            made.judged += [Rejection("judge_failed", item, answered.reason) for item in items]
            return
        rows = iter(answered.value["answers"])
        for item, near in zip(items, elsewhere, strict=True):
            verdict = self._decide_item(item, rows, near)
            if isinstance(verdict, Rejection):
                made.judged.append(verdict)
            else:
                made.items.append(verdict)

    def _cut_evidence(self, evidence: Evidence) -> str:
        text = self.find(evidence.document).text
        return text[
            max(0, evidence.start - EVIDENCE_MARGIN_CHARS) : evidence.end + EVIDENCE_MARGIN_CHARS
        ]

    def _decide_item(
        self, item: Item, rows: Iterator[Mapping[str, Any]], near: Sequence[tuple[str, str]]
    ) -> Item | Rejection:
        """Decide by the judge's answers; takes as many of `rows` as _verify_items posed problems for the item."""
        proof = {**item.proof, "answered_by": self.judge}
        if not item.answerable:
            row = next(rows)
            if row["told"]:
                return Rejection("answered_by_corpus", item, f"the judge answers {row['answer']!r}")
            return replace(item, proof={**proof, "searched": [name for name, _ in near]})
        from_evidence, from_elsewhere = next(rows), next(rows)
        alone = [next(rows) for _ in item.evidence] if item.kind in PROVED_APART else []
        if fault := _find_answer_fault(item, from_evidence, alone):
            return Rejection("not_answerable_from_evidence", item, fault)
        if alone:
            proof["apart"] = [row["answer"] for row in alone]
        proof["answer"] = from_evidence["answer"]
        # an answer without a verbatim quote does not count
        quote = from_elsewhere["quote"] if from_elsewhere["told"] else ""
        home = next((name for name, text in near if quote and find_quote(quote, text)), None)
        if home is None:
            return replace(item, proof=proof)
        if not agrees_with_reference(from_elsewhere, item):
            return Rejection("ambiguous", item, f"{home} answers {from_elsewhere['answer']!r}")
        # another document tells the same: whoever finds that one is right too
        return replace(item, proof=proof, relevant={**item.relevant, home: 1.0})

    def _note_failure(self, answered: Answered, made: StepResult) -> None:
        if isinstance(answered, OutOfBudget):
            made.cut, self.stopped = True, answered.reason
        elif isinstance(answered, JudgeFailed) and answered.kind == "transport":
            made.cut = True
            self._unreachable += 1
            if self._unreachable >= 3:
                self.stopped = f"the judge cannot be reached: {answered.reason}"
        elif isinstance(answered, Reply):
            self._unreachable = 0


@dataclass(frozen=True, slots=True)
class WriteOrder:
    """Questions of several kinds ordered about a document and passages of others."""

    shown: tuple[DocumentPart, ...]
    orders: tuple[Order, ...]
    language: str

    @property
    def ask(self) -> Ask:
        """The call."""
        sources = [Chunk(part.document, part.text) for part in self.shown]
        return write(sources, self.orders, language=self.language)

    def read_items(self, answered: Answered, judge: str) -> list[Item | Rejection]:
        """One item or rejection for each order, and a rejection for whatever else was written."""
        if not isinstance(answered, Reply):
            return [
                Rejection("judge_failed", {"kind": order.kind}, answered.reason)
                for order in self.orders
            ]
        rows: dict[str, Any] = {}
        results: list[Item | Rejection] = []
        for row in answered.value["items"]:
            number = row["id"].removeprefix("q")
            known = number.isdigit() and 0 < int(number) <= len(self.orders)
            if not known or row["id"] in rows:
                why = "was written twice" if known else "was not ordered"
                results.append(Rejection("malformed", dict(row), f"{row['id']!r} {why}"))
            else:
                rows[row["id"]] = row
        if len(self.orders) == 1 and not rows and answered.value["items"]:
            # one order needs no number: a small model seldom copies it
            results.pop(0)  # the rejection of that item as not ordered
            rows["q1"] = answered.value["items"][0]
        for number, order in enumerate(self.orders, 1):
            row = rows.get(f"q{number}")
            if row is None:
                missing = {"kind": order.kind}
                results.append(
                    Rejection("empty", missing, "the judge wrote nothing for this order")
                )
            else:
                results.append(self._read_item(row, order, judge))
        return results

    def _read_item(self, row: Mapping[str, Any], order: Order, judge: str) -> Item | Rejection:
        question = " ".join(row["question"].split())
        answer = " ".join(row["answer"].split())
        answerable = order.kind not in UNANSWERABLE
        described = {"kind": order.kind, **row}
        if not question or (answerable and not answer):
            return Rejection("empty", described, f"no {'answer' if question else 'question'}")
        history = _read_history(row) if order.kind == "follow_up" else ()
        if not all(history):
            return Rejection("malformed", described, "a follow-up without its first turn")
        evidence: list[Evidence] = []
        for piece in row["evidence"]:
            evidence_piece = self._locate_quote(piece)
            if evidence_piece is None:
                detail = f"{piece['quote']!r} does not stand in {piece['source']!r}"
                return Rejection("quote_not_verbatim", described, detail)
            evidence.append(evidence_piece)
        form_fault = _find_form_fault(order.kind, question, answer, self.language)
        if fault := _find_evidence_fault(order.kind, evidence) or form_fault:
            return Rejection("malformed", described, fault)
        return Item(
            id=make_item_id(question, tuple(evidence), history),
            question=question,
            reference=answer if answerable else None,
            relevant={piece.document: 1.0 for piece in evidence} if answerable else {},
            evidence=tuple(evidence),
            kind=order.kind,
            difficulty=row["difficulty"],
            language=detect_language(question, None)
            if order.kind == "cross_language"
            else self.language,
            how=judge,
            style=order.style,
            history=history,
        )

    def _locate_quote(self, piece: Mapping[str, str]) -> Evidence | None:
        """Where a quote stands; a right quote under the wrong number still counts."""
        number = piece["source"].removeprefix("k")
        named = int(number) - 1 if number.isdigit() else -1
        # the source that the judge names first, then the others
        order = sorted(enumerate(self.shown), key=lambda entry: entry[0] != named)
        for _, part in order:
            found = find_quote(piece["quote"], part.text)
            if found is not None:
                start, end = found
                return Evidence(
                    part.document, part.text[start:end], part.start + start, part.start + end
                )
        return None


def _read_history(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The first turn of a follow-up: question and answer; either is empty when the judge left it out."""
    return tuple(" ".join(row[f"earlier_{name}"].split()) for name in ("question", "answer"))


def _find_answer_fault(
    item: Item, from_evidence: Mapping[str, Any], alone: Sequence[Mapping[str, Any]]
) -> str:
    """Why the judge's answers from the evidence, and from each document alone, do not prove the item."""
    if not from_evidence["told"]:
        return "the judge finds no answer"
    if not agrees_with_reference(from_evidence, item):
        return f"the judge answers {from_evidence['answer']!r}"
    return _check_apart(item, alone) if alone else ""


def _check_apart(item: Item, alone: Sequence[Mapping[str, Any]]) -> str:
    """Why the answers from each document alone do not fit the kind: a bridge needs both, a conflict two answers."""
    if item.kind != "conflict":
        told = next((row for row in alone if row["told"]), None)
        return f"one document alone answers {told['answer']!r}" if told else ""
    if not all(row["told"] for row in alone):
        return "one of the documents does not answer it"
    answers = {" ".join(split_bare_words(row["answer"], item.language)) for row in alone}
    return "" if len(answers) > 1 else "the documents say the same"


def _find_evidence_fault(kind: str, evidence: Sequence[Evidence]) -> str:
    if kind not in UNANSWERABLE and not evidence:
        return "no evidence"
    is_single = len({piece.document for piece in evidence}) < 2
    return "the evidence is of one document only" if kind in JOINING and is_single else ""


def _find_form_fault(kind: str, question: str, answer: str, language: str) -> str:
    """Why a question or answer is not of the kind that was ordered."""
    if kind == "cross_language" and detect_language(question, None) == language:
        return "it is written in the language of its source"
    if kind == "numeric" and not find_quantities(answer, language):
        return "the answer has no amount"
    if kind == "temporal" and not find_quantities(f"{question} {answer}", language):
        return "neither question nor answer names a time"
    return ""


def choose_part(document: Document, rng: random.Random) -> DocumentPart:
    """The document, or a part of a long one that starts with a paragraph."""
    text = document.text
    if len(text) <= MAX_SHOWN_CHARS:
        return DocumentPart(document.id, text, 0)
    start = rng.randrange(len(text) - MAX_SHOWN_CHARS + 1)
    # from the start of a line, unless that lies too far back
    border = text.rfind("\n", 0, start) + 1  # 0 when there is no line break
    start = border if start - border < MAX_SHOWN_CHARS // 2 else start
    return DocumentPart(document.id, text[start : start + MAX_SHOWN_CHARS], start)


def agrees_with_reference(row: Mapping[str, Any], item: Item) -> bool:
    """Whether an answer (`answer`, `quote`) is the reference: it shares its words, or quotes the evidence."""
    given = set(split_bare_words(row["answer"], item.language))
    wanted = set(split_bare_words(item.reference or "", item.language))
    if given and wanted:
        shared = len(given & wanted)
        if 2 * shared / (len(given) + len(wanted)) >= 0.5 or shared == min(len(given), len(wanted)):
            return True
    return any(
        find_quote(row["quote"], evidence.quote) or find_quote(evidence.quote, row["quote"])
        for evidence in item.evidence
    )
