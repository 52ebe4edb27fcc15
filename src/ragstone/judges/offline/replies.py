"""Every kind of Ask to its reply: the value, the languages that were read, and whether rules alone decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.judges.offline.coverage import answer_aspects
from ragstone.judges.offline.inquiry import answer_questions
from ragstone.judges.offline.reading import guess_language
from ragstone.judges.offline.rubrics import answer_rate
from ragstone.judges.offline.statements import Statement, items, statements
from ragstone.judges.offline.usefulness import answer_useful
from ragstone.judges.offline.verdicts import answer_support
from ragstone.text.refusals import declines

Found = tuple[Any, list[str], bool]


def reply_to(kind: str, values: Mapping[str, Any], language: str | None) -> Found | None:
    """The reply to an Ask of this kind, None for a kind that is not known."""
    answerer = _KINDS.get(kind)
    return answerer(values, language) if answerer else None


def _claims(values: Mapping[str, Any], language: str | None) -> Found:
    rows = []
    for text in values["texts"]:
        found = [
            (n, one) for n, sentence in enumerate(text["sentences"]) for one in statements(sentence)
        ]
        if len(found) == len(text["sentences"]) == 1:
            found = [(0, one) for one in items(text["sentences"][0])] or found
        # a text of questions or headings alone still has to be judged; a refusal claims nothing
        if not found and not all(declines(sentence) for sentence in text["sentences"]):
            found = [(n, Statement(s, ((0, len(s)),))) for n, s in enumerate(text["sentences"])]
        rows += [{"text_id": text["id"], "sentence": n, "claim": one.text} for n, one in found]
    return {"claims": rows}, [_language(t["text"], language) for t in values["texts"]], False


def _support(values: Mapping[str, Any], language: str | None) -> Found:
    value, read = answer_support(values, language)
    return value, [claim.language for claim in read], False


def _useful(values: Mapping[str, Any], language: str | None) -> Found:
    return answer_useful(values, language), [_language(values["question"], language)], False


def _aspects(values: Mapping[str, Any], language: str | None) -> Found:
    return answer_aspects(values, language), [_language(values["question"], language)], True


def _questions(values: Mapping[str, Any], language: str | None) -> Found:
    return answer_questions(values, language), [_language(values["answer"], language)], False


def _rate(values: Mapping[str, Any], language: str | None) -> Found:
    texts = " ".join(values["texts"].values())
    return answer_rate(values, language), [_language(texts, language)], True


def _language(text: str, given: str | None) -> str:
    return (given or guess_language(text)).split("-")[0]


_KINDS: dict[str, Callable[[Mapping[str, Any], str | None], Found]] = {
    "claims": _claims,
    "support": _support,
    "useful": _useful,
    "aspects": _aspects,
    "questions": _questions,
    "rate": _rate,
}
