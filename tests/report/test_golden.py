"""What reports look like: each result on a terminal of 80 and 120 columns, as Markdown, and the text of its page.

`pytest tests/report/test_golden.py --update-golden` writes tests/report/golden anew; look at the difference before you
commit it. Ids, dates, folders and versions are replaced by words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from difflib import unified_diff
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

import pytest

import watched
from paged import compare_page, failure_page, measure_example, print_text, run_page
from ragstone import evaluate
from ragstone.analysis import summarise
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.compare import compare
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.effects import compute_effects
from ragstone.analysis.failures import analyse_failures
from ragstone.analysis.league import build_league
from ragstone.analysis.recommend import recommend
from ragstone.data import corpora, read
from ragstone.data.demo import load_answers
from ragstone.monitor import Archive
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import html, markdown, open_page
from ragstone.report.pages import Page
from ragstone.report.pages.checks import ChecksPage
from ragstone.report.pages.effects import EffectsPage
from ragstone.report.pages.tuning import SearchView, TuningPage
from ragstone.report.terminal import PRINTERS
from ragstone.report.translator import load_translator
from ragstone.store import Store
from ragstone.testset.checkup import check_testset
from ragstone.types import Score

GOLDEN = Path(__file__).parent / "golden"
MOVING = (
    (r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE"),
    (r"ragstone \d+\.\d+\.\d+\w*", "ragstone VERSION"),
)
"""What differs from run to run."""

METRICS = ("faithfulness", "answer_correctness", "recall", "mrr")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """Both versions of the demo's assistant, evaluated."""
    store = Store.open(tmp_path_factory.mktemp("shop") / "runs.db")
    runs = []
    for version in (1, 2):
        data = read(load_answers(version, "en"))
        data.source = "shop"
        runs.append(
            evaluate(data, METRICS, judge="offline", name=f"version {version}", store=store)
        )
    yield runs
    store.close()


@pytest.fixture(scope="module")
def benched(build_once: Any, a_case: Any) -> list[Any]:
    """Five configurations: one better and slower, one worse, two that answer as the first did, one with a long name."""
    runs = []
    names = (
        "baseline",
        "retriever=hybrid, rerank=true, chunk_size=120, top_k=8",
        "smaller",
        "same",
        "also the same",
    )
    for name, gain, slower in zip(names, (0.0, 0.2, -0.1, 0.0, 0.0), (1, 2, 1, 1, 1), strict=True):
        dice = random.Random(2)
        cases = []
        for n in range(60):
            row, _ = a_case(n)
            row = {**row, "answer": row["answer"] if gain == 0 else f"{row['answer']} {name}"}
            value = min(1.0, max(0.0, 0.5 + n % 7 / 20 + gain + dice.gauss(0, 0.05)))
            latency = Score(slower * dice.lognormvariate(0, 0.2))
            cases.append(
                (row, {"recall@5": Score(value), "token_f1": Score(value / 2), "latency": latency})
            )
        metrics = tuple(
            {
                "name": metric,
                "family": metric.split("@")[0],
                "higher_is_better": metric != "latency",
                "bounds": None if metric == "latency" else [0.0, 1.0],
                "binary": False,
                "judged": False,
                "labels": [],
                "meaning": "",
            }
            for metric in ("recall@5", "token_f1", "latency")
        )
        runs.append(build_once(cases, name=name, metrics=metrics))
    return runs


SEARCH = {
    "objective": {"recall": 1.0},
    "against": ["latency"],
    "winner": "top_k=8",
    "is_unchanged": True,
    "same_answers": False,
    "gain": {
        "pairs": 24,
        "difference": 0.0,
        "p": 1.0,
        "test": "sign",
        "low": -0.02,
        "high": 0.02,
        "risen": 0,
        "fallen": 0,
    },
    "margin": 0.02,
    "answered": 120,
    "full_grid": 300,
    "stopped": "10 calls",
    "savings": [],
    "trials": [
        {
            "name": f"top_k={k}",
            "run": None,
            "questions": 56 if k > 4 else 14,
            "measured": 0.5 + k / 50,
            "winner_beside": 0.66,
            "estimate": None if k > 4 else 0.55,
            "costs": [0.1 * k],
            "front": k in (5, 8),
        }
        for k in range(8, 1, -1)
    ],
}
"""A search of seven trials, as it is kept in a store."""


@pytest.fixture(scope="module")
def pages(
    shop: list[Any], benched: list[Any], build_once: Any, a_case: Any, tmp_path_factory: Any
) -> dict[str, Callable[[], Page]]:
    """A page of every kind, by the name of its files."""
    folder = tmp_path_factory.mktemp("golden")
    first, second = (run.stored for run in shop)
    gates = {"recall@5": ">= 0.3", "token_f1": "mean >= 0.9", "faithfulness": ">= 0.2"}
    mixed = build_once([a_case(n) for n in range(120)], bad=("questions.jsonl:17: not JSON",))
    summary = summarise(mixed, gates=gates)
    found = analyse_failures(first)
    advice = diagnose(first, shop[0].summary(), found, load_symptoms([]))
    comparison = compare(benched, primary="recall@5")
    league = build_league(benched, "recall@5")
    settings = [{"top_k": k} for k in (5, 8, 3)]
    effects = [
        compute_effects(list(zip(settings, benched[:3], strict=True)), m)
        for m in ("recall@5", "token_f1")
    ]

    def open_period(language: str) -> Page:
        archive = Archive(Store.open(folder / f"{language}.db"))
        watched.fill(archive, 280, parse_local_time("2026-05-11"))
        analysis = analyse_period(archive, "weekly", parse_local_time("2026-05-11T00:30"))
        archive.store.close()
        return open_page(analysis, language)

    def open_league(language: str) -> Page:
        return compare_page(
            comparison,
            benched,
            language,
            league=league,
            recommendation=recommend(league, comparison),
        )

    checks = [
        {
            "test": "test_a",
            "sample": "q1",
            "metric": "faithfulness",
            "rule": ">= 0.8",
            "value": 0.5,
            "passed": False,
            "lines": ["faithfulness is 0.5", "“a claim”", "contradicted"],
        },
        {
            "test": "test_b",
            "sample": "q2",
            "metric": "recall",
            "rule": ">= 0.8",
            "value": 1.0,
            "passed": True,
            "lines": [],
        },
    ]
    return {
        "run": lambda: run_page(first, shop[0].summary()),
        "run.es": lambda: run_page(first, shop[0].summary(), "es"),
        "run.mixed": lambda: run_page(mixed, summary),
        "comparison": lambda: compare_page(compare([first, second]), (first, second)),
        "comparison.es": lambda: compare_page(compare([first, second]), (first, second), "es"),
        "league": lambda: open_league("en"),
        "failures": lambda: failure_page(found, None, first),
        "diagnosis": lambda: failure_page(found, advice, first),
        "effects": lambda: EffectsPage(load_translator("en"), effects, "questions.jsonl"),
        "tuning": lambda: TuningPage(load_translator("en"), SearchView.from_record(SEARCH)),
        "judges": lambda: open_page(measure_example()),
        "checkup": lambda: open_page(check_testset(str(corpora.questions()), limit=40)),
        "period": lambda: open_period("en"),
        "checks": lambda: ChecksPage(load_translator("en"), checks),
    }


NAMES = (
    "run",
    "run.es",
    "run.mixed",
    "comparison",
    "comparison.es",
    "league",
    "failures",
    "diagnosis",
    "effects",
    "tuning",
    "judges",
    "checkup",
    "period",
    "checks",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_looks_as_it_did(
    name: str, pages: dict[str, Callable[[], Page]], request: pytest.FixtureRequest
) -> None:
    page = pages[name]()
    shown = {"md": markdown.render(page), "html.txt": read_text(html.render(page))}
    if page.template in PRINTERS:
        shown["80.txt"], shown["120.txt"] = print_text(page, 80), print_text(page, 120)
        shown["details.txt"] = print_text(page, 100, details=True)
    differences = []
    for ending, text in shown.items():
        path, plain = GOLDEN / f"{name}.{ending}", settle(text)
        if request.config.getoption("--update-golden"):
            path.write_text(plain, encoding="utf-8")
        golden = path.read_text(encoding="utf-8")
        differences += unified_diff(
            golden.splitlines(), plain.splitlines(), path.name, "now", lineterm=""
        )
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_holds_the_essential(name: str, pages: dict[str, Any]) -> None:
    page = pages[name]()
    if (
        page.template not in ("run", "comparison", "failures", "effects", "tuning")
        or name == "diagnosis"
    ):
        return
    for width in (80, 120):
        lines = print_text(page, width).splitlines()
        assert max(len(line) for line in lines if not line.startswith("  $ ")) <= width
        (rule, *_) = [number for number, line in enumerate(lines) if line.startswith("──")]
        assert rule < 10, "the table begins under the sentences"
        table = lines[: lines.index("", rule)] if "" in lines[rule:] else lines
        assert len(table) <= 24


def settle(text: str) -> str:
    """The text without what differs from run to run, and without blanks at the ends of lines."""
    for pattern, word in MOVING:
        text = re.sub(pattern, word, text)
    text = re.sub(r"(--store|-m) (/\S+)", r"\1 STORE", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


class PageText(HTMLParser):
    """The text that a reader of a page sees, a line for each block."""

    BLOCKS: ClassVar = {
        "p",
        "li",
        "tr",
        "h1",
        "h2",
        "h3",
        "h4",
        "section",
        "article",
        "div",
        "summary",
        "dt",
        "ul",
        "ol",
        "text",
    }
    UNSEEN: ClassVar = {"style", "script", "title"}

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._unseen += tag in self.UNSEEN
        if tag in self.BLOCKS:
            self.lines.append("")
        elif tag in ("td", "th", "dd"):
            self.lines[-1] += "  "

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in self.UNSEEN

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.lines[-1] += " ".join(data.split()) + " " * data.endswith(" ")


def read_text(page: str) -> str:
    """What a reader of a page sees; of its samples the first two."""
    head, *samples = page.split('<article class="sample"')
    tail = samples[-1].partition("</article>")[2] if samples else ""
    reader = PageText()
    reader.feed("<article".join([head, *samples[:2]]) + tail)
    return "\n".join(line for line in reader.lines if line.strip())
