"""The page of one sample: its claims and chunks, the judge's calls behind them, labels, and the sample in other runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.analysis.scales import find_scales
from ragstone.engine.replay import JudgeCall, replay_calls
from ragstone.errors import RunNotFound
from ragstone.labels import Label, load_labels
from ragstone.labels.label import hash_content
from ragstone.labels.units import find_metric
from ragstone.report.html import render_sample
from ragstone.report.remarks import shorten
from ragstone.report.samples import GENEROUS, SampleView, open_sample
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_page import open_state, resolve_query
from ragstone.report.view.run_samples import RunSamples
from ragstone.report.view.sample_state import SampleState
from ragstone.report.view.summaries import choose_headline
from ragstone.store import StoredRow, StoredRun

MAX_OTHER_RUNS = 20
MAX_CALLS = 50
MAX_PROMPT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class CallView:
    """A question to the judge as the page shows it."""

    title: str
    facts: tuple[str, ...]
    system: str
    user: str
    reply: str


@dataclass(frozen=True, slots=True)
class LabelView:
    """A label as the page shows it."""

    target: str
    item: str
    value: str
    author: str
    at: str
    comment: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where a sample stands in the filtered order."""

    number: int
    total: int
    before: str
    after: str


def render_sample_page(
    frame: ViewFrame, entry: RunEntry, samples: RunSamples, others: Sequence[tuple[StoredRun, int]]
) -> str:
    """The page; `others` are other runs that have the sample, with its position in each."""
    t, run = frame.t, entry.run
    assert entry.summary is not None
    position = frame.get_number("at", 1, max(samples.rows, 1))
    if not samples.rows:
        raise RunNotFound("the run has no sample yet")
    row = run.row(position)
    view = open_sample(row, entry.summary.metrics, t, find_scales(run)).build_view(GENEROUS)
    state = open_state(frame, entry)
    calls = replay_calls(run, row)
    return frame.fill(
        "view_sample.html.j2",
        title=view.title or t("no_question"), s=view, state=state, run_name=shorten(run.info.name, 80),
        body=render_sample(view, t, is_open=True, is_alone=True, said=place_labels(view, row, run, t)),
        place=find_neighbours(state, samples, run, position),
        labels=view_labels(row, run, t),
        calls=[_view_call(call, t) for call in calls[:MAX_CALLS]],
        judge=run.info.judge or "",
        others=[_describe_other(frame, other, at, row.id) for other, at in others],
        label_href=state.href("label", at=position) if frame.can_edit else "",
        meta=[(str(name), shorten(str(value), 300)) for name, value in row.sample.meta.items()][:30],
    )  # fmt: skip


def find_neighbours(
    state: SampleState, samples: RunSamples, run: StoredRun, position: int
) -> Neighbours | None:
    """The samples before and after in the filtered order; None for a sample that the filter leaves out."""
    query = resolve_query(state, samples, run)
    place = samples.find_place(query, position)
    if place is None:
        return None
    before = state.href("sample", at=place.before) if place.before is not None else ""
    after = state.href("sample", at=place.after) if place.after is not None else ""
    return Neighbours(place.rank + 1, samples.count(query), before, after)


def list_labels(row: StoredRow, run: StoredRun) -> list[Label]:
    """What people said of a sample, where the texts that they saw are the same."""
    labels = []
    for label in load_labels(run.store):
        if label.sample != row.id or label.run == "monitor":
            continue
        is_same = label.content == hash_content(row.sample, label.target, label.item)
        if is_same or (not label.content and label.run in ("", run.id)):
            labels.append(label)
    return labels


def view_labels(row: StoredRow, run: StoredRun, t: Translator) -> list[LabelView]:
    """The same in words."""
    return [_view_label(label, t) for label in list_labels(row, run)]


def place_labels(
    view: SampleView, row: StoredRow, run: StoredRun, t: Translator
) -> dict[str, list[str]]:
    """What people said, by the part of the sample that they said it of, to stand beside the judge; see `render_sample`."""
    said: dict[str, list[str]] = {}
    for label in list_labels(row, run):
        metric = find_metric(run, label.target, label.item)
        if metric is None or label.is_skip or label.is_withdrawn:
            continue
        name, shown = str(metric["name"]), _view_label(label, t)
        if label.target == "claim":
            keys = [f"c{f.number}" for f in view.findings if f.text == label.item and name in f.metrics.split(", ")]  # fmt: skip
        elif label.target == "chunk":
            keys = [f"k{c.rank}" for c in view.chunks or () if label.item == (c.id or str(c.rank))]
        else:
            keys = [name]
        for key in keys:
            said.setdefault(key, []).append(f"{shown.author}: {shown.value}")
    return said


def _view_label(label: Label, t: Translator) -> LabelView:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(label.at / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC")
    value = t.translate("verdict", label.word) if label.word else t.number(label.value, 2)
    return LabelView(
        t.translate("target", label.target), shorten(label.item, 200), shorten(value, 400),
        shorten(label.author, 80), at, shorten(label.comment, 400),
    )  # fmt: skip


def _view_call(call: JudgeCall, t: Translator) -> CallView:
    stored = call.stored
    if stored is None:
        facts = [t("view.call_failed")]
    else:
        usage, at = stored.usage, stored.created[:19].replace("T", " ")
        facts = [stored.judge, f"{at} UTC"]
        if usage.calls:
            facts += [
                t("view.call_paid" if call.is_own else "view.call_cached", run=stored.run),
                t.count("view.attempt", usage.calls),
                *_say_time(stored.reply.seconds, t),
                t("view.call_tokens", sent=t.whole(usage.input_tokens), received=t.whole(usage.output_tokens)),
                t.money(usage.usd),
            ]  # fmt: skip
        else:  # a text of one sentence is one claim, and embeddings count no tokens
            facts.append(t("view.call_free"))
    system, user = call.prompt or ("", "")
    if call.prompt is None and call.ask.kind != "embed":
        user = json.dumps(call.ask.values, ensure_ascii=False, indent=2, default=str)
    reply = "" if stored is None or call.ask.kind == "embed" else json.dumps(stored.reply.value, ensure_ascii=False, indent=2)  # fmt: skip
    return CallView(
        t.translate("view.ask", call.ask.kind), tuple(facts),
        system[:MAX_PROMPT_CHARS], user[:MAX_PROMPT_CHARS], reply[:MAX_PROMPT_CHARS],
    )  # fmt: skip


def _say_time(seconds: float | None, t: Translator) -> list[str]:
    """How long the judge took; nothing for a reply that an older version stored."""
    if seconds is None:
        return []
    return [t("view.call_time", seconds=t.number(seconds, 3 if seconds < 1 else 1))]


def _describe_other(
    frame: ViewFrame, run: StoredRun, position: int, sample: str
) -> tuple[str, str, list[tuple[str, str]], str]:
    """Name and address of the sample in another run, its scores there, and its answer."""
    t, row = frame.t, run.row(position)
    names = [name for name in choose_headline(run.info.metrics)[:4] if name in row.scores]
    scores = [
        (name, t.number(row.scores[name].value) if row.scores[name].ok else t.outcome(row.scores[name].outcome))
        for name in names
    ]  # fmt: skip
    href = frame.href("sample", run=run.id, at=str(position))
    answer = row.sample.answer or row.sample.error or t("no_answer")
    return shorten(run.info.name or run.id, 80), href, scores, shorten(answer, 400)
