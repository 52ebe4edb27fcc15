"""Prompt specs: how each kind of Ask is put to a language model and how its replies are checked. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Callable

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.specs.claims import ClaimsSpec
from ragstone.judges.specs.conversation import GoalSpec, StandaloneSpec, TurnsSpec
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, PromptSpec
from ragstone.judges.specs.support import SupportSpec
from ragstone.judges.specs.testset import SolveSpec, WriteSpec
from ragstone.judges.specs.usefulness import UsefulSpec
from ragstone.judges.specs.whole import (
    AspectsSpec,
    PreferSpec,
    QuestionsSpec,
    RateSpec,
    TranslateSpec,
)

__all__ = ["ParsedReply", "PromptBatch", "PromptSpec", "build_spec", "find_prompt_name"]

_SPECS: dict[str, Callable[[Ask], PromptSpec]] = {
    "claims": ClaimsSpec,
    "support": SupportSpec,
    "useful": UsefulSpec,
    "aspects": AspectsSpec,
    "questions": QuestionsSpec,
    "rate": RateSpec,
    "standalone": StandaloneSpec,
    "turns": TurnsSpec,
    "goal": GoalSpec,
    "prefer": PreferSpec,
    "translate": TranslateSpec,
    "write": WriteSpec,
    "solve": SolveSpec,
}


def build_spec(ask: Ask) -> PromptSpec:
    """Build the prompt spec for an Ask; raises JudgeFailed for a kind that language models do not answer."""
    if ask.kind not in _SPECS:
        raise JudgeFailed("refusal", "kind_unknown_model", kind=ask.kind)
    return _SPECS[ask.kind](ask)


def find_prompt_name(ask: Ask) -> str:
    """Return the name of the prompt file for an Ask."""
    if ask.kind == "useful" and ask.values.get("wording") == 2:
        return "useful_2"
    return ask.kind
