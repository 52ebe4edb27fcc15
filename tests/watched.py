"""Stores of a live system for tests of the page and the reports: a fortnight with a drop at its end."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from ragstone.judges.scale import ControlValues, JudgeScale
from ragstone.monitor import Archive, Interaction, ScoredInteraction
from ragstone.monitor.alerts.alert import Alert, save_alerts
from ragstone.monitor.alerts.drop_rules import MetricStream
from ragstone.monitor.alerts.evaluation import MonitorStatus
from ragstone.monitor.scoring.queue import save_scorer_status
from ragstone.monitor.state import save_state
from ragstone.store import save_scales
from ragstone.types import Chunk, Finding, Ranked, Score, Usage

DAY = 86_400_000_000
TEXT = "Employees receive 23 days of leave in their first year and 27 days from the fifth on."
ANSWER = "You get 23 days of leave in your first year. You may carry over ten days."


def interaction(number: int, at: int, generator: random.Random) -> Interaction:
    """One question about leave, of one of two models and three tenants."""
    disliked = number % 40 == 7
    return Interaction(
        id=f"i-{number}",
        at=at,
        question=f"How many days of leave do I get? ({number})",
        contexts=Ranked((Chunk("hr-12", TEXT, 0.82), Chunk("hr-40", "Travel is approved.", 0.4))),
        answer=ANSWER,
        feedback=0.0 if disliked else 1.0 if number % 10 == 3 else None,
        comment="the number is wrong" if disliked else None,
        latency=generator.gammavariate(4, 0.3),
        cost=0.002,
        tokens=500,
        language="en",
        meta={"model": ("large", "small")[number % 2], "tenant": ("a", "b", "c")[number % 3]},
    )


def scores(value: float) -> dict[str, Score]:
    """A judged interaction with a claim that is supported and one that is not."""
    quote = "23 days of leave in their first year"
    start = TEXT.index(quote)
    findings = (
        Finding(ANSWER[:44], "supported", "", "hr-12", quote, start, start + len(quote), True, (0, 44)),
        Finding(ANSWER[45:], "not_found", "no chunk speaks of it", span=(45, len(ANSWER))),
    )  # fmt: skip
    return {
        "faithfulness": Score(value, findings=findings, usage=Usage(2, 900, 120, 0.0007)),
        "answer_relevance": Score(0.9),
    }


def fill(archive: Archive, count: int, now: int, *, days: int = 14, seed: int = 1) -> None:
    """So many interactions up to now, a third of them judged; over the last two days the small model is worse."""
    generator = random.Random(seed)
    step = days * DAY // count
    asked = [
        interaction(number, now - (count - number) * step, generator) for number in range(count)
    ]
    judged = []
    for one in asked[::3]:
        value = 1.0 if generator.random() < 0.55 else generator.betavariate(4, 2)
        if one.at > now - 2 * DAY and one.meta["model"] == "small":
            value = max(0.0, value - 0.5)
        judged.append(ScoredInteraction(one.id, scores(round(value, 3))))
    for at in range(0, count, 1000):
        archive.add(asked[at : at + 1000]).result()
    for at in range(0, len(judged), 1000):
        archive.save_scores(judged[at : at + 1000]).result()
    measure(archive)


def measure(archive: Archive) -> None:
    """A judge that was measured, so that conclusions may be drawn from its scores."""
    good, bad = ControlValues(0.9, 0.1, 100), ControlValues(0.2, 0.1, 100)
    scales = [
        JudgeScale("j", "a judge", language, "faithfulness", good, bad, 0.6, 1.0, 1.0, 0.5, 1.0, "check", "2026-11-17")
        for language in ("en", "es")
    ]  # fmt: skip
    save_scales(archive.store, scales)
    save_scorer_status(archive, {"judge": "a judge", "judge_identity": "j"})


def drop(now: int, text: str = "small", example: str = "i-1") -> Alert:
    """A firing alert of faithfulness, with everything that an alert can say."""
    facts = {
        "phrase": "drop", "metric": "faithfulness", "field": "", "value": "", "before": 0.85,
        "after": 0.7, "change": -0.15, "since": "2026-05-01 10:00 UTC", "since_us": now - DAY,
        "part": {"field": "model", "value": text, "explained": 0.9, "before": 0.86, "after": 0.5, "share": 0.4},
        "examples": [{"id": example, "value": 0.1, "question": text, "answer": text}],
        "advice": [{"symptom": {"en": text, "es": text}, "causes": [{"cause": {"en": text}, "advice": {"en": text}}]}],
    }  # fmt: skip
    return Alert(
        id=f"alert{now % 1000}", rule="drop:faithfulness", kind="drop", state="firing",
        opened=now - DAY, changed=now - DAY, closed=None, metric="faithfulness", field="", value="",
        title=text, facts=facts, notified=True,
    )  # fmt: skip


def keep(archive: Archive, alerts: list[Alert], now: int) -> None:
    """Leave alerts and a status as a round of watching would."""
    streams = (
        MetricStream("faithfulness", "", "", "firing", 0.85, 0.7, 1.0),
        MetricStream("answer_relevance", "", "", "ok", 0.9, 0.9, 0.0),
    )
    status = MonitorStatus(now, "firing", streams, tuple(alerts))

    def write(db: object) -> None:
        save_alerts(db, alerts)  # type: ignore[arg-type]
        save_state(db, "watch", json.dumps(status.to_dict()), now)  # type: ignore[arg-type]

    archive.run(write).result()


def over(one: Alert, at: int) -> Alert:
    """The alert, resolved."""
    return replace(one, id=f"{one.id}over", state="resolved", changed=at, closed=at)
