"""The pages to label on: the next unit of the queue, all units of one sample, or two answers side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from ragstone.labels import Label, LabelSession, Target, load_labels
from ragstone.labels.label import SKIP, hash_content
from ragstone.labels.session import count_answers
from ragstone.labels.units import JUDGED_BY, find_metric
from ragstone.report.ledger import choose_severity
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.review_pane import view_labels
from ragstone.store import StoredRow, StoredRun

Keys = tuple[tuple[str, str, str], ...]
"""Key, value as the form sends it, word of the catalogue."""

YES_NO: Keys = (("y", "1", "view.yes"), ("n", "0", "view.no"))
KEYS: Mapping[Target, Keys] = {
    "claim": (
        ("s", "supported", "verdict.supported"),
        ("c", "contradicted", "verdict.contradicted"),
        ("n", "not_found", "verdict.not_found"),
    ),
    "chunk": (
        ("0", "0", "verdict.not_relevant"),
        ("1", "0.5", "verdict.partly_relevant"),
        ("2", "1", "verdict.relevant"),
    ),
}
PREFERENCES: Keys = (("1", "left", "view.left"), ("2", "right", "view.right"), ("t", "tie", "view.tie"))  # fmt: skip
QUEUE_TARGETS: tuple[Target, ...] = tuple(JUDGED_BY)
ANSWER_TARGETS: tuple[Target, ...] = ("support", "correctness", "relevance", "refusal")
MAX_SHOWN_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class UnitView:
    """Something that a person is asked to label."""

    target: Target
    item: str
    text: str
    question: str
    """What is asked."""
    keys: tuple[tuple[str, str, str], ...]
    """Key, value and word of each answer."""
    judged: str = ""
    """What the judge says; empty where it is not shown."""
    severity: str = ""
    given: str = ""
    """What this person said before."""


def build_keys(target: Target, t: Translator) -> tuple[tuple[str, str, str], ...]:
    """The answers that a target can be given."""
    keys = PREFERENCES if target == "preference" else KEYS.get(target, YES_NO)
    return tuple((key, value, t(phrase)) for key, value, phrase in keys)


def render_start(frame: ViewFrame, entries: Sequence[RunEntry], why: str = "") -> str:
    """The page on which one says what to label; `why` the last choice could not be taken."""
    runs = [(e.info.id, shorten(e.info.name or e.info.id, 80), [t for t in QUEUE_TARGETS if find_metric(e.run, t)]) for e in entries]  # fmt: skip
    return frame.fill(
        "view_label_start.html.j2", title=frame.t("view.nav.label"), why=why,
        runs=[run for run in runs if run[2]], answers=[(id, name) for id, name, _ in runs],
        targets=[(target, frame.t.translate("target", target)) for target in QUEUE_TARGETS],
    )  # fmt: skip


def render_queue(frame: ViewFrame, session: LabelSession) -> str:
    """The next unit of the queue of `ragstone label --next`; the judge's verdict is not shown, so that it sways nobody."""
    t, run, target = frame.t, session.run, session.target
    answered, skipped = count_answers(session.own_labels)
    own = session.own_labels
    # one drawn at random, one that the judge is unsure of, in turn: a batch of one would never be drawn at random
    choices = session.choose_next(2)
    unit, row = None, None
    if choices:
        chosen = choices[len(own) % len(choices)].unit
        row = run.row(chosen.position)
        text = _find_text(row, target, chosen.item)
        unit = UnitView(target, chosen.item, text, t(f"view.asks.{target}"), build_keys(target, t))  # fmt: skip
    return frame.fill(
        "view_label.html.j2", title=t("view.labelling", target=t.translate("target", target)),
        run=run, run_name=shorten(run.info.name or run.id, 80), unit=unit, row=row,
        position=row.position if row else 0, chunks=_list_chunks(row, target, unit.item if unit else ""),
        shows_reference=target == "correctness", shows_answer=target != "chunk",
        progress=t("view.label_progress", n=t.whole(answered), skipped=t.whole(skipped), total=t.whole(session.total)),
        last=own[-1] if own else None, skip=SKIP, target=target, most=MAX_SHOWN_CHARS,
    )  # fmt: skip


def render_sample_labels(frame: ViewFrame, run: StoredRun, row: StoredRow) -> str:
    """All units of one sample with what the judge says, to be agreed with or corrected."""
    t = frame.t
    own = {
        (label.target, label.item): label
        for label in load_labels(run.store)
        if label.sample == row.id and label.author == frame.author
        and label.content == hash_content(row.sample, label.target, label.item)
    }  # fmt: skip
    units = _list_units(run, row, own, t)
    unlabelled = next((number for number, unit in enumerate(units, 1) if not unit.given), 1)
    current = frame.get_number("unit", unlabelled, max(len(units), 1))
    state = frame.get(
        "state", 4000
    )  # the address of the review page to go back to, without its path
    place = {"run": run.id, "at": str(row.position), "state": state}
    back = frame.href("review", run=run.id, at=str(row.position))
    if state:
        back = f"review?{urlencode(parse_qsl(state))}"
    return frame.fill(
        "view_label_sample.html.j2", title=shorten(row.sample.question or t("no_question"), 240),
        run=run, row=row, position=row.position, run_name=shorten(run.info.name or run.id, 80),
        units=units, labels=view_labels(row, run, t), chunks=_list_chunks(row, "claim", ""),
        note=own[("note", "")].word if ("note", "") in own else "", most=MAX_SHOWN_CHARS,
        current=current, state=state, back=back,
        steps=[
            frame.href("label", **place, unit=str(number)) + f"#u{number}" if 1 <= number <= len(units) else ""
            for number in (current - 1, current + 1)
        ],
    )  # fmt: skip


def render_preference(
    frame: ViewFrame, run: StoredRun, against: StoredRun, row: StoredRow | None, other: StoredRow | None, left: int
) -> str:  # fmt: skip
    """Two answers to one question, in an order that depends on the sample, without the names of their runs."""
    t = frame.t
    rows = (row, other)
    if row is not None and is_swapped(row.id):
        rows = (other, row)
    answers = [shorten_answer(side, t) for side in rows if side is not None]
    return frame.fill(
        "view_preference.html.j2", title=t("view.asks.preference"), run=run, against=against, row=row,
        answers=answers, keys=build_keys("preference", t), left=t.whole(left), skip=SKIP,
        position=row.position if row else 0,
    )  # fmt: skip


def shorten_answer(row: StoredRow, t: Translator) -> str:
    """The answer of a run, or why there is none."""
    return (row.sample.answer or row.sample.error or t("no_answer"))[:MAX_SHOWN_CHARS]


def is_swapped(sample: str) -> bool:
    """Whether the second run's answer stands on the left: half of the samples, the same for everybody."""
    return hashlib.sha256(sample.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 1


def _list_units(
    run: StoredRun, row: StoredRow, own: Mapping[tuple[Target, str], Label], t: Translator
) -> list[UnitView]:
    units: dict[tuple[Target, str], UnitView] = {}
    targets: tuple[Target, ...] = ("claim", "chunk")
    for target in targets:
        metric = find_metric(run, target)
        score = row.scores.get(str(metric["name"])) if metric is not None else None
        for finding in score.findings if score is not None else ():
            item = finding.text if target == "claim" else finding.chunk
            if item and (target, item) not in units:
                units[target, item] = UnitView(
                    target, item, _find_text(row, target, item), t(f"view.asks.{target}"),
                    build_keys(target, t), t.translate("verdict", finding.shown_verdict),
                    choose_severity(finding.shown_verdict), _format_given(own.get((target, item)), t),
                )  # fmt: skip
    for target in ANSWER_TARGETS:
        if row.sample.answer is not None:
            metric = find_metric(run, target)
            score = row.scores.get(str(metric["name"])) if metric is not None else None
            judged = t.number(score.value) if score is not None and score.ok else ""
            units[target, ""] = UnitView(
                target, "", "", t(f"view.asks.{target}"), build_keys(target, t), judged, "",
                _format_given(own.get((target, "")), t),
            )  # fmt: skip
    return list(units.values())


def _format_given(label: Label | None, t: Translator) -> str:
    if label is None:
        return ""
    if label.is_skip:
        return t("view.skipped")
    return t.translate("verdict", label.word) if label.word else t.number(label.value, 2)


def _find_text(row: StoredRow, target: Target, item: str) -> str:
    """What a unit is shown by: the claim, or the text of the chunk."""
    if target == "chunk":
        for rank, chunk in enumerate(row.sample.contexts or (), 1):
            if item == (chunk.id or str(rank)):
                return chunk.text[:MAX_SHOWN_CHARS]
    return item[:MAX_SHOWN_CHARS]


def _list_chunks(row: StoredRow | None, target: Target, item: str) -> list[tuple[str, str]]:
    """The chunks that a label of this kind is given by."""
    if row is None or target not in ("claim", "support"):
        return []
    return [(chunk.id, chunk.text[:MAX_SHOWN_CHARS]) for chunk in row.sample.contexts or ()]
