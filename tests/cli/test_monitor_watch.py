"""`ragstone monitor summary`, `status`, `check`, `alert test`, the alerts of a config, and /metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli import run
from ragstone.config import load
from ragstone.config.alerts import Alerts
from ragstone.errors import ConfigError
from ragstone.monitor import Archive, Feedback, Interaction, ScoredInteraction
from ragstone.monitor.drift.references import load_references
from ragstone.monitor.exposition import render_metrics
from ragstone.monitor.interactions import now_micros
from ragstone.store import Store
from ragstone.types import Score


@pytest.fixture
def store(tmp_path: Path) -> str:
    """30 interactions of the last half hour, all answered badly."""
    place = str(tmp_path / "m.db")
    kept = Store.open(place)
    archive = Archive(kept)
    now = now_micros()
    some = [
        Interaction(f"i{n}", now - (n + 1) * 60_000_000, "why?", answer="so", latency=0.5 + n / 10, meta={"model": "ab"[n % 2]})
        for n in range(30)
    ]  # fmt: skip
    archive.add(some, [Feedback("i1", now, 1.0)]).result()
    archive.save_scores(
        [ScoredInteraction(one.id, {"faithfulness": Score(0.25)}) for one in some]
    ).result()
    kept.close()
    return place


def write(folder: Path, alerts: str) -> str:
    file = folder / "c.yaml"
    file.write_text(f"monitor:\n  alerts:\n{alerts}", encoding="utf-8")
    return str(file)


def test_summary_shows_figures_whole_and_by_slice(store: str, capsys: Any) -> None:
    assert run(["monitor", "summary", "--window", "1h", "--by", "model", "--store", store]) == 0
    text = capsys.readouterr().out
    assert re.search(r"all +30\b", text)
    assert re.search(r"faithfulness +30 +0\.250", text)
    assert re.search(r"model=a +15\b", text)
    assert run(["monitor", "summary", "--json", "--where", "model=b", "--store", store]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["whole"]["interactions"] == 15
    assert plain["whole"]["metrics"]["faithfulness"]["coverage"] == 1


def test_summary_by_day_of_a_zone(store: str, capsys: Any) -> None:
    words = ["monitor", "summary", "--window", "2d", "--period", "day", "--zone", "Asia/Tokyo"]
    assert run([*words, "--json", "--store", store]) == 0
    days = json.loads(capsys.readouterr().out)
    assert sum(day["interactions"] for day in days) == 30


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--window", "yesterday"], "'yesterday' is no duration; write 5m"),
        (["--zone", "Mars/Base", "--period", "day"], "no time zone 'Mars/Base'"),
        (["--where", "model"], "--where is 'model'; write FIELD=VALUE"),
        (["--until", "noon"], "'noon' is no time"),
        (["--window", "0h"], "'0h' is not between a second and ten years; write 5m"),
        (["--window", "-1h"], "'-1h' is no duration; write 5m"),
        (["--by", "modell"], "no interaction has a field 'modell'; did you mean 'model'?"),
        (["--where", "colour=red"], "no interaction has a field 'colour'; known: model"),
    ],
)
def test_mistakes_are_one_sentence(store: str, words: list[str], said: str, capsys: Any) -> None:
    assert run(["monitor", "summary", *words, "--store", store]) == 2
    assert said in capsys.readouterr().err


def test_summary_says_how_many_slices_it_leaves_out(tmp_path: Path, capsys: Any) -> None:
    place = str(tmp_path / "m.db")
    kept = Store.open(place)
    now = now_micros()
    some = [
        Interaction(f"i{n}", now - n - 1, "q", meta={"user": f"u{n % 203}"}) for n in range(406)
    ]
    Archive(kept).add(some).result()
    kept.close()
    assert run(["monitor", "summary", "--by", "user", "--store", place]) == 0
    said = capsys.readouterr()
    assert said.out.count("user=u") == 200
    assert "and 3 more values of user; --where user=VALUE shows one" in said.err


def test_purging_an_id_leaves_no_slice_named_after_it(tmp_path: Path, capsys: Any) -> None:
    place = str(tmp_path / "m.db")
    kept = Store.open(place)
    at = now_micros() - 3 * 86_400_000_000
    some = [Interaction(f"i{n}", at + n, "q", meta={"user": f"person{n}"}) for n in range(3)]
    Archive(kept).add(some).result()
    assert run(["monitor", "summary", "--window", "7d", "--store", place]) == 0
    values = "SELECT value FROM monitor_rollups"
    assert ("person1",) in kept.read(values)
    assert run(["monitor", "purge", "--id", "i1", "--yes", "--store", place]) == 0
    assert kept.read(values)
    assert ("person1",) not in kept.read(values)
    kept.close()
    capsys.readouterr()


def test_check_fires_exits_1_and_status_repeats_it(store: str, tmp_path: Path, capsys: Any) -> None:
    config = write(
        tmp_path, "    hold: 1s\n    questions: false\n    channels: [{file: out/a.jsonl}]\n"
    )
    words = ["monitor", "check", "-c", config, "--store", store]
    assert run(words) == 0  # pending
    import time

    time.sleep(1.1)
    assert run(words) == 1
    captured = capsys.readouterr()
    assert "faithfulness mean is 0.25 over the last 1h" in captured.out
    assert "sent 1 message" in captured.err
    record = json.loads((tmp_path / "out" / "a.jsonl").read_text(encoding="utf-8"))
    assert record["state"] == "firing"
    assert len(record["facts"]["examples"]) == 3
    assert run(["monitor", "status", "--store", store, "--lang", "es"]) == 0
    assert "faithfulness mean es 0,25" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "is_reset"), [([], False), (["--new-reference"], True)])
def test_check_learns_a_new_reference_when_told_to(
    store: str, words: list[str], is_reset: bool, capsys: Any
) -> None:
    before = now_micros()
    run(["monitor", "check", *words, "--store", store])
    assert ("the reference is learned again from now on" in capsys.readouterr().err) is is_reset
    kept = Store.open(store)
    assert (load_references(Archive(kept), Alerts()).get("from", 0) >= before) is is_reset
    kept.close()


def test_status_before_any_check_says_what_to_do(store: str, capsys: Any) -> None:
    assert run(["monitor", "status", "--store", store]) == 0
    assert "run `ragstone monitor check`" in capsys.readouterr().err


def test_check_exits_with_3_while_quality_is_unknown(tmp_path: Path, capsys: Any) -> None:
    """Cron tells a drop (1) from a judge that fails or data that stays away (3)."""
    place = str(tmp_path / "m.db")
    kept = Store.open(place)
    assert run(["monitor", "check", "--store", place]) == 0
    assert "nothing was judged yet" in capsys.readouterr().err
    now = now_micros()
    some = [Interaction(f"i{n}", now - n * 60_000_000 - 1, "why?", answer="so") for n in range(30)]
    Archive(kept).add(some).result()
    failed = Score(outcome="judge_error", kind="refusal", reason="no")
    Archive(kept).save_scores(
        [ScoredInteraction(one.id, {"faithfulness": failed}) for one in some]
    ).result()
    kept.close()
    assert run(["monitor", "check", "--store", place]) == 3
    assert "judge failing" in capsys.readouterr().out


def test_alert_test_sends_by_every_channel_and_says_which_failed(tmp_path: Path, capsys: Any) -> None:  # fmt: skip
    """It needs no store: one tries it before anything is there."""
    config = write(
        tmp_path, "    channels: [log, {file: a.jsonl}, {webhook: 'http://127.0.0.1:9/x'}]\n"
    )
    assert run(["monitor", "alert", "test", "-c", config]) == 1
    said = capsys.readouterr().err
    assert "file: sent" in said
    assert "webhook: the receiver cannot be reached" in said
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8"))["rule"] == "test"
    place = tmp_path / "none.db"  # whoever names one as with the other commands is not turned away
    assert run(["monitor", "alert", "test", "-c", config, "--store", str(place)]) == 1
    assert "file: sent" in capsys.readouterr().err
    assert not place.exists()


def test_alerts_of_a_config_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", "https://example.org/T0K3N")
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    plan = load(
        write(
            tmp_path,
            "    reference: 2026-05-01/2026-05-08\n    false_alarms: 0.2\n    slices: [model]\n"
            "    thresholds: ['faithfulness < 0.6', 'latency p95 > 5', 'faithfulness coverage < 90%']\n"
            "    channels: [log, {webhook: '${HOOK}', secret: '${HOOK_KEY}'}]\n",
        )
    )
    assert plan.monitor is not None
    alerts = plan.monitor.alerts
    assert alerts.slices == ("model",)
    assert [str(threshold) for threshold in alerts.thresholds] == [
        "faithfulness < 0.6", "latency p95 > 5", "faithfulness coverage < 0.9",
    ]  # fmt: skip
    assert alerts.channels[1].secret is not None
    assert "T0K3N" not in repr(plan)


def test_every_mistake_in_the_alerts_is_named_at_once(tmp_path: Path) -> None:
    text = (
        "    reference: 2026-05-08/2026-05-01\n    false_alarms: 0\n    hold: soon\n    windw: 1h\n"
        "    thresholds: ['faithfulness']\n    questions: maybe\n"
        "    channels: [{webhook: 'ftp://x'}, {pigeon: x}, {webhook: 'https://x', secret: plain}]\n"
    )
    with pytest.raises(ConfigError) as bad:
        load(write(tmp_path, text))
    said = "\n".join(bad.value.complaints)
    for part in (
        "ends before it starts", "0 is no share", "'soon' is no duration", "unknown key 'windw'",
        "'faithfulness' is no threshold", "'maybe' is neither", "the webhook is no address",
        "unknown key 'pigeon'", "'secret' is written out",
    ):  # fmt: skip
        assert part in said


def test_prometheus_reads_what_is_written(store: str) -> None:
    pytest.importorskip("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families

    kept = Store.open(store)
    text = render_metrics(Archive(kept), now_micros())
    kept.close()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    values = {
        (s.name, *sorted(s.labels.items())): s.value
        for family in families.values()
        for s in family.samples
    }
    assert values[("ragstone_interactions_total",)] == 30
    assert values[("ragstone_score_mean", ("metric", "faithfulness"))] == 0.25
    assert values[("ragstone_alerts", ("state", "firing"))] == 0
    assert values[("ragstone_feedback_mean",)] == 1
    assert all(
        family.documentation and family.type in ("gauge", "counter") for family in families.values()
    )
    assert all(re.fullmatch(r"ragstone_[a-z_]+", name) for name in families)
    assert values[("ragstone_window_interactions",)] == 30
