"""Reports of a day, a week or a month: against the one before, with verdicts, in both formats and languages."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import watched
from chromium import CONTRAST, PAYLOADS, Visit, browser, needs_chromium
from ragstone import report
from ragstone.config.reports import ReportSchedule
from ragstone.errors import DataError, RagstoneError
from ragstone.monitor import Archive, Interaction, ScoredInteraction
from ragstone.monitor.rollups import refresh
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import MAX_WORST, PeriodAnalysis, analyse_period
from ragstone.monitor.windows.period_report import (
    build_period_report,
    compare_series,
    find_last_complete_period,
)
from ragstone.monitor.windows.statistics import SeriesStats
from ragstone.report import html, markdown
from ragstone.report.formats import find_format
from ragstone.report.monitor.charts import SeriesPoint, format_sparkline
from ragstone.server.report_worker import ReportWorker
from ragstone.store import Store
from ragstone.types import Chunk, Finding, Ranked, Score

__all__ = ["browser"]

NOW = parse_local_time("2026-05-11T00:30")
"""A Monday: the week of the drop has just ended."""


@pytest.fixture(scope="module")
def fortnight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fortnight that ends on a Sunday night, in whose last days the small model is worse."""
    path = tmp_path_factory.mktemp("fortnight") / "s.db"
    one = Archive(Store.open(path))
    watched.fill(one, 1400, parse_local_time("2026-05-11"))
    refresh(one)
    one.store.close()
    return path


@pytest.fixture
def archive(fortnight: Path, tmp_path: Path) -> Iterator[Archive]:
    """The fortnight, to be changed."""
    one = Archive(Store.open(shutil.copy(fortnight, tmp_path / "s.db")))
    yield one
    one.store.close()


RENDERERS = {".html": html.render, ".md": markdown.render}


def rendered(analysis: PeriodAnalysis, ending: str, language: str) -> str:
    return RENDERERS[ending](report.open_page(analysis, language))


def figure(mean: float, low: float, high: float) -> SeriesStats:
    return SeriesStats("faithfulness", 100, 100, mean, low, high, 0.0, 1.0, {}, {}, 100 * mean)


# ── changes ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "now", "before", "verdict"),
    [
        ("faithfulness", (0.70, 0.67, 0.73), (0.80, 0.77, 0.83), "worse"),
        ("faithfulness", (0.80, 0.77, 0.83), (0.70, 0.67, 0.73), "better"),
        ("hallucination_rate", (0.30, 0.27, 0.33), (0.20, 0.17, 0.23), "worse"),
        ("hallucination_rate", (0.20, 0.17, 0.23), (0.30, 0.27, 0.33), "better"),
        ("faithfulness", (0.80, 0.79, 0.81), (0.80, 0.79, 0.81), "same"),
        ("faithfulness", (0.80, 0.70, 0.88), (0.82, 0.72, 0.90), "unclear"),
    ],
)
def test_a_change_is_called_by_its_interval_and_direction(
    name: str, now: tuple[float, ...], before: tuple[float, ...], verdict: str
) -> None:
    change = compare_series(name, figure(*now), figure(*before))
    assert change.verdict == verdict
    assert change.low is not None
    assert change.difference is not None
    assert change.high is not None
    assert change.low < change.difference < change.high


def test_nothing_is_compared_with_nothing() -> None:
    one = figure(0.8, 0.7, 0.9)
    assert compare_series("faithfulness", one, None).verdict == "new"
    assert compare_series("faithfulness", None, one).verdict == "none"
    empty = replace(one, mean=None, low=None, high=None)
    assert compare_series("faithfulness", one, empty).verdict == "new"
    assert compare_series("faithfulness", empty, one).difference is None
    assert compare_series("faithfulness", replace(one, low=None), one).verdict == "unclear"


def test_the_interval_of_a_change_holds_the_truth_about_19_times_in_20() -> None:
    from ragstone.monitor.rollups import RollupCell
    from ragstone.monitor.windows.statistics import compute_interval

    def drawn(generator: random.Random, lift: float) -> SeriesStats:
        values = [
            1.0 if generator.random() < 0.5 + lift else generator.betavariate(4, 2)
            for _ in range(120)
        ]
        n, powers = len(values), [sum(x**power for x in values) for power in (1, 2, 3)]
        cell = RollupCell(n, n, n, *powers, min(values), max(values))
        ends = compute_interval("faithfulness", cell)
        return replace(figure(0.0, 0.0, 0.0), mean=cell.mean, low=ends.low, high=ends.high)

    generator, held = random.Random(5), 0
    truth = 0.2 * (1 - 4 / 6)
    for _ in range(400):
        change = compare_series("faithfulness", drawn(generator, 0.2), drawn(generator, 0.0))
        assert change.low is not None
        assert change.high is not None
        held += change.low <= truth <= change.high
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.parametrize(
    ("kind", "until", "zone", "first", "last"),
    [
        ("daily", "2026-05-11T00:30", "UTC", "2026-05-10", "2026-05-11"),
        ("daily", "2026-05-11", "UTC", "2026-05-10", "2026-05-11"),
        ("weekly", "2026-05-10T23:59", "UTC", "2026-04-27", "2026-05-04"),
        ("weekly", "2026-05-11", "UTC", "2026-05-04", "2026-05-11"),
        ("monthly", "2026-03-30", "Europe/Madrid", "2026-02-01", "2026-03-01"),
        ("weekly", "2026-03-30", "Europe/Madrid", "2026-03-23", "2026-03-30"),
    ],
)
def test_reports_on_the_last_period_that_is_over(
    kind: str, until: str, zone: str, first: str, last: str
) -> None:
    period = find_last_complete_period(kind, parse_local_time(until, zone), zone)
    assert period == (parse_local_time(first, zone), parse_local_time(last, zone))


def test_an_unknown_period_is_named() -> None:
    with pytest.raises(DataError, match="hourly"):
        find_last_complete_period("hourly", NOW)


def test_the_week_is_compared_with_the_one_before(archive: Archive) -> None:
    report = build_period_report(archive, "weekly", NOW)
    assert report.dates() == ("2026-05-04", "2026-05-10")
    assert report.now.interactions == report.before.interactions == 700
    verdicts = {change.name: change.verdict for change in report.changes}
    assert verdicts["faithfulness"] == "worse"
    assert verdicts["answer_relevance"] == "same"
    assert set(verdicts) == {"faithfulness", "answer_relevance", "feedback", "latency"}
    assert len(report.series) == 7
    assert sum(window.interactions for window in report.series) == 700
    assert len(build_period_report(archive, "daily", NOW).series) == 24


# ── pages ─────────────────────────────────────────────────────────────────────────────────


def test_markdown_has_every_part(archive: Archive) -> None:
    watched.keep(archive, [watched.drop(NOW)], NOW)
    text = rendered(analyse_period(archive, "weekly", NOW), ".md", "en")
    for part in ("# Weekly report", "1 metric got worse; 1 alert", "## Alerts", "## Cost",
                 "## Why samples fail", "## What to do next", "## Worst interactions"):  # fmt: skip
        assert part in text
    row = next(line for line in text.splitlines() if line.startswith("| `faithfulness`"))
    assert "| worse |" in row
    assert "▁" in row
    assert "█" in row
    assert "lasts 1 d" in text or "lasts 23 h" in text


def test_spanish_is_spanish_throughout(archive: Archive) -> None:
    text = rendered(analyse_period(archive, "weekly", NOW), ".md", "es")
    for part in ("# Informe semanal", "1 métrica ha empeorado", "frente a la semana anterior",
                 "Ninguna alerta", "Coste de juzgar", "0,9"):  # fmt: skip
        assert part in text
    assert "Worst" not in text


def test_a_period_with_nothing_is_reported_as_such(tmp_path: Path) -> None:
    empty = Archive(Store.open(tmp_path / "none.db"))
    whole = analyse_period(empty, "monthly", NOW)
    assert whole.failures is None
    for ending in RENDERERS:
        assert "Nothing was judged in this period" in rendered(whole, ending, "en")


def test_sparklines_leave_room_for_what_is_not_known() -> None:
    values = [0.0, 0.5, None, 1.0]
    points = [SeriesPoint(n, n + 1, value) for n, value in enumerate(values)]
    assert format_sparkline(points) == "▁▅·█" or format_sparkline(points) == "▁▄·█"
    assert format_sparkline([SeriesPoint(0, 1, None)]) == ""


@needs_chromium
def test_the_page_shows_evidence_and_runs_nothing(
    archive: Archive, browser: Any, tmp_path: Path
) -> None:
    for number, payload in enumerate(PAYLOADS):
        text = f"{payload} {number}"
        one = Interaction(
            text, NOW - watched.DAY - number, text,
            Ranked((Chunk(text, f"{text} and a quote."),)), text, None, 0.0, text, language=payload,
            meta={payload: payload},
        )  # fmt: skip
        finding = Finding(text, payload, payload, text, "and a quote", verified=False, span=(0, 5))
        scores = {
            payload: Score(0.0, findings=(finding,), label=payload),
            "faithfulness": Score(0.0, findings=(finding,), warnings=(payload,)),
        }
        archive.add([one]).result()
        archive.save_scores([ScoredInteraction(text, scores)]).result()
    watched.keep(
        archive, [watched.drop(NOW + n, payload) for n, payload in enumerate(PAYLOADS)], NOW
    )
    path = tmp_path / "report.html"
    for language in ("en", "es"):
        report.write(analyse_period(archive, "weekly", NOW), path, language=language)
        visit = Visit(browser, path.as_uri())
        visit.page.locator(".claim").first.focus()
        assert visit.page.evaluate("window.hit") is None
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]
        assert visit.page.locator(".sample").count() == MAX_WORST
        assert PAYLOADS[0] in visit.page.locator("main").inner_text()
        visit.page.context.close()


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_text_has_contrast(
    archive: Archive, browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    watched.keep(archive, [watched.drop(NOW)], NOW)
    path = tmp_path / "report.html"
    report.write(analyse_period(archive, "weekly", NOW), path)
    size = {"width": width, "height": 900}
    visit = Visit(browser, path.as_uri(), viewport=size, color_scheme=scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.page.evaluate(CONTRAST) == []
    visit.page.context.close()


# ── written by command, and by the server ─────────────────────────────────────────────────


def test_the_command_writes_both_formats_or_prints(archive: Archive, tmp_path: Path) -> None:
    from ragstone.cli.monitor import command

    place = str(tmp_path / "s.db")
    page, text = tmp_path / "r.html", tmp_path / "r.md"
    fixed = ["report", "--store", place, "--until", "2026-05-11"]
    done = CliRunner().invoke(command, [*fixed, "-o", str(page), "-o", str(text), "--lang", "es"])
    assert done.exit_code == 0, done.output
    assert "2026-05-04 to 2026-05-10" in done.output
    assert '<html lang="es">' in page.read_text()
    assert text.read_text().startswith("# Informe semanal")
    shown = CliRunner().invoke(command, [*fixed, "--period", "daily"])
    assert shown.output.startswith("# Daily report")


def test_another_ending_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match=r"r\.pdf"):
        find_format("period", tmp_path / "r.pdf")


def test_the_server_writes_each_period_once(archive: Archive, tmp_path: Path) -> None:
    settings = ReportSchedule(str(tmp_path / "out"), formats=("html", "md"), language="es")
    part = ReportWorker(settings, archive.store)
    soon = parse_local_time("2026-05-11T00:30")
    names = [path.name for path in part.write_missing(soon)]
    # half an hour after its end the week's last answers may not be judged yet
    assert names == ["ragstone-weekly-2026-04-27.html", "ragstone-weekly-2026-04-27.md"]
    later = parse_local_time("2026-05-11T01:30")
    assert [path.name for path in part.write_missing(later)] == [
        "ragstone-weekly-2026-05-04.html",
        "ragstone-weekly-2026-05-04.md",
    ]
    assert part.write_missing(later) == []
    assert part.get_status() == {"period": "weekly", "last": "2026-05-04"}
    assert (tmp_path / "out" / "ragstone-weekly-2026-05-04.md").read_text().startswith("# Informe")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("{period: weekly}", "'reports' has no 'folder'"),
        ("{folder: out, period: hourly}", "'period' is 'hourly'"),
        ("{folder: out, formats: [pdf]}", "give a list of html, md"),
        ("{folder: out, language: fr}", "choose en or es"),
        ("{folder: out, zone: Mars/Base}", "Europe/Madrid"),
        ("{folder: 3}", "'folder' is 3"),
        ("{folder: out, perod: weekly}", "perod"),
        ("weekly", "'reports' is 'weekly'"),
    ],
)
def test_a_config_that_is_wrong_says_where(tmp_path: Path, section: str, said: str) -> None:
    from ragstone.config import load

    path = tmp_path / "c.yaml"
    path.write_text(f"monitor:\n  reports: {section}\n")
    with pytest.raises(RagstoneError) as raised:
        load(path)
    assert said in str(raised.value)


def test_a_config_that_is_right_is_read(tmp_path: Path) -> None:
    from ragstone.config import load

    path = tmp_path / "c.yaml"
    path.write_text(
        "monitor:\n  reports: {folder: out, formats: [md, html], zone: Europe/Madrid}\n"
    )
    plan = load(path)
    assert plan.monitor is not None
    assert plan.monitor.reports == ReportSchedule(
        "out", formats=("md", "html"), zone="Europe/Madrid"
    )


def test_a_period_of_failed_judgements_is_not_called_unchanged(tmp_path: Path) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    some = [Interaction(f"i{n}", NOW - watched.DAY + n, "q?", answer="a") for n in range(30)]
    failed = Score(outcome="judge_error", kind="refusal", reason="no")
    archive.add(some).result()
    archive.save_scores(
        [ScoredInteraction(one.id, {"faithfulness": failed}) for one in some]
    ).result()
    whole = analyse_period(archive, "daily", NOW)
    assert "No judgement succeeded in this period" in rendered(whole, ".md", "en")
    assert "Ningún juicio salió bien" in rendered(whole, ".html", "es")
    archive.store.close()


def test_times_of_a_report_are_those_of_its_zone(tmp_path: Path) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    at = parse_local_time("2026-05-10T21:30")
    archive.add([Interaction("late", at, "q?", answer="a")]).result()
    archive.save_scores([ScoredInteraction("late", {"faithfulness": Score(0.2)})]).result()
    until = parse_local_time("2026-05-12T00:00", "Europe/Madrid")
    text = rendered(analyse_period(archive, "weekly", until, "Europe/Madrid"), ".md", "en")
    assert "2026-05-10 23:30:00" in text
    archive.store.close()


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("language", ["en", "es"])
def test_an_empty_period_and_one_interaction_are_reports_too(
    tmp_path: Path, count: int, language: str
) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    if count:
        archive.add([Interaction("only", NOW - watched.DAY, "q?", answer="a")]).result()
    whole = analyse_period(archive, "daily", NOW)
    said = {"en": "Nothing was judged in this period", "es": "No se juzgó nada en este periodo"}
    for ending in (".md", ".html"):
        assert said[language] in rendered(whole, ending, language)
    archive.store.close()
