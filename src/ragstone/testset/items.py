"""What a test set is made of: items with their evidence and proof, and those that were refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ragstone.errors import DataError
from ragstone.text.language import ABSTENTIONS, LANGUAGES
from ragstone.types import EMPTY, NO_USAGE, Usage

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)

MEANINGS: dict[str, str] = {
    "factual": "one fact: a number, a date, a name, a place, a yes or no",
    "how_to": "how something is done",
    "why": "why something is so, or what it is for",
    "comparison": "compares two things that two documents tell of",
    "bridge": "needs two documents that name the same thing: one leads to it, the other tells the rest",
    "follow_up": "a second turn that needs the first one to be understood",
    "cross_language": "asked in another language than its document is written in",
    "unanswerable": "plausible, near the subject, and no document tells; the right answer is to say so",
    "typos": "written in a hurry, with slips of the keyboard",
    "false_premise": "takes for granted something that the document contradicts",
    "hidden_instruction": "a document nearby holds an instruction that a system must not obey",
    "asked": "asked by people, from a log; its answer is to be labelled",
}
"""Each kind of question, and what it means; the order is that of tables. Sets of older versions have other kinds
too."""
KINDS: tuple[str, ...] = tuple(MEANINGS)
JOINING: frozenset[str] = frozenset({"bridge", "comparison", "multi_document", "conflict"})
"""Kinds that need evidence of two documents or more."""
UNANSWERABLE: frozenset[str] = frozenset({"unanswerable", "out_of_scope", "near_miss"})
"""Kinds whose right answer is that the corpus does not tell."""
UNLABELLED = "asked"
"""The kind of a question that nobody has answered yet."""

Reason = Literal[
    "judge_failed",
    "empty",
    "no_answer",
    "malformed",
    "quote_not_verbatim",
    "leaked",
    "copied",
    "not_self_contained",
    "duplicate",
    "not_answerable_from_evidence",
    "answerable_without_evidence",
    "answered_by_corpus",
    "ambiguous",
    "contradictory",
]
"""Why an item was refused, in the order of the checks; summary_text.py has a sentence for each."""
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The text that answers a question, and where it stands: `text[start:end] == quote`."""

    document: str
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a test set with everything that is known of it."""

    id: str
    """A short digest of the question and its evidence: the same item has the same id in every run."""
    question: str
    reference: str | None
    """The wanted answer; None when the corpus does not tell, or when nobody has labelled it yet."""
    relevant: Mapping[str, float]
    """Document id → grade, 0 for a distractor; empty when the corpus does not tell."""
    evidence: tuple[Evidence, ...]
    kind: str
    difficulty: Difficulty
    language: str
    how: str
    """What made it: `document:heading`, `log`, `openai:MODEL`."""
    style: str = ""
    """The persona or style it is written in."""
    history: tuple[str, ...] = ()
    """Earlier turns of a conversation, oldest first: question, answer, question …"""
    proof: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """What was checked and how it came out, and how the item was made."""
    asked: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """Of a question from a log: how often it was asked, its topic, its wordings and the documents that may answer
    it."""

    @property
    def answerable(self) -> bool:
        """Whether the corpus tells."""
        return self.kind not in UNANSWERABLE

    @property
    def answer(self) -> str | None:
        """The reference as a system is measured by it: an abstention where the corpus does not tell, None where
        nobody knows yet."""
        is_open = self.kind == UNLABELLED or self.reference is not None
        return self.reference if is_open else get_abstention(self.language)

    def to_row(self) -> dict[str, Any]:
        """The item as a row in ragstone's format, which `ragstone eval` reads as it is; `from_row` undoes an
        abstention by the kind."""
        meta: dict[str, Any] = {
            "kind": self.kind,
            "difficulty": self.difficulty,
            "how": self.how,
            "evidence": [
                {
                    "document": evidence.document,
                    "quote": evidence.quote,
                    "start": evidence.start,
                    "end": evidence.end,
                }
                for evidence in self.evidence
            ],
            "proof": dict(self.proof),
        }
        if self.style:
            meta["style"] = self.style
        if self.history:
            meta["history"] = list(self.history)
        if self.asked:
            meta["asked"] = dict(self.asked)
        group = self.evidence[0].document if self.evidence else next(iter(self.relevant), None)
        return {
            "id": self.id,
            "question": self.question,
            **({} if self.answer is None else {"reference": self.answer}),
            **({"relevant": dict(self.relevant)} if self.relevant else {}),
            "language": self.language,
            **({"group": group} if group is not None else {}),
            "meta": meta,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Item:
        """The item of such a row; a row that lacks something names what."""
        try:
            meta = row["meta"]
            kind = str(meta["kind"])
            is_open = kind in UNANSWERABLE or (kind == UNLABELLED and row.get("reference") is None)
            return cls(
                id=str(row["id"]),
                question=str(row["question"]),
                reference=None if is_open else str(row["reference"]),
                relevant={str(key): float(grade) for key, grade in row.get("relevant", {}).items()},
                evidence=tuple(
                    Evidence(piece["document"], piece["quote"], piece["start"], piece["end"])
                    for piece in meta.get("evidence", ())
                ),
                kind=kind,
                difficulty=_one_of(meta["difficulty"], DIFFICULTIES, "difficulty"),  # type: ignore[arg-type]
                language=str(row["language"]),
                how=str(meta["how"]),
                style=str(meta.get("style", "")),
                history=tuple(meta.get("history", ())),
                proof=dict(meta.get("proof", {})),
                asked=dict(meta.get("asked", {})),
            )
        except (KeyError, TypeError, AttributeError) as lacking:
            raise DataError(
                f"the row {str(row.get('id', '?'))!r} is not an item of a generated test set "
                f"({lacking} is missing or of another type); write it with `ragstone generate`"
            ) from None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate that was refused, and why."""

    reason: Reason
    item: Item | Mapping[str, Any]
    """The item, or what there was of it when it did not get that far."""
    detail: str = ""

    def to_row(self) -> dict[str, Any]:
        """The rejection as one JSON object."""
        item = self.item.to_row() if isinstance(self.item, Item) else dict(self.item)
        return {"reason": self.reason, "detail": self.detail, "item": item}


def make_item_id(
    question: str, evidence: tuple[Evidence, ...], history: tuple[str, ...] = ()
) -> str:
    """Twelve hexadecimal digits of what makes an item that item."""
    # nothing of how it was made: ids stay when a pattern is renamed, and runs on them stay
    # comparable
    parts = [question, *history]
    parts += [f"{piece.document}\0{piece.start}\0{piece.end}" for piece in evidence]
    return hashlib.sha256("\x01".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def get_abstention(language: str) -> str:
    """What a system should say when the corpus does not tell."""
    primary = language.lower()[:2]  # without region
    # ABSTENTIONS is in the order of LANGUAGES
    return ABSTENTIONS[LANGUAGES.index(primary) if primary in LANGUAGES else 0]


def _one_of(value: Any, allowed: tuple[str, ...], name: str) -> str:
    if value not in allowed:
        raise DataError(f"the {name} {value!r} is none of {', '.join(allowed)}")
    return str(value)


@dataclass(slots=True)
class Outcome:
    """What one way of finding questions gave."""

    items: list[Item] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    visited: int = 0
    """Documents that items were looked for in."""
    there: int = 0
    """Questions that the documents ask or the log holds, before anything is chosen or refused."""
    proposed: int = 0
    """Candidates that a judge wrote."""
    given_up: dict[str, int] = field(default_factory=dict)
    """Kinds that the documents or the judge do not yield → times tried in vain."""
    usage: Usage = NO_USAGE
    stopped: str = ""
    """Why it ended early (budget spent, judge not reached); empty when it did not."""
    notes: list[str] = field(default_factory=list)
    """What else a reader of the account should know."""
