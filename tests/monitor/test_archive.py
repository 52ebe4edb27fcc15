from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ragstone.config.alerts import Alerts, Channel
from ragstone.data.strict_json import BadRow
from ragstone.monitor import Archive, Feedback, Interaction, ScoredInteraction
from ragstone.monitor.alerts.alert import Alert, RuleResult, load_open_alerts, save_alerts
from ragstone.monitor.alerts.evaluation import _advance_alerts
from ragstone.monitor.alerts.outbox import enqueue_alert
from ragstone.monitor.interactions import interaction_to_json, parse_interaction
from ragstone.monitor.purge import drop_purged_examples
from ragstone.monitor.state import load_state, save_state
from ragstone.monitor.statements import HOUR_MICROS, get_bucket
from ragstone.store import Store
from ragstone.store.database import Connection
from ragstone.types import Chunk, Finding, Ranked, Score, Usage

AT = 1_780_000_000_000_000


def one(id: str = "a", at: int = AT, **more: object) -> Interaction:
    return replace(Interaction(id, at, "who?", Ranked((Chunk("d1", "text", 0.5),)), "him"), **more)


@pytest.fixture
def archive(place: str) -> Archive:
    return Archive(Store.open(place))


def test_an_interaction_comes_back_whole(archive: Archive) -> None:
    whole = one(
        question="¿quién? \ud800 \x00",
        reference="ref",
        feedback=0.25,
        comment="meh \x00",
        latency=1.5,
        cost=0.01,
        tokens=12,
        language="es",
        error="boom",
        meta={"model": "m", "beta": True, "shard": 3, "ratio": 0.5},
    )
    archive.add([whole]).result()
    assert archive.get("a") == whole
    assert archive.get("b") is None


def test_what_was_not_given_stays_unknown_and_an_empty_retrieval_stays_empty(
    archive: Archive,
) -> None:
    archive.add([Interaction("a", AT, "q"), Interaction("b", AT, "q", Ranked())]).result()
    assert archive.get("a") == Interaction("a", AT, "q")
    assert archive.get("b") == Interaction("b", AT, "q", Ranked())


def test_an_id_counts_once_and_its_first_content_stays(archive: Archive) -> None:
    first = archive.add([one("a"), one("b"), one("a", answer="other")]).result()
    again = archive.add([one("b", answer="other"), one("c")]).result()
    assert (first.new, first.repeated, again.new, again.repeated) == (2, 1, 1, 1)
    assert [found.answer for found in archive.interactions()] == ["him"] * 3
    assert archive.counters() == {"interactions": 3, "repeated": 2}


def test_thousands_go_in_at_once(archive: Archive) -> None:
    many = [one(f"i{n}", AT + n) for n in range(1234)]
    assert archive.add(many).result().new == 1234
    assert archive.add(many).result().repeated == 1234


def test_feedback_may_come_before_or_after_and_the_latest_counts(archive: Archive) -> None:
    archive.add_feedback([Feedback("a", AT + 1, 0.0)]).result()
    archive.add([one("a"), one("b")]).result()
    archive.add_feedback([Feedback("b", AT + 5, 1.0), Feedback("b", AT + 6, None, "ah")]).result()
    archive.add_feedback([Feedback("b", AT + 2, 0.0, "a late retry")]).result()
    found = {item.id: (item.feedback, item.comment) for item in archive.interactions()}
    assert found == {"a": (0.0, None), "b": (1.0, "ah")}


def test_interactions_by_time_slice_and_order(archive: Archive) -> None:
    archive.add(
        [one(f"i{n}", AT + n, meta={"model": "ab"[n % 2], "n": n}) for n in range(10)]
    ).result()

    def ids(**how: object) -> str:
        return "".join(item.id[1:] for item in archive.interactions(**how))  # type: ignore[arg-type]

    assert ids() == "9876543210"
    assert ids(since=AT + 3, until=AT + 6) == "543"
    assert ids(order="oldest", limit=3) == "012"
    assert ids(slice={"model": "b"}, limit=2) == "97"
    assert ids(slice={"model": "b", "n": "4"}) == ""


def test_scores_come_back_with_evidence_and_replace_earlier_ones(archive: Archive) -> None:
    archive.add([one("a")]).result()
    score = Score(0.5, findings=(Finding("c", "supported", quote="q"),), usage=Usage(1, 2, 3, 0.1))
    failed = Score(outcome="judge_error", kind="transport", reason="away")
    archive.save_scores([ScoredInteraction("a", {"faithfulness": failed})]).result()
    archive.save_scores(
        [ScoredInteraction("a", {"faithfulness": score, "x": failed}, False, 1.0)]
    ).result()
    assert archive.scores("a") == {"faithfulness": score, "x": failed}
    rows = archive.store.read("SELECT metric, value, outcome, drawn, calls FROM monitor_scores")
    assert sorted(rows) == [
        ("faithfulness", 0.5, "ok", 0, 1),
        ("x", None, "judge_error", 0, 0),
    ]


def test_every_change_marks_the_buckets_it_outdates(archive: Archive) -> None:
    def marked() -> list[int]:
        buckets = archive.store.read("SELECT DISTINCT bucket FROM monitor_dirty")
        archive.run(lambda db: db.execute("DELETE FROM monitor_dirty")).result()
        return sorted((bucket - get_bucket(AT)) // HOUR_MICROS for (bucket,) in buckets)

    archive.add([one("a"), one("b", AT + HOUR_MICROS), one("c", AT - HOUR_MICROS)]).result()
    assert marked() == [-1, 0, 1]
    archive.add([one("a")]).result()
    assert marked() == []
    archive.add_feedback([Feedback("b", AT, 1.0), Feedback("unknown", AT, 1.0)]).result()
    assert marked() == [1]
    archive.save_scores([ScoredInteraction("c", {"m": Score(1.0)})]).result()
    assert marked() == [-1]
    archive.purge(ids=["a"])
    assert marked() == [0]


def test_purge_by_id_leaves_nothing_of_it(archive: Archive) -> None:
    archive.add([one("a", feedback=1.0), one("b", feedback=0.0)]).result()
    archive.save_scores([ScoredInteraction(id, {"m": Score(1.0)}) for id in "ab"]).result()
    assert archive.purge(ids=["a", "unknown"]) == 1
    assert [item.id for item in archive.interactions()] == ["b"]
    for table in ("interaction_texts", "monitor_scores", "feedback"):
        assert archive.store.read(f"SELECT COUNT(*) FROM {table}") == [(1,)]
    archive.save_scores([ScoredInteraction("a", {"m": Score(1.0)})]).result()
    assert archive.scores("a") == {}


def test_purge_by_age_keeps_what_is_younger(archive: Archive) -> None:
    archive.add([one(f"i{n}", AT + n, feedback=1.0) for n in range(1100)]).result()
    assert archive.purge(before=AT + 1090) == 1090
    assert sum(1 for _ in archive.interactions()) == 10
    assert archive.store.read("SELECT COUNT(*) FROM feedback") == [(10,)]


SHOWN = {"examples": [{"id": id, "question": f"{id} asks?", "answer": f"{id} says"} for id in "ab"]}


def told(archive: Archive, id: str, closed: int | None, facts: dict[str, Any] = SHOWN) -> Alert:
    """An alert with examples in every place where one leaves its traces; its message was sent when it was over."""
    alert = Alert(id, f"drop:{id}", "drop", "firing", AT, AT, closed, "m", "", "", "fell", facts)

    def write(db: Connection) -> None:
        save_alerts(db, [alert])
        enqueue_alert(db, [Channel("log")], alert, AT)
        db.execute("UPDATE monitor_outbox SET sent = ? WHERE sent IS NULL", (closed,))
        save_state(db, "watch", json.dumps({"open": [alert.to_dict()]}), AT)
        day = {"mark": "x", "readings": [{"rule": "questions:topics", "facts": facts}]}
        save_state(db, "questions:day", json.dumps(day), AT)

    archive.run(write).result()
    return alert


def bodies(archive: Archive) -> str:
    """All that is kept about alerts."""
    tables = ("monitor_alerts", "monitor_alert_events", "monitor_outbox", "monitor_state")
    return "".join(
        text for name in tables for (text,) in archive.store.read(f"SELECT body FROM {name}")
    )


def test_purge_by_id_takes_its_texts_out_of_alerts_and_messages(archive: Archive) -> None:
    archive.add([one("a"), one("b")]).result()
    told(archive, "open", None)
    told(archive, "over", AT + 1)
    assert bodies(archive).count("a asks?") == 6
    archive.purge(ids=["a"])
    left = bodies(archive)
    assert "a asks?" not in left
    assert "a says" not in left
    assert left.count("b asks?") == 5  # the day's questions are worked out anew
    assert load_state(archive, "questions:day") is None
    assert [len(found.facts["examples"]) for found in load_open_alerts(archive)] == [1]


def test_what_is_purged_while_alerts_lack_it_leaves_them_alone(archive: Archive) -> None:
    archive.add([one(id) for id in "abc"]).result()
    told(archive, "open", None)
    archive.purge(ids=["c"])
    assert load_state(archive, "questions:day") is not None
    assert bodies(archive).count("asks?") == 8


def test_purge_by_age_forgets_alerts_that_were_over_and_messages_that_left(
    archive: Archive,
) -> None:
    archive.add([one("a"), one("b", AT + 20)]).result()
    told(archive, "old", AT + 1)
    told(archive, "young", AT + 15)
    told(archive, "open", None)
    archive.purge(before=AT + 10)
    read = archive.store.read
    assert read("SELECT id FROM monitor_alerts ORDER BY id") == [("open",), ("young",)]
    assert read("SELECT DISTINCT alert FROM monitor_alert_events ORDER BY alert") == [
        ("open",), ("young",),
    ]  # fmt: skip
    assert read("SELECT sent FROM monitor_outbox ORDER BY sent") in (
        [(None,), (AT + 15,)], [(AT + 15,), (None,)],
    )  # fmt: skip
    assert "a asks?" not in bodies(archive)
    assert "b asks?" in bodies(archive)


def test_a_round_of_watching_does_not_bring_back_what_was_purged_meanwhile(
    archive: Archive,
) -> None:
    archive.add([one("b")]).result()
    facts = archive.run(lambda db: drop_purged_examples(db, SHOWN)).result()
    assert [item["id"] for item in facts["examples"]] == ["b"]
    reading = RuleResult("drop:m", "drop", "firing", "m", title="fell", facts=SHOWN)
    settings = Alerts(channels=(Channel("log"),))
    archive.run(lambda db: _advance_alerts(db, settings, [reading], [], AT)).result()
    assert "b asks?" in bodies(archive)
    assert "a asks?" not in bodies(archive)


def test_counters_add_up_by_hour(archive: Archive) -> None:
    archive.count({"refused": 2, "lost": 1}).result()
    archive.count({"refused": 3, "nothing": 0}).result()
    assert archive.counters() == {"lost": 1, "refused": 5}
    assert archive.counters(since=2**60) == {}


def test_a_row_and_back() -> None:
    whole = one(latency=1.0, tokens=3, feedback=1.0, meta={"model": "m"}, language="en")
    assert parse_interaction(interaction_to_json(whole)) == whole


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ([], "not an object"),
        ({}, "neither question"),
        ({"question": 3}, '"question" is'),
        ({"question": "q", "qestion": "q"}, "did you mean 'question'"),
        ({"question": "q", "at": "yesterday"}, "ISO 8601"),
        ({"question": "q", "at": 12}, "before 2000"),
        ({"question": "q", "at": "2999-01-01T00:00:00Z"}, "a day ahead"),
        ({"question": "q", "id": "a b"}, "visible"),
        ({"question": "q", "id": "x" * 201}, "visible"),
        ({"question": "q", "id": ""}, "empty"),
        ({"question": "q", "feedback": 2}, "0 to 1"),
        ({"question": "q", "feedback": "nice"}, "0 to 1"),
        ({"question": "q", "latency": -1}, "number from 0"),
        ({"question": "q", "tokens": 1.5}, "whole number"),
        ({"question": "q", "contexts": "text"}, "list of texts"),
        ({"question": "q", "contexts": ["x"] * 1001}, "at most 1000"),
        ({"question": "q", "meta": []}, "give an object"),
        ({"question": "q", "meta": {"a": [1]}}, "meta.a"),
        ({"question": "q", "meta": {"a b": 1}}, "not a name"),
        ({"question": "q", "meta": {f"m{n}": n for n in range(33)}}, "at most 32"),
    ],
)
def test_a_bad_row_says_what_is_wrong(row: object, complaint: str) -> None:
    with pytest.raises(BadRow, match=complaint):
        parse_interaction(row)


def test_times_and_thumbs_as_people_write_them() -> None:
    times = ["2026-05-28T20:26:40Z", "2026-05-28T22:26:40+02:00", 1_780_000_000, 1_780_000_000.0]
    rows = [parse_interaction({"question": "q", "at": at}) for at in times]
    assert {found.at for found in rows} == {AT}
    thumbs = [True, "up", "👍", 1, False, "down", "👎", 0.0]
    found = [parse_interaction({"question": "q", "feedback": thumb}).feedback for thumb in thumbs]
    assert found == [1.0] * 4 + [0.0] * 4
