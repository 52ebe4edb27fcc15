"""Words and numbers in each language."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

import ragstone.metrics  # noqa: F401 - registers the metrics
from ragstone.errors import RagstoneError
from ragstone.metrics.scoring import starter
from ragstone.registry import REGISTERED
from ragstone.report.meanings import MEANINGS
from ragstone.report.phrases import PHRASES
from ragstone.report.sentences import translated
from ragstone.report.words import words
from ragstone.types import Sample, Score, chunks

SOURCE = Path(__file__).parents[2] / "src" / "ragstone"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", PHRASES)
def test_a_phrase_has_the_same_placeholders_in_every_language(key: str) -> None:
    english, spanish = PHRASES[key]
    assert placeholders(english) == placeholders(spanish)
    assert english
    assert spanish


def test_every_phrase_is_said_somewhere() -> None:
    said = "".join(
        path.read_text(encoding="utf-8")
        for folder in (SOURCE / "report", SOURCE / "cli")
        for path in folder.rglob("*")
        if path.suffix in (".py", ".j2") and path.name != "phrases.py"
    )
    groups = ("outcome.", "fault.", "verdict.", "label.", "method.", "of.", "gate.", "state.")
    unsaid = [
        key
        for key in PHRASES
        if not key.startswith(groups) and not re.search(f"['\"]{key.split('.')[0]}['\".]", said)
    ]
    assert unsaid == []


def test_every_metric_has_a_meaning_in_spanish() -> None:
    built_in = {
        name for name, m in REGISTERED.items() if m.function.__module__.startswith("ragstone.")
    }
    assert built_in - set(MEANINGS["es"]) == set()


def test_the_reasons_of_metrics_without_a_judge_are_said_in_spanish() -> None:
    samples = [
        Sample("1"),
        Sample("2", question="", answer="", reference="", contexts=chunks(), relevant={}),
        Sample("3", answer="yes", reference="no", contexts=chunks("a"), relevant={"a": 0}),
        Sample("4", contexts=chunks({"text": "only text"}), relevant={"a": 1}),
    ]
    reasons = set()
    for metric in REGISTERED.values():
        if metric.judged or metric.extra or not metric.function.__module__.startswith("ragstone."):
            continue
        for sample in samples:
            score = starter(metric)(sample)
            if isinstance(score, Score) and not score.ok:
                reasons.add(score.reason)
    assert reasons
    assert [reason for reason in reasons if translated(reason, "es") == reason] == []


def test_a_sentence_that_is_not_ours_stays_as_it_is() -> None:
    assert translated("el modelo dijo: no", "es") == "el modelo dijo: no"
    assert translated("the answer is empty", "en") == "the answer is empty"


def test_the_count_of_a_warning_is_translated_with_it() -> None:
    assert translated("nothing was retrieved (1 sample)", "es") == "no se recuperó nada (1 muestra)"


@pytest.mark.parametrize(
    ("value", "english", "spanish"),
    [
        (0.5, "0.500", "0,500"),
        (12.345, "12.35", "12,35"),
        (1234.5, "1234.5", "1234,5"),
        (-0.0001, "-0.0001", "-0,0001"),
        (0.00012, "0.00012", "0,00012"),
        (-0.0, "0.000", "0,000"),
        (None, "–", "–"),
    ],
)
def test_a_number_is_written_as_the_language_does(
    value: float | None, english: str, spanish: str
) -> None:
    assert words("en").number(value) == english
    assert words("es").number(value) == spanish


def test_thousands_are_set_apart() -> None:
    assert words("en").whole(1_234_567) == "1,234,567"
    assert words("es").whole(1_234_567) == "1\u202f234\u202f567"
    assert words("es").whole(9_999) == "9999"


@pytest.mark.parametrize(
    ("share", "shown"), [(1, "100%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0, "0%")]
)
def test_a_percentage_is_never_rounded_to_all_or_nothing(share: float, shown: str) -> None:
    assert words("en").percent(share) == shown


def test_a_cheap_run_does_not_read_as_free() -> None:
    assert words("en").money(0.0000001) == "$< 0.0001"
    assert words("en").money(0) == "$0.00"


def test_an_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(RagstoneError, match="no reports in 'fr'; choose en or es"):
        words("fr")


@pytest.mark.parametrize(
    "sentence",
    [
        "nobody answers at http://127.0.0.1:9/v1; is the server running?",
        "the host 'nowhere.invalid' is not known; check base_url and the network",
        "127.0.0.1 closed the connection without a reply (6 tries)",
        "no complete reply from 127.0.0.1 within 120 s (6 tries)",
        "the judge declined to answer",
    ],
)
def test_a_judge_that_cannot_be_asked_is_told_in_spanish_too(sentence: str) -> None:
    assert translated(sentence, "es") != sentence


def test_no_phrase_of_one_report_hides_that_of_another() -> None:
    from ragstone.report.comparison.phrases import COMPARING
    from ragstone.report.drawing.phrases import DRAWING
    from ragstone.report.failures.phrases import FAILING
    from ragstone.report.monitor.phrases import MONITORING

    parts = [COMPARING, DRAWING, FAILING, MONITORING]
    names = [name for part in parts for name in part]
    assert sorted(names) == sorted(set(names))
    assert all(PHRASES[name] == part[name] for part in parts for name in part)
