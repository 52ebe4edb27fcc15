"""Names that other evaluation tools give to metrics, and the metric here that measures the same."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass


class AliasWarning(UserWarning):
    """A metric was named as another tool names it; the message says which of ours is measured."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A metric of another tool, and the spec of ours that comes closest."""

    tool: str
    name: str
    spec: str


_NAMES: Mapping[str, Mapping[str, str]] = {
    "Ragas": {
        "AnswerRelevancy": "answer_relevance",
        "ResponseRelevancy": "answer_relevance",
        "ContextPrecision": "context_precision",
        "LLMContextPrecisionWithReference": "context_precision",
        "LLMContextPrecisionWithoutReference": "context_precision_unreferenced",
        "ContextUtilization": "context_precision_unreferenced",
        "ContextRecall": "context_recall",
        "LLMContextRecall": "context_recall",
        "IDBasedContextPrecision": "precision",
        "IDBasedContextRecall": "recall",
        "ContextRelevance": "context_relevance(together=true)",
        "Faithfulness": "faithfulness",
        "ResponseGroundedness": "faithfulness",
        "NoiseSensitivity": "noise_sensitivity",
        "FactualCorrectness": "answer_correctness(additions=count)",
        "AnswerCorrectness": "answer_correctness(additions=count, similarity_weight=0.25)",
        "SemanticSimilarity": "answer_similarity",
        "AnswerSimilarity": "answer_similarity",
        "ExactMatch": "exact_match",
        "RougeScore": "rouge_l",
        "BleuScore": "bleu",
        "CHRFScore": "chrf",
    },
    "DeepEval": {
        "FaithfulnessMetric": "faithfulness",
        "AnswerRelevancyMetric": "answer_relevance",
        "ContextualPrecisionMetric": "context_precision",
        "ContextualRecallMetric": "context_recall",
        "ContextualRelevancyMetric": "context_relevance",
        "HallucinationMetric": "hallucination_rate",
    },
    "TruLens": {
        "groundedness": "faithfulness",
        "groundedness_measure_with_cot_reasons": "faithfulness",
        "context_relevance_with_cot_reasons": "context_relevance",
        "relevance_with_cot_reasons": "answer_relevance",
    },
    "promptfoo": {
        "context-faithfulness": "faithfulness",
        "context-recall": "context_recall",
        "context-relevance": "context_relevance",
        "answer-relevance": "answer_relevance",
        "factuality": "answer_correctness",
        "equals": "exact_match",
    },
    "MLflow": {
        "RetrievalGroundedness": "faithfulness",
        "RelevanceToQuery": "answer_relevance",
        "RetrievalRelevance": "context_relevance",
        "RetrievalSufficiency": "context_recall",
    },
}


def find_alias(name: str) -> Alias | None:
    """The metric that another tool calls so, however it is written: `ContextPrecision`, `context-precision`."""
    return _ALIASES.get(_fold(name))


def warn_of_alias(alias: Alias) -> None:
    """Say once which metric stands in for another tool's: definitions differ in details, and so do the numbers."""
    warnings.warn(
        f"{alias.name} is a name of {alias.tool}: {alias.spec} is measured, and its numbers may differ (see the page "
        f"“Coming from {alias.tool}”)",
        AliasWarning,
        stacklevel=4,
    )


def list_aliases(tool: str) -> list[Alias]:
    """Every known name of a tool, in the order of its table."""
    return [Alias(tool, name, spec) for name, spec in _NAMES[tool].items()]


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


# an earlier tool keeps a name that two tools use: they mean the same by it
_ALIASES = {
    _fold(name): Alias(tool, name, spec)
    for tool in reversed(list(_NAMES))
    for name, spec in _NAMES[tool].items()
}
