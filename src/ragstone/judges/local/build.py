"""Builds models that run in this process from the settings of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.judges.choices import ChoiceModel
from ragstone.judges.completion import LanguageModel
from ragstone.judges.limits import Budget
from ragstone.judges.local.nli import NliClassifier
from ragstone.judges.prompted_choices import PromptedChoices

MAX_TOKENS = 1024
"""Of a reply, unless the settings say otherwise: a poor model fills its whole context with one reason."""
DEADLINE_SECONDS = 600.0
"""For one question, unless the settings say otherwise."""


def build_language_model(
    kind: str, name: str, settings: Mapping[str, Any], budget: Budget
) -> tuple[ChoiceModel, LanguageModel]:
    """Return a language model twice: asked for one token, and completing prompts; its weights are loaded once."""
    if kind == "gguf":
        return _build_gguf(name, settings, budget)
    from ragstone.judges.huggingface import LocalModel, check_installed
    from ragstone.judges.local.causal import CausalChoices

    check_installed(name)
    common = {
        "deadline": settings.get("deadline", DEADLINE_SECONDS),
        "device": settings.get("device"),
        "threads": read_count(settings, "threads"),
        "budget": budget,
    }
    batch = read_count(settings, "batch")
    choices = CausalChoices(name, batch=batch or 8, **common)
    max_tokens = settings.get("max_tokens", MAX_TOKENS)
    return choices, LocalModel(name, batch=batch or 4, max_tokens=max_tokens, **common)


def build_classifier(
    name: str, settings: Mapping[str, Any], budget: Budget, kind: str = "nli"
) -> NliClassifier:
    """Return a classifier of pairs of texts."""
    return NliClassifier(
        name,
        labels=settings.get("labels"),
        batch=read_count(settings, "batch") or 16,
        context=read_count(settings, "context"),
        threads=read_count(settings, "threads"),
        device=settings.get("device"),
        deadline=settings.get("deadline", DEADLINE_SECONDS),
        budget=budget,
        kind=kind,
    )


def read_count(settings: Mapping[str, Any], setting: str) -> int | None:
    """Return a setting that counts something, None when it is not given."""
    value = settings.get(setting)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RagstoneError(f"the judge's {setting} is {value!r}; give a whole number from 1 on")
    return value


def _build_gguf(
    name: str, settings: Mapping[str, Any], budget: Budget
) -> tuple[ChoiceModel, LanguageModel]:
    from ragstone.judges.local.gguf import DIALECT, GgufModel, LlamaEngine

    engine = LlamaEngine(
        name,
        threads=read_count(settings, "threads"),
        context=read_count(settings, "context"),
        device=settings.get("device"),
    )

    common = DIALECT.to_parameters({"max_tokens": MAX_TOKENS, **settings})

    def make_model(**fixed: Any) -> GgufModel:
        given = common | fixed | (settings.get("parameters") or {})
        deadline = settings.get("deadline", DEADLINE_SECONDS)
        return GgufModel(engine, parameters=given, deadline=deadline, budget=budget)

    return PromptedChoices(make_model(**DIALECT.choice_parameters)), make_model()
