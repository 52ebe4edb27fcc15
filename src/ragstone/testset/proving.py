"""Whether a written item holds: answered anew from its evidence, from elsewhere, from each document alone and from
nothing.

A judge other than the writer may prove. A small model says yes or no of one passage at a time; any other one
answers, and
code compares what it says. What a judge cannot prove is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.asks import Problem, check_passage, solve, write
from ragstone.data.documents import Document
from ragstone.testset.asking import Line
from ragstone.testset.entities import NearestPassages
from ragstone.testset.items import JOINING, UNANSWERABLE, Evidence, Item, Rejection
from ragstone.testset.likeness import agrees
from ragstone.text.answers import says_yes
from ragstone.text.evidence import find_quote
from ragstone.types import Chunk

EVIDENCE_MARGIN_CHARS = 400
"""Characters on each side of a quote that count as its evidence: a quote alone may lack what its words refer to."""
NEIGHBOURS = 2
"""Passages of other documents that must not answer."""
SEARCHED = 4
"""Passages that are read for a question which nothing should answer."""
MIN_YES = 0.5
"""Probability from which a small model says yes."""

Row = dict[str, Any]


@dataclass(slots=True)
class Prover:
    """Has a judge answer what was written, without seeing the answer."""

    line: Line
    nearest: NearestPassages
    find: Callable[[str], Document]

    async def prove_item(self, item: Item) -> Item | Rejection:
        """The item with its proof, or why it is refused; raises what `Line.ask` raises."""
        plain = str(item.proof.get("plain", item.question))
        question = "\n".join([*item.history, plain])
        evidence = [Chunk(piece.document, self._cut_evidence(piece)) for piece in item.evidence]
        if item.kind in UNANSWERABLE:
            return await self._prove_unanswerable(item, question)
        near = [
            Chunk(name, text)
            for name, text in self.nearest(question, NEIGHBOURS, frozenset(item.relevant))
        ]
        prove = self._decide if self.line.small else self._solve
        checked = await prove(item, question, evidence, near)
        if isinstance(checked, Rejection):
            return checked
        # others who tell the same are right too
        relevant = {**item.relevant, **dict.fromkeys(checked.pop("also", ()), 1.0)}
        proof = {**item.proof, "answered_by": self.line.name, **checked}
        return replace(item, proof=proof, relevant=relevant)

    async def _solve(
        self, item: Item, question: str, evidence: Sequence[Chunk], near: Sequence[Chunk]
    ) -> Row | Rejection:
        """By answers to the question: from the evidence, from elsewhere, from each document alone, and a guess."""
        alone = evidence if item.kind in JOINING else ()
        problems = [Problem((question,), tuple(evidence)), Problem((question,), tuple(near))]
        problems += [Problem((question,), (chunk,)) for chunk in alone]
        rows = (await self.line.ask(solve(*problems, language=item.language))).value["answers"]
        told, elsewhere = rows[0], rows[1]
        if not told["told"]:
            return Rejection("not_answerable_from_evidence", item, "the judge finds no answer")
        if not agrees(told["answer"], item.reference or "", item.language):
            return Rejection(
                "not_answerable_from_evidence", item, f"the judge answers {told['answer']!r}"
            )
        if single := next((row for row in rows[2:] if row["told"]), None):
            return Rejection(
                "answerable_without_evidence",
                item,
                f"one document alone answers {single['answer']!r}",
            )
        proof: Row = {"answer": told["answer"]}
        # an answer without a verbatim quote does not count
        quote = elsewhere["quote"] if elsewhere["told"] else ""
        home = next((one.id for one in near if quote and find_quote(quote, one.text)), None)
        if home is not None:
            if not agrees(elsewhere["answer"], item.reference or "", item.language):
                return Rejection("ambiguous", item, f"{home} answers {elsewhere['answer']!r}")
            proof["also"] = [home]
        if says_yes(item.reference or "") is None:
            guess = write("guess", question=question, language=item.language)
            text = str((await self.line.ask(guess)).value["text"])
            if text and agrees(text, item.reference or "", item.language):
                return Rejection("answerable_without_evidence", item, f"the judge guesses {text!r}")
        return proof

    async def _decide(
        self, item: Item, question: str, evidence: Sequence[Chunk], near: Sequence[Chunk]
    ) -> Row | Rejection:
        """By a yes or no of one passage at a time."""
        joined = "\n\n".join(chunk.text for chunk in evidence)
        if not await self._answers(joined, question, item.language):
            return Rejection(
                "not_answerable_from_evidence",
                item,
                "the judge says that the evidence does not answer it",
            )
        for chunk in evidence if item.kind in JOINING else ():
            if await self._answers(chunk.text, question, item.language):
                return Rejection(
                    "answerable_without_evidence", item, f"{chunk.id} alone answers it"
                )
        also: list[str] = []
        for chunk in near:
            if not await self._answers(chunk.text, question, item.language):
                continue
            if find_quote(item.reference or "", chunk.text) is None:
                return Rejection("ambiguous", item, f"{chunk.id} answers it too")
            also.append(chunk.id)
        return {"also": also}

    async def _prove_unanswerable(self, item: Item, question: str) -> Item | Rejection:
        """Read the nearest passages, those of its own document among them."""
        own = str(item.proof.get("from", ""))
        near = [Chunk(name, text) for name, text in self.nearest(question, SEARCHED, frozenset())]
        if own and all(chunk.id != own for chunk in near):
            text = self.find(own).text
            near.append(Chunk(own, text[: 2 * EVIDENCE_MARGIN_CHARS]))
        proof = {**item.proof, "answered_by": self.line.name, "searched": [one.id for one in near]}
        if self.line.small:
            for chunk in near:
                if await self._answers(chunk.text, question, item.language):
                    return Rejection("answered_by_corpus", item, f"{chunk.id} answers it")
            return replace(item, proof=proof)
        asked = solve(Problem((question,), tuple(near)), language=item.language)
        (row,) = (await self.line.ask(asked)).value["answers"]
        if row["told"]:
            return Rejection("answered_by_corpus", item, f"the judge answers {row['answer']!r}")
        return replace(item, proof=proof)

    async def _answers(self, passage: str, question: str, language: str) -> bool:
        reply = await self.line.ask(check_passage(passage, question, language=language))
        return float(reply.value.get("probability", reply.value["yes"])) >= MIN_YES

    def _cut_evidence(self, evidence: Evidence) -> str:
        text = self.find(evidence.document).text
        return text[
            max(0, evidence.start - EVIDENCE_MARGIN_CHARS) : evidence.end + EVIDENCE_MARGIN_CHARS
        ]
