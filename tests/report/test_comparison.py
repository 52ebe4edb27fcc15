"""A comparison on every surface: it says the same, in two languages, and nothing in it is taken for markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from paged import compare_page, print_text
from ragstone.analysis.compare import compare
from ragstone.analysis.comparison import Comparison
from ragstone.errors import RagstoneError
from ragstone.report import html, markdown
from ragstone.report.comparison import github, opening
from ragstone.report.formats import write_page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.translator import load_translator
from ragstone.store import StoredRun
from ragstone.types import Score

EVIL = "<script>alert(1)</script> | *x* ](http://evil) `rm` ::error::x\n::warning::y {{ 7*7 }} \"'>"


@pytest.fixture(scope="module")
def moved(a_case):
    """A sample whose scores moved."""

    def make(number: int, by: float, latency: float = 1.0):
        row, scores = a_case(number)
        for name in ("recall@5", "token_f1"):
            if scores[name].ok:
                scores[name] = Score(min(1.0, max(0.0, scores[name].value + by)))
        scores["latency"] = Score(scores["latency"].value * latency * (1 + number % 7 / 50))
        return row, scores

    return make


@pytest.fixture(scope="module")
def pair(build_once, moved) -> tuple[StoredRun, StoredRun]:
    return (
        build_once([moved(n, 0.0) for n in range(120)], name="old"),
        build_once([moved(n, -0.1 - n % 5 / 100, 2.0) for n in range(118)], name="new"),
    )


@pytest.fixture(scope="module")
def found(pair) -> Comparison:
    return compare(pair)


def report_of(found, pair, language="en") -> ComparisonPage:
    return compare_page(found, pair, language)


def shown(found, pair, language="en", width=120) -> str:
    return print_text(report_of(found, pair, language), width, details=True)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_terminal_says_verdicts_counts_and_samples(found, pair, width: int) -> None:
    text = shown(found, pair, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    flat = " ".join(text.split())
    assert "worse by 0.1" in flat
    assert "2 questions are only in old and 0 only in new" in flat
    assert "Samples that became worse: 3 of" in flat
    assert "2 regressions" in flat


def test_spanish_is_spoken_throughout(found, pair) -> None:
    text = shown(found, pair, "es") + markdown.render(report_of(found, pair, "es"))
    assert "2 regresiones" in text
    assert "peor en 0,1" in text
    for english in ("worse", "better", "withheld", "cannot tell", "Before", "Left out"):
        assert english not in text


def badge(comparison: Comparison):
    return opening.describe_state(comparison, load_translator("en"))


def with_verdicts(comparison: Comparison, verdict: str, resource: str = "unclear") -> Comparison:
    """The same comparison as if every metric had come out so."""
    versus = comparison.versus[0]
    rows = tuple(
        replace(d, verdict=resource if d.resource else verdict, detectable=0.07)
        for d in versus.differences
    )
    return replace(comparison, versus=(replace(versus, differences=rows),))


def test_the_badge_is_green_only_where_a_loss_is_ruled_out(found) -> None:
    assert badge(found).severity == "bad"
    assert badge(found).text == "2 regressions: recall@5 and token_f1"
    unclear = badge(with_verdicts(found, "unclear"))
    assert unclear.severity == "plain"
    assert unclear.text.startswith("No regression shown. A loss of 0.07 in ")
    assert "smaller ones may have been missed" in unclear.text
    ruled_out = badge(with_verdicts(found, "equivalent"))
    assert ruled_out.severity == "good"
    assert "Losses of more than 0.02" in ruled_out.text
    assert badge(with_verdicts(found, "withheld")).severity == "warn"
    slower = badge(with_verdicts(found, "equivalent", resource="worse"))
    assert (slower.severity, "worse in latency" in slower.text) == ("warn", True)


def test_identical_answers_are_said_first_and_ask_for_nothing(pair) -> None:
    same = compare([pair[0], replace_id(pair[0])])
    text = shown(same, [pair[0], replace_id(pair[0])])
    flat = " ".join(text.split())
    assert "gave the same answers to the 120 questions asked" in flat
    assert "The answers are the same." in flat
    assert "takes about" not in flat


def replace_id(run: StoredRun) -> StoredRun:
    """The same run under another id, as a second evaluation of the same answers would be."""
    return StoredRun(run.store, replace(run.info, name="again"))


def test_what_was_primary_and_what_is_plain_is_said(pair) -> None:
    comparison = compare(pair, primary="token_f1")
    report = replace(report_of(comparison, pair), plain_intervals=True)
    text = " ".join(print_text(report, 120, details=True).split())
    assert "token_f1 first and alone" in text
    assert "those of each difference alone" in text
    table = text[text.index("Metric") :]
    assert table.index("token_f1") < table.index("recall@5")


def test_independent_sets_are_said_in_the_same_words(build, moved) -> None:
    sides = []
    for name, by in (("may", 0.0), ("june", -0.2)):
        cases = [({**row, "id": f"{name}{n}"}, scores) for n in range(90) for row, scores in [moved(n, by)]]  # fmt: skip
        sides.append(build(cases, name=name))
    comparison = compare(sides, unpaired=True)
    for language, said in (("en", "compared as independent sets"), ("es", "comparadas como conjuntos independientes")):  # fmt: skip
        for width in (80, 120):
            text = shown(comparison, sides, language, width)
            assert said in " ".join(text.split())
            assert all(len(line) <= width for line in text.splitlines())
    assert html.render(report_of(comparison, sides))


def test_every_format_is_written_and_others_are_refused(found, pair, tmp_path: Path) -> None:
    for ending in (".html", ".md", ".json", ".svg"):
        write_page(report_of(found, pair), tmp_path / f"c{ending}")
    plain = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert plain["exit_code"] == 1
    assert {one["metric"] for one in plain["regressions"]} == {"recall@5", "token_f1"}
    with pytest.raises(RagstoneError, match="names no format of this report"):
        write_page(report_of(found, pair), tmp_path / "c.txt")


def test_png_is_drawn_by_matplotlib(found, pair, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs ragstone[plot]")
    write_page(report_of(found, pair), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


class Seen(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.text += data


@pytest.fixture
def evil(build, moved) -> tuple[StoredRun, StoredRun]:
    def cases(by):
        made = []
        for n in range(40):
            row, scores = moved(n, by)
            row |= {"id": f"{EVIL}{n}", "question": EVIL, "answer": EVIL, "reference": EVIL}
            made.append((row, scores))
        return made

    return build(cases(0.0), name=f"a{EVIL}"), build(cases(-0.2), name=f"b{EVIL}")


def test_the_page_needs_nothing_and_runs_nothing_of_the_texts_under_test(evil) -> None:
    page = html.render(report_of(compare(evil), evil))
    seen = Seen()
    seen.feed(page)
    assert "script" not in {tag for tag, _ in seen.tags}
    for tag, attributes in seen.tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form")
        assert not [
            name
            for name, value in attributes.items()
            if name.startswith("on")
            or name in ("src", "style")
            or (name == "href" and not str(value).startswith("data:"))
        ]
    assert "<script>alert(1)</script>" in seen.text
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|49(?= \"\')", page)


def test_markdown_and_workflow_commands_cannot_be_broken_out_of(evil) -> None:
    comparison = compare(evil)
    text = markdown.render(report_of(comparison, evil))
    assert "<script>" not in text
    assert not re.search(r"(?<!\\)\]\(http", text)
    for line in github.build_commands(comparison):
        assert "\n" not in line
        assert line.startswith(("::warning title=", "::error title="))
        assert "::" not in line.split("title=")[1].partition("::")[0]


def test_annotations_are_errors_when_a_regression_fails_the_step(found) -> None:
    kinds = [line.split(" ")[0] for line in github.build_commands(found, error=True)]
    assert kinds.count("::error") == 2
    assert [line.split(" ")[0] for line in github.build_commands(found)].count("::error") == 0


def test_the_step_summary_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    github.append_summary(str(path), "after ✓")
    assert path.read_text(encoding="utf-8") == "before\nafter ✓\n"
