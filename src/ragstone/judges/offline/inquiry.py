"""The `questions` Ask: what an answer speaks of, put as questions, and whether it answers at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.judges.offline.reading import STOP, read
from ragstone.judges.offline.statements import asks, statements
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences


def answer_questions(values: Mapping[str, Any], language: str | None) -> Any:
    """As many questions as wanted, unless the answer is evasive."""
    answer, count = values["answer"], values["count"]
    parts = [answer[a:b] for a, b in split_sentences(answer, language)]
    if is_refusal(answer, language) or all(asks(part) for part in parts):
        return {"evasive": True, "questions": []}
    return {"evasive": False, "questions": _asked(answer, parts, count, language)}


def _asked(answer: str, parts: list[str], count: int, language: str | None) -> list[str]:
    """The sentences that say most, as questions; then the gist, until there are enough."""
    telling = [part for part in parts if statements(part)] or parts
    readings = [read(part, language) for part in telling]
    told = [float(r.weights[r.kinds != STOP].sum()) for r in readings]
    order = sorted(range(len(telling)), key=lambda n: (-told[n], n))[:count]
    asked = [f"{telling[n].rstrip(' .!')}?" for n in sorted(order)]
    whole = read(answer, language)
    places = zip(whole.places, whole.kinds.tolist(), strict=True)
    gist = " ".join(answer[a:b] for (a, b), kind in places if kind != STOP)[:300]
    opening = "¿Qué hay de" if whole.language == "es" else "What about"
    spare = [f"{gist or answer.strip()[:300]}?", f"{opening} {gist or answer.strip()[:300]}?"]
    while len(asked) < count:
        asked.append(spare[len(asked) % 2])
    return asked
