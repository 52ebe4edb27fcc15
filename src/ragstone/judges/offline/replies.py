"""Which function of the embedded judge answers which kind of Ask; the claims of a text are put together here. Versioned by VERSION in judges/offline and PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragstone.judges.offline.coverage import answer_aspects
from ragstone.judges.offline.dialogue import answer_goal, answer_turns
from ragstone.judges.offline.inquiry import answer_questions
from ragstone.judges.offline.rubrics import answer_rate
from ragstone.judges.offline.standalone import answer_standalone
from ragstone.judges.offline.statements import Statement, items, statements, to_plain_text
from ragstone.judges.offline.usefulness import answer_useful
from ragstone.judges.offline.verdicts import answer_support
from ragstone.text.answers import to_statement
from ragstone.text.clauses import has_clause
from ragstone.text.language import detect_language
from ragstone.text.refusals import declines

HEURISTIC_KINDS = frozenset(["aspects", "rate"])
"""Kinds that stated rules alone decide."""


def reply_to(kind: str, values: Mapping[str, Any], language: str | None) -> Any:
    """The reply to an Ask of this kind, None for a kind that is not known."""
    answerer = _KINDS.get(kind)
    return answerer(values, language) if answerer else None


def _claims(values: Mapping[str, Any], language: str | None) -> Any:
    rows: list[dict[str, Any]] = []
    for text in values["texts"]:
        if "question" in text:
            rows += _list_answers(text, language)
            continue
        found = list(_list_statements(text, language))
        if len(found) == len(text["sentences"]) == 1:
            found = [(0, one) for one in items(text["sentences"][0], language)] or found
        # a text of questions or headings alone still has to be judged; a refusal claims nothing
        if not found and not all(declines(sentence) for sentence in text["sentences"]):
            found = [(n, Statement(s, ((0, len(s)),))) for n, s in enumerate(text["sentences"])]
        rows += [{"text_id": text["id"], "sentence": n, "claim": one.text} for n, one in found]
    return {"claims": rows}


def _list_answers(text: Mapping[str, Any], language: str | None) -> Iterator[dict[str, Any]]:
    """The claim that a bare answer makes with its question; one for each item of a list."""
    listed = [statement.text for statement in items(text["text"], language)]
    for answer in listed or [to_plain_text(text["text"])]:
        claim = to_statement(text["question"], answer, language)
        yield {"text_id": text["id"], "sentence": 0, "claim": claim}


def _list_statements(
    text: Mapping[str, Any], language: str | None
) -> Iterator[tuple[int, Statement]]:
    """Every claim of a text with the index of its sentence, or of the part of one that a citation closes."""
    text_language = detect_language(text["text"], language)
    before = ""
    for number, sentence in enumerate(text["sentences"]):
        if number == 0 and "asked" in text:
            whole = to_statement(text["asked"], to_plain_text(sentence), language)
            yield 0, Statement(whole, ((0, len(sentence)),))
            continue
        following = text["sentences"][number + 1 : number + 2]
        is_heading = "|" in sentence and following and _TABLE_RULE.fullmatch(following[0])
        if is_heading and not has_clause(sentence, text_language):
            continue  # the names of a table's columns; what states something is judged wherever it stands
        for statement in statements(sentence, text_language, before):
            yield number, statement
        # a sentence ends with its mark; what ends with a citation alone goes on
        before = sentence if sentence.endswith("]") and not _CLOSED.search(sentence) else ""


_TABLE_RULE = re.compile(r"\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?")
"""The line of a Markdown table under its heading."""
_CLOSED = re.compile(r"[.!?]\s*(?:\[[^\[\]]*\]\s*)+$")


def _support(values: Mapping[str, Any], language: str | None) -> Any:
    return answer_support(values, language)[0]


_KINDS: dict[str, Callable[[Mapping[str, Any], str | None], Any]] = {
    "claims": _claims,
    "support": _support,
    "useful": answer_useful,
    "aspects": answer_aspects,
    "questions": answer_questions,
    "rate": answer_rate,
    "standalone": answer_standalone,
    "turns": answer_turns,
    "goal": answer_goal,
}
