"""The sample beside the list of the review page: what each run answered, its claims and evidence, and what can be done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from ragstone.analysis.scales import find_scales
from ragstone.engine.replay import JudgeCall, replay_calls
from ragstone.labels import Label, load_labels
from ragstone.labels.label import hash_content
from ragstone.labels.units import find_metric
from ragstone.report.comparison.samples import mark_differences
from ragstone.report.html import render_sample
from ragstone.report.remarks import shorten
from ragstone.report.samples import GENEROUS, SampleView, open_sample
from ragstone.report.translator import Translator
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.review_page import ReviewData, ReviewList, name_failure
from ragstone.report.view.run_samples import RunSamples
from ragstone.store import RunInfo, StoredRow, StoredRun

MAX_OTHER_RUNS = 20
MAX_CALLS = 50
MAX_PROMPT_CHARS = 20_000
MAX_ANSWER_CHARS = 6_000


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """What one run answered."""

    number: int
    name: str
    href: str
    """Shows most of this run."""
    is_chosen: bool
    is_missing: bool
    """Whether the run does not have the question."""
    error: str
    parts: tuple[tuple[str, bool], ...]
    """The answer in stretches, and whether each is not in the baseline's."""
    score: str
    level: str
    kind: str


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


def render_pane(
    data: ReviewData,
    at: int,
    others: Sequence[tuple[StoredRun, int]],
    listed: ReviewList | None = None,
) -> str:
    """The sample at a position of the listed run; `others` are further runs that have it, with its position in each.

    `listed` is the page of the list beside it, where that is at hand."""
    frame, t, state = data.frame, data.frame.t, data.state
    heads = data.samples.read_heads([at])
    places = {
        entry.info.id: at
        if entry is data.of
        else data.samples.find_in_peer(entry.run, heads).get(at)
        for entry in data.entries
    }
    number = frame.get_number("column", data.entries.index(data.of) + 1, len(data.entries))
    if places[data.entries[number - 1].info.id] is None:
        number = data.entries.index(data.of) + 1
    entry = data.entries[number - 1]
    rows = [
        entry.run.row(there) if (there := places[entry.info.id]) is not None else None
        for entry in data.entries
    ]
    row = rows[number - 1]
    assert row is not None
    assert entry.summary is not None
    view = open_sample(row, entry.summary.metrics, t, find_scales(entry.run)).build_view(GENEROUS)
    kind = RunSamples(entry.run).read_traits("class", [row.position]).get(row.position, "")
    place = listed.find_place(at) if listed is not None else None
    if place is None:
        place = data.samples.find_place(data.query, at)
    count = data.samples.count(data.query) if listed is None else listed.count
    before = state.href(at=place.before) if place is not None and place.before is not None else ""
    after = state.href(at=place.after) if place is not None and place.after is not None else ""
    back = urlencode(parse_qsl(urlsplit(state.href(at=at, column=number, number=state.page)).query))
    return frame.fill(
        "review_pane.html.j2",
        s=view,
        row=row,
        entry=entry,
        at=at,
        number=number,
        state=state,
        answers=[] if data.is_single else _list_answers(data, rows, at, number),
        body=render_sample(
            view,
            t,
            is_open=True,
            is_alone=True,
            is_titled=True,
            said=place_labels(view, row, entry.run, t),
        ),
        kind=name_failure(kind, t),
        place=t(
            "view.in_order",
            n=t.whole(place.rank + 1),
            total=t.whole(count),
        )
        if place
        else "",
        before=before,
        testset=frame.testset,
        can_ask=frame.can_run and not find_obstacle(entry.run.info),
        after=after,
        back=back,
        close=state.href(number=state.page),
        labels=view_labels(row, entry.run, t),
        claims=_list_claims(entry.run, row),
        calls_href=frame.href("calls", run=entry.info.id, at=str(row.position)),
        label_href=frame.href("label", run=entry.info.id, at=str(row.position), state=back),
        others=[_describe_other(frame, other, there) for other, there in others],
        meta=[(str(name), shorten(str(value), 300)) for name, value in row.sample.meta.items()][
            :30
        ],
    )


def find_obstacle(info: RunInfo) -> str:
    """Why a sample of a run cannot be asked again; empty where it can."""
    if info.plan.system is None:
        return "its answers came with the data"
    held = sorted({"system", "metrics", "judge"} & set(info.facts.in_memory))
    if held:
        return f"its {held[0]} was a Python object"
    return f"the secret of {info.facts.lost[0]!r} is not stored" if info.facts.lost else ""


def _list_answers(
    data: ReviewData, rows: Sequence[StoredRow | None], at: int, chosen: int
) -> list[RunAnswer]:
    """The answers of all runs; what a run's answer has and the baseline's has not is marked."""
    t, metric = data.frame.t, data.state.metric
    base = rows[0].sample.answer if rows[0] is not None else None
    answers = []
    for number, (entry, row) in enumerate(zip(data.entries, rows, strict=True), 1):
        answer = (row.sample.answer or "")[:MAX_ANSWER_CHARS] if row is not None else ""
        parts: tuple[tuple[str, bool], ...] = ((answer, False),)
        if row is not None and base and number > 1:
            parts = mark_differences(base[:MAX_ANSWER_CHARS], answer)[1]
        score = row.scores.get(metric) if row is not None else None
        kinds = {} if row is None else RunSamples(entry.run).read_traits("class", [row.position])
        answers.append(
            RunAnswer(
                number=number,
                name=shorten(entry.info.name or entry.info.id, 80),
                href=data.state.href(at=at, column=number, number=data.state.page),
                is_chosen=number == chosen,
                is_missing=row is None,
                error=shorten(t.system_error(row.sample, row.scores), 400)
                if row is not None
                else "",
                parts=parts if answer else (),
                score=""
                if score is None
                else t.number(score.value)
                if score.ok
                else t.outcome(score.outcome),
                level="good" if score is not None and score.ok else "warn",
                kind=name_failure(next(iter(kinds.values()), ""), t),
            )
        )
    return answers


def _list_claims(run: StoredRun, row: StoredRow) -> list[str]:
    """The claims of a sample that a person can label, as findings name them."""
    metric = find_metric(run, "claim")
    score = row.scores.get(str(metric["name"])) if metric is not None else None
    return (
        list(dict.fromkeys(f.text for f in score.findings if f.text)) if score is not None else []
    )


# ── labels ────────────────────────────────────────────────────────────────────────────────


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
            keys = [
                f"c{f.number}"
                for f in view.findings
                if f.text == label.item and name in f.metrics.split(", ")
            ]
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
        t.translate("target", label.target),
        shorten(label.item, 200),
        shorten(value, 400),
        shorten(label.author, 80),
        at,
        shorten(label.comment, 400),
    )


# ── the judge's calls ─────────────────────────────────────────────────────────────────────


def render_calls(frame: ViewFrame, run: StoredRun, row: StoredRow) -> str:
    """The calls behind the scores of a sample."""
    calls = replay_calls(run, row)[:MAX_CALLS]
    return frame.fill(
        "view_calls.html.j2",
        title=shorten(row.sample.question or frame.t("no_question"), 240),
        run_name=shorten(run.info.name or run.id, 80),
        judge=run.info.judge or "",
        back=frame.href("review", run=run.id, at=str(row.position)),
        calls=[_view_call(call, frame.t) for call in calls],
    )


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
                t(
                    "view.call_tokens",
                    sent=t.whole(usage.input_tokens),
                    received=t.whole(usage.output_tokens),
                ),
                t.money(usage.usd),
            ]
        else:  # a text of one sentence is one claim, and embeddings count no tokens
            facts.append(t("view.call_free"))
    system, user = call.prompt or ("", "")
    if call.prompt is None and call.ask.kind != "embed":
        user = json.dumps(call.ask.values, ensure_ascii=False, indent=2, default=str)
    reply = (
        ""
        if stored is None or call.ask.kind == "embed"
        else json.dumps(stored.reply.value, ensure_ascii=False, indent=2)
    )
    return CallView(
        t.translate("view.ask", call.ask.kind),
        tuple(facts),
        system[:MAX_PROMPT_CHARS],
        user[:MAX_PROMPT_CHARS],
        reply[:MAX_PROMPT_CHARS],
    )


def _say_time(seconds: float | None, t: Translator) -> list[str]:
    """How long the judge took; nothing for a reply that an older version stored."""
    if seconds is None:
        return []
    return [t("view.call_time", seconds=t.number(seconds, 3 if seconds < 1 else 1))]


def _describe_other(frame: ViewFrame, run: StoredRun, position: int) -> tuple[str, str]:
    """The name of a run that has the sample too, and the address of the sample there."""
    name = shorten(run.info.name or run.id, 80)
    return name, frame.href("review", run=run.id, at=str(position))
