"""A tenant breaks on day 24 of 30: one incident with the right onset, through import, scoring, evaluation and page."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragstone.cli import run
from ragstone.config.alerts import Alerts, Threshold
from ragstone.errors import DataError
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import Alert, load_alerts_between, load_open_alerts
from ragstone.monitor.alerts.evaluation import MonitorStatus, evaluate_alerts
from ragstone.monitor.alerts.handling import acknowledge_alert, add_note, mute_alert
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Interaction, to_micros
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import markdown, open_page
from ragstone.report.monitor.live import Frame, choose_words, render_overview
from ragstone.report.monitor.query import read_query
from ragstone.report.monitor.traffic_comparison import render_traffic_comparison
from ragstone.store import Store
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 4, tzinfo=UTC))
BREAK = START + 24 * DAY_MICROS
END = START + 30 * DAY_MICROS
QUIET = Alerts(questions=False, thresholds=())


def write_log(path: Path) -> None:
    """Three tenants, a question an hour by day; from day 24 on most answers to one of them are wrong."""
    generator = random.Random(4)
    with path.open("w", encoding="utf-8") as file:
        for hour in range(30 * 24):
            if not 8 <= hour % 24 < 20:
                continue
            for number in range(3):
                at = START + hour * HOUR_MICROS + number * 60_000_000
                tenant = ("acme", "beta", "gamma")[number % 3]
                share = 0.25 if tenant == "acme" and at >= BREAK else 0.97
                good = generator.random() < share
                row = {
                    "id": f"{hour}-{number}",
                    "at": at / 1e6,
                    "question": "How long is the warranty?",
                    "answer": "two years" if good else "ask the shop",
                    "reference": "two years",
                    "feedback": float(good) if number == 0 else None,
                    "meta": {"tenant": tenant},
                }
                file.write(json.dumps(row) + "\n")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Archive, MonitorStatus]]:
    folder = tmp_path_factory.mktemp("incident")
    write_log(folder / "log.jsonl")
    (folder / "m.yaml").write_text(
        "monitor:\n  metrics: [exact_match]\n  rate: 1\n", encoding="utf-8"
    )
    place = str(folder / "live.db")
    for arguments in (
        ["import", str(folder / "log.jsonl"), "--store", place],
        ["score", "-c", str(folder / "m.yaml"), "--store", place],
    ):
        assert run(["monitor", *arguments]) == 0
    store = Store.open(place)
    archive = Archive(store)
    yield archive, evaluate_alerts(archive, QUIET, END)
    store.close()


def test_one_incident_is_found_with_its_onset(broken: tuple[Archive, MonitorStatus]) -> None:
    archive, status = broken
    (alert,) = load_alerts_between(archive, START, END)
    assert alert.rule == "drop:exact_match"
    facts = alert.facts
    assert abs(facts["since_us"] - BREAK) <= 13 * HOUR_MICROS  # there are none at night
    low, high = facts["since_interval_us"]
    assert low - 13 * HOUR_MICROS <= BREAK <= high
    assert facts["reference_us"][1] <= low
    assert (facts["part"]["field"], facts["part"]["value"]) == ("tenant", "acme")
    assert all(example["value"] == 0 for example in facts["examples"])
    assert sum(example["value"] for example in facts["before_examples"]) >= 2
    assert facts["feedback"]["before"] > 0.9 > 0.5 > facts["feedback"]["after"]
    assert "exact_match fell from 0.9" in alert.title
    # imported in one go, yet dated by the hour that it was found in
    assert BREAK < alert.opened < BREAK + 2 * DAY_MICROS
    states = {stream.value: stream.state for stream in status.streams}
    assert states == {"": "firing", "acme": "firing", "beta": "ok", "gamma": "ok"}


def test_the_page_of_the_broken_tenant_has_no_good_mark(
    broken: tuple[Archive, MonitorStatus],
) -> None:
    archive, _ = broken
    for address in ({"window": "7d", "slice": "tenant:acme"}, {"window": "30d", "by": "tenant"}):
        query = read_query(address, END)
        page = render_overview(archive, Frame(choose_words("en", ""), query, END))
        assert "Compared with 2026-05-04" in page
        assert "Began about" in page
        acme = page[page.index("acme") :] if "by" in address else page
        badge = acme[acme.index('class="badge') :]
        assert not badge.startswith('class="badge good"')


def test_a_report_breaks_down_by_the_field_that_matters(
    broken: tuple[Archive, MonitorStatus],
) -> None:
    archive, _ = broken
    analysis = analyse_period(archive, "weekly", END)
    assert [field for field, _ in analysis.breakdowns] == ["tenant"]
    assert analysis.worst_by == "exact_match"
    text = markdown.render(open_page(analysis))
    assert "## By tenant" in text
    assert text.count("Means are weighted") == 1


def test_two_tenants_are_compared_on_a_page(broken: tuple[Archive, MonitorStatus]) -> None:
    archive, _ = broken
    frame = Frame(choose_words("en", ""), read_query({"window": "7d"}, END), END)
    values = {"a": "tenant:beta", "b": "tenant:acme", "window": "7d"}
    page = render_traffic_comparison(archive, frame, values)
    assert "tenant=acme is worse than tenant=beta in exact_match" in page
    assert "Both sides are the same" in render_traffic_comparison(
        archive, frame, {**values, "b": "tenant:beta"}
    )
    assert "was drawn and judged" in render_traffic_comparison(archive, frame, {"a": "tenant:none"})


def test_every_hour_of_a_replay_says_the_same_incident(
    broken: tuple[Archive, MonitorStatus],
) -> None:
    archive, _ = broken
    ids = set()
    for day in (26, 28):
        for alert in evaluate_alerts(archive, QUIET, START + day * DAY_MICROS).open:
            if alert.state == "firing":
                ids.add((alert.rule, alert.id))
    evaluate_alerts(archive, QUIET, END)
    assert len(ids) == 1


def test_people_acknowledge_mute_and_annotate(broken: tuple[Archive, MonitorStatus]) -> None:
    archive, _ = broken
    (alert,) = load_open_alerts(archive)
    acknowledge_alert(archive, alert.id[:6], "ana", "looking", END)
    mute_alert(archive, alert.id, END + DAY_MICROS, END)
    add_note(archive, alert.id, "ben", "index of acme\nlost", END)
    # the next round keeps what people did
    evaluate_alerts(archive, QUIET, END)
    (again,) = load_open_alerts(archive)
    assert again.acknowledged is not None
    assert (again.acknowledged.by, again.acknowledged.text) == ("ana", "looking")
    assert again.muted_until == END + DAY_MICROS
    assert [note.text for note in again.notes] == ["index of acme lost"]
    assert Alert.from_json(json.loads(json.dumps(again.to_dict()))) == again
    with pytest.raises(DataError, match="no alert 'zzzz'"):
        add_note(archive, "zzzz", "ben", "x", END)
    with pytest.raises(DataError, match="empty"):
        add_note(archive, alert.id, "ben", " ", END)


def test_a_sentence_cannot_say_fell_of_a_rise() -> None:
    facts = {"phrase": "drop", "metric": "hallucination_rate", "before": 0.555, "after": 0.933,
             "change": 0.378, "since": "today", "field": "", "value": ""}  # fmt: skip
    assert format_alert(facts).startswith("hallucination_rate rose from 0.555 to 0.933 (+0.378)")
    assert "subió" in format_alert(facts, "es")
    assert "fell" in format_alert({**facts, "after": 0.1, "change": -0.455})


def test_an_incident_of_old_data_is_recorded_after_it_is_over(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "live.db")
    archive, generator = Archive(store), random.Random(1)
    rows, scores = [], []
    for hour in range(24 * 12):
        bad = 24 * 9 <= hour < 24 * 10
        for number in range(15):
            row = Interaction(
                f"{hour}-{number}", START + hour * HOUR_MICROS + number, "q", answer="a"
            )
            rows.append(row)
            value = float(generator.random() < (0.5 if bad else 0.9))
            scores.append(ScoredInteraction(row.id, {"faithfulness": Score(value)}))
    archive.add(rows).result()
    archive.save_scores(scores).result()
    now = START + 12 * DAY_MICROS
    for _ in range(2):
        assert evaluate_alerts(archive, QUIET, now).open == ()
    (alert,) = load_alerts_between(archive, START, now)
    assert alert.state == "resolved"
    assert abs(alert.facts["since_us"] - (START + 9 * DAY_MICROS)) <= 2 * HOUR_MICROS
    assert alert.closed is not None
    assert alert.closed - (START + 10 * DAY_MICROS) <= 12 * HOUR_MICROS
    assert archive.store.read("SELECT COUNT(*) FROM monitor_outbox") == [(0,)]
    # nor does the reference hold the bad day
    reference = json.loads(
        archive.store.read("SELECT body FROM monitor_state WHERE name = 'reference'")[0][0]
    )
    assert reference["drop:faithfulness"]["reference"]["mean"] > 0.88
    store.close()


@pytest.mark.parametrize(
    ("values", "rule", "state"),
    [
        ([0.0] * 6, Threshold("faithfulness", "mean", "<", 0.6), "firing"),
        ([0.0, 1.0, 0.5], Threshold("faithfulness", "mean", "<", 0.6), "waiting, 3 scores cross"),
        ([0.0] * 6, Threshold("faithfulness", "p50", "<", 0.6), "waiting, 6 of the 20"),
        ([], Threshold("faithfulness", "mean", "<", 0.6), "waiting, no scores"),
        ([1.0] * 6, Threshold("faithfulness", "mean", "<", 0.6), ""),
    ],
)  # fmt: skip
def test_a_threshold_works_with_few_scores_or_says_why_it_waits(
    tmp_path: Path, values: list[float], rule: Threshold, state: str
) -> None:
    store = Store.open(tmp_path / "live.db")
    archive = Archive(store)
    rows = [Interaction(f"{n}", START + n, "q", answer="a") for n in range(len(values))]
    archive.add(rows).result()
    archive.save_scores(
        [
            ScoredInteraction(row.id, {"faithfulness": Score(value)})
            for row, value in zip(rows, values, strict=True)
        ]
    ).result()
    settings = Alerts(questions=False, thresholds=(rule,), hold="1s")
    for _ in range(2):
        status = evaluate_alerts(archive, settings, START + 60_000_000 * (1 + _))
    states = [alert.state for alert in status.open if alert.kind == "threshold"]
    assert states == (["firing"] if state == "firing" else [])
    waiting = [format_alert(facts) for facts in status.waiting]
    assert ([state in text for text in waiting] or [True]) == [True]
    assert bool(waiting) == state.startswith("waiting")
    store.close()
