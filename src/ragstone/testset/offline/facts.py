"""A fact: a question with the answer that one passage of a document gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A question that a document answers, before it becomes an item."""

    question: str
    reference: str
    kind: str
    """`factual`, `conceptual`, `how_to`, `detail` or `aggregation`."""
    pattern: str
    """What made it: heading, list, question, term, table, option, purpose_line, definition"""
    start: int
    end: int
    """Where its evidence stands in the document."""
    subject: str = ""
    """What the question is about, as the question names it."""
    key: str = ""
    """Of a record: its key, as the question names it (`--all`)."""
    owner: str = ""
    """Of a record: what it belongs to, as the question names it (`git-add`)."""
    group: str = ""
    """Of a record: records of one group answer the same question for other keys, so that they can be paired."""
    framed: bool = False
    """Whether the question names the owner or the tool of its document."""
    claim: str = ""
    """Of a sentence: its words before the answer; proofs.py refuses the item if another document goes on differently."""
