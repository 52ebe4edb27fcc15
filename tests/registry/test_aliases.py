"""Metrics by the names of other tools: the right one of ours, said in a note, and never in the place of our own name."""

from __future__ import annotations

import warnings

import pytest

from ragstone.metrics import resolve
from ragstone.registry.aliases import _NAMES, AliasWarning, find_alias, list_aliases
from ragstone.registry.metrics import REGISTERED


@pytest.mark.parametrize("tool", list(_NAMES))
def test_every_alias_leads_to_a_metric_of_ours(tool: str) -> None:
    for alias in list_aliases(tool):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AliasWarning)
            assert resolve(alias.name).family == resolve(alias.spec).family


@pytest.mark.parametrize(
    ("written", "measured"),
    [
        ("LLMContextPrecisionWithReference", "context_precision"),
        ("LLMContextPrecisionWithoutReference", "context_precision_unreferenced"),
        ("llm_context_precision_without_reference", "context_precision_unreferenced"),
        ("answer_relevancy", "answer_relevance"),
        ("context-faithfulness", "faithfulness"),
        ("HallucinationMetric", "hallucination_rate"),
        ("ContextRelevance", "context_relevance(together=true)"),
    ],
)
def test_what_is_measured_is_said(written: str, measured: str) -> None:
    family = measured.partition("(")[0]
    with pytest.warns(AliasWarning, match=rf"is a name of \w+: {family}.* is measured"):
        assert resolve(written).name == measured


def test_options_are_added_to_those_of_the_alias() -> None:
    with pytest.warns(AliasWarning):
        metric = resolve("AnswerCorrectness(similarity_weight=0.5)")
    assert (metric.options["additions"], metric.options["similarity_weight"]) == ("count", 0.5)
    with pytest.warns(AliasWarning):
        assert resolve("IDBasedContextRecall@5").name == "recall@5"


def test_our_own_names_are_not_aliases() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", AliasWarning)
        assert all(resolve(name).family == name for name in REGISTERED)


def test_two_tools_that_share_a_name_mean_the_same_metric() -> None:
    families: dict[str, set[str]] = {}
    for tool in _NAMES:
        for alias in list_aliases(tool):
            found = find_alias(alias.name)
            assert found is not None
            families.setdefault(found.name, set()).add(resolve(alias.spec).family)
    assert not {name: family for name, family in families.items() if len(family) > 1}


def test_a_name_of_nobody_is_an_error() -> None:
    from ragstone import RagstoneError

    with pytest.raises(RagstoneError, match="no metric 'LLMContextPrecisionWith'"):
        resolve("LLMContextPrecisionWith")
