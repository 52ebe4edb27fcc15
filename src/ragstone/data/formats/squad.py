"""SQuAD: rows of a question, and paragraphs with their questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.data.row_format import Grouping, LocatedRows, build_format


def _group_squad(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """The questions of each paragraph; one that the paragraph does not answer has no reference."""
    for _, row in rows:
        for paragraph in row["paragraphs"]:
            for item in paragraph.get("qas") or ():
                answers = [answer["text"] for answer in item.get("answers") or ()]
                yield {
                    "id": item.get("id"),
                    "question": item.get("question"),
                    "contexts": [paragraph["context"]],
                    "reference": answers[0] if answers else None,
                    "group": row.get("title"),
                    "meta": {"answerable": not item.get("is_impossible", not answers)},
                }


FORMATS = (
    build_format(
        "squad",
        "SQuAD rows (question, context, answers)",
        ("question answers", "question context answers"),
        allows_single_context=True,
        id="id",
        question="question",
        contexts="context contexts",
        reference="answers.text answers answers.aliases answers.value",
        group="title",
    ),
)

GROUPINGS = (Grouping("SQuAD", lambda row: isinstance(row.get("paragraphs"), list), _group_squad),)
