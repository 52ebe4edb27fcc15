"""Which function of the embedded judge answers which kind of Ask. Versioned by VERSION in
judges/offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.judges.offline.coherence import answer_rate
from ragstone.judges.offline.conversation import answer_goal, answer_turns
from ragstone.judges.offline.relevance import answer_aspects, answer_questions
from ragstone.judges.offline.standalone import answer_standalone
from ragstone.judges.offline.support import answer_support
from ragstone.judges.offline.useful import answer_useful
from ragstone.text.claims import answer_claims

HEURISTIC_KINDS = frozenset(["aspects", "rate"])
"""Kinds that stated rules alone decide."""
KINDS: Mapping[str, Callable[[Mapping[str, Any], str | None], Any]] = {
    "claims": answer_claims,
    "support": answer_support,
    "useful": answer_useful,
    "aspects": answer_aspects,
    "questions": answer_questions,
    "rate": answer_rate,
    "standalone": answer_standalone,
    "turns": answer_turns,
    "goal": answer_goal,
}
