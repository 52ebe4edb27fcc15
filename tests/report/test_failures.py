"""Failure classes and advice on every surface."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from paged import failure_page, print_text
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.classes import CLASSES
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.errors import RagstoneError
from ragstone.locale.catalogue import find_phrase
from ragstone.report.formats import write_page


@pytest.fixture
def found(run) -> Failures:
    return analyse_failures(run)


@pytest.fixture
def advice(run, summary, found):
    return diagnose(run, summary, found, load_symptoms())


def symptoms(advice, found, language="en") -> str:
    return print_text(failure_page(found, advice, language=language), 100, details=True)


def test_every_class_has_a_name_and_a_meaning() -> None:
    for kind in CLASSES:
        assert find_phrase("en", f"failure_class.{kind}")
        assert find_phrase("en", f"class_means.{kind}")


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_terminal_shows_classes_shares_and_examples(found, run, width: int) -> None:
    text = print_text(failure_page(found, None, run), width, details=True)
    assert all(len(line) <= width for line in text.splitlines() if not line.startswith("  $ "))
    for word in ("retrieval failure", "hallucination", "missed:", "came instead:", "samples fail"):
        assert word in " ".join(text.split())


def test_advice_is_given_in_both_languages(advice, found) -> None:
    english = symptoms(advice, found)
    spanish = symptoms(advice, found, "es")
    assert "Try: Search both ways" in english
    assert "Prueba: Busca de las dos formas" in spanish
    assert "Try" not in spanish


def test_a_run_without_failures_is_said_to_have_none(found) -> None:
    fine = next(rate for rate in found.rates if rate.label == "fine")
    assert "no failures were found" in symptoms((), replace(found, rates=(fine,)))
    assert "no more failures than the judge's own errors" in symptoms((), found)


def test_every_format_is_written_with_the_advice(found, advice, run, tmp_path: Path) -> None:
    for ending in (".html", ".md", ".json", ".svg"):
        write_page(failure_page(found, advice, run, "es"), tmp_path / f"f{ending}")
    assert "Busca de las dos formas" in (tmp_path / "f.md").read_text(encoding="utf-8")
    assert "Busca de las dos formas" in (tmp_path / "f.html").read_text(encoding="utf-8")
    plain = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert {one["symptom"] for one in plain["diagnosis"]} >= {"retrieval_failure"}
    assert sum(rate["count"] for rate in plain["rates"]) == plain["samples"]
    with pytest.raises(RagstoneError, match="names no format"):
        write_page(failure_page(found, advice, run), tmp_path / "f.pdf")
