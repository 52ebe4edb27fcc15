"""What a test set is made of: items with their evidence and proof, and those that were refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ragstone.errors import DataError
from ragstone.text.language import ABSTENTIONS, LANGUAGES
from ragstone.types import EMPTY

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)

MEANINGS: dict[str, str] = {
    "factual": "one fact that a sentence states: a number, a date, a name, a place",
    "conceptual": "what something is, what it is for, why or how it happens",
    "how_to": "how something is done",
    "detail": "a fact in a subordinate part of a sentence, a list or a condition",
    "numeric": "an amount with its unit",
    "temporal": "what holds at a time, or before or after it",
    "aggregation": "counts or lists what several places of a document tell",
    "multi_document": "needs two or more documents, all of them named in `relevant`",
    "bridge": "needs two documents that name the same thing: one leads to it, the other tells the rest",
    "comparison": "compares two things that two documents tell of",
    "conflict": "two documents contradict each other; the answer names what each says",
    "cross_language": "asked in another language than its document is written in",
    "out_of_scope": "no document of the corpus speaks of it; the right answer is to say so",
    "near_miss": "almost answered: one fact of a true question is swapped, and no document tells",
    "distractor": "another document says almost the same of a similar thing",
    "negation": "asks what is not so, not allowed or left out",
    "false_premise": "takes for granted something that the document contradicts",
    "paraphrase": "shares no content word with the evidence but names",
    "typos": "written in a hurry, with slips of the keyboard",
    "informal": "as people write in a chat: no capitals, filler words",
    "two_in_one": "two questions in one; the reference answers both",
    "hidden_instruction": "a document nearby holds an instruction that a system must not obey",
    "follow_up": "a second turn that needs the first one to be understood",
}
"""Each kind of question, and what it means; the order is that of tables, and breaks ties in quotas.py."""
KINDS: tuple[str, ...] = tuple(MEANINGS)
JOINING: frozenset[str] = frozenset({"multi_document", "bridge", "comparison", "conflict"})
"""Kinds that need evidence of two documents or more."""
UNANSWERABLE: frozenset[str] = frozenset({"out_of_scope", "near_miss"})
"""Kinds whose right answer is that the corpus does not tell."""

Reason = Literal[
    "judge_failed",
    "empty",
    "malformed",
    "quote_not_verbatim",
    "leaked",
    "not_self_contained",
    "duplicate",
    "not_answerable_from_evidence",
    "answerable_without_evidence",
    "answered_by_corpus",
    "ambiguous",
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
    """The wanted answer; None when the corpus does not tell."""
    relevant: Mapping[str, float]
    """Document id → grade, 0 for a distractor; empty when the corpus does not tell."""
    evidence: tuple[Evidence, ...]
    kind: str
    difficulty: Difficulty
    language: str
    how: str
    """What made it: `template:definition`, `record:option`, `openai:MODEL`."""
    style: str = ""
    """The persona or style it is written in."""
    history: tuple[str, ...] = ()
    """Earlier turns of a conversation, oldest first: question, answer, question …"""
    proof: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """What was checked and how it came out, and how the item was made; proofs.py lists the keys that are read."""

    @property
    def answerable(self) -> bool:
        """Whether the corpus tells."""
        return self.kind not in UNANSWERABLE

    def to_row(self) -> dict[str, Any]:
        """The item as a row in ragstone's format, which `ragstone eval` reads as it is.

        Without a reference it has an abstention as its reference; `from_row` undoes that by the kind."""
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
        group = self.evidence[0].document if self.evidence else next(iter(self.relevant), None)
        return {
            "id": self.id,
            "question": self.question,
            "reference": get_abstention(self.language)
            if self.reference is None
            else self.reference,
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
            kind = _one_of(meta["kind"], KINDS, "kind")
            return cls(
                id=str(row["id"]),
                question=str(row["question"]),
                reference=None if kind in UNANSWERABLE else str(row["reference"]),
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
