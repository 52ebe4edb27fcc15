"""The report on a test set: balance, coverage, faults, what trivial systems get right, and its power."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report import document as doc
from ragstone.report.builders.parts import (
    build_list,
    build_number_columns,
    build_panel,
    build_table,
)
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.testset.checkup import Checkup
    from ragstone.testset.doubt_reader import ReadingAccount
    from ragstone.testset.findings import Fault

MAX_EXAMPLES = 5
"""Items shown of each fault."""
MIN_QUESTIONS = 6
"""Questions without which an exact test of pairs shows nothing, were they all better in one system: 2 · ½⁵ > 0.05."""
ANSWER_CHARS = 60
TEXT_CHARS = 300
"""Of a question, a proof or a fix that is shown; the JSON has them whole."""


@dataclass(frozen=True, slots=True)
class CheckupReport:
    """The check-up of a test set."""

    kind: ClassVar[str] = "testset"
    checkup: Checkup
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        checkup, t = self.checkup, load_translator(self.language)
        title = shorten(t("checkup", name=Path(checkup.source).name), 120)
        size, verdict = _describe_size(checkup, t), _describe_verdict(checkup, t)
        head = (
            doc.Heading(title, 1),
            doc.Paragraph((doc.Styled(verdict, "strong"), f" {size}."), where=doc.WRITTEN),
            doc.Paragraph(size, where=doc.TERMINAL),
        )
        sections: list[tuple[str, doc.Node]] = [
            ("balance", _build_balance(checkup, t)),
            ("coverage", build_list(_describe_coverage(checkup, t))),
            ("faults", _build_faults(checkup, t)),
            ("trivial", build_list(_describe_trivial(checkup, t))),
            ("power", build_list(_describe_power(checkup, t))),
        ]
        if checkup.hints:
            sections.insert(3, ("hints", _build_hints(checkup, t)))
        if checkup.reading is not None:
            at = 4 if checkup.hints else 3
            sections.insert(at, ("reading", build_list(_describe_reading(checkup.reading, t))))
        body = [build_panel(name, t(f"checkup.{name}"), node) for name, node in sections]
        end = doc.Status(verdict, "bad" if checkup.faults else "good")
        body.append(doc.Section((end,), where=doc.TERMINAL))
        return doc.ReportDocument("testset", t, title, title, head, tuple(body))

    def data(self) -> dict[str, Any]:
        """The check-up as JSON takes it."""
        return self.checkup.to_dict()


def _build_balance(checkup: Checkup, t: Translator) -> doc.ReportTable:
    rows = []
    for name, counts in (
        ("kind", checkup.kinds),
        ("difficulty", checkup.difficulties),
        ("language", checkup.languages),
    ):
        head = t(f"checkup.{name}")
        if not counts:
            rows.append([head, t("checkup.unknown"), "–", "–"])
        for value, count in counts.items():
            rows.append([head, value, t.whole(count), t.percent(count / checkup.total)])
            head = ""
    blank = doc.TableColumn("")
    return build_table([blank, blank, *build_number_columns(t, "count", "checkup.share")], rows)


def _describe_coverage(checkup: Checkup, t: Translator) -> Iterator[str]:
    coverage = checkup.coverage
    if coverage is None:
        yield t("checkup.coverage.none")
        return
    yield t(
        "checkup.coverage.documents",
        asked=t.whole(coverage.asked),
        documents=t.whole(coverage.documents),
        share=t.percent(coverage.asked / coverage.documents),
    )
    if coverage.topics > 1:
        asked, topics = t.whole(coverage.topics_asked), t.whole(coverage.topics)
        yield t("checkup.coverage.topics", asked=asked, topics=topics)
    if coverage.most:
        names = ", ".join(f"{name} ({t.whole(count)})" for name, count in coverage.most)
        yield t("checkup.coverage.most", names=names)


def _build_faults(checkup: Checkup, t: Translator) -> doc.Node:
    groups = checkup.by_kind()
    if not groups:
        return build_list([t("checkup.faults.none")])
    items = []
    for kind, faults in groups.items():
        lines = [_describe_fault(fault, t) for fault in faults[:MAX_EXAMPLES]]
        more = len(faults) - MAX_EXAMPLES
        if more > 0:
            lines.append(t("checkup.faults.more", n=t.whole(more)))
        head = f"{t.whole(len(faults))} × {t(f'checkup.fault.{kind}')}"
        examples = build_list(map(doc.Remark, lines))
        items.append(doc.ListItem(head, "warn", nodes=(examples,)))
    if any(fault.fix for fault in checkup.faults):
        items.append(doc.ListItem(_describe_fixes(checkup, t)))
    return build_list(items)


def _build_hints(checkup: Checkup, t: Translator) -> doc.Node:
    """Items to look at, which are not counted as findings."""
    lines = [
        f"{shorten(hint.id, TEXT_CHARS)}  {shorten(hint.text, TEXT_CHARS)}  [{shorten(hint.detail, TEXT_CHARS)}]"
        for hint in checkup.hints[:MAX_EXAMPLES]
    ]
    more = len(checkup.hints) - MAX_EXAMPLES
    if more > 0:
        lines.append(t("checkup.faults.more", n=t.whole(more)))
    head = f"{t.whole(len(checkup.hints))} × {t('checkup.hint.answerable')}"
    return build_list([doc.ListItem(head, nodes=(build_list(map(doc.Remark, lines)),))])


def _describe_reading(reading: ReadingAccount, t: Translator) -> Iterator[str]:
    """What the judge has read, what it could not, and what that cost."""
    yield t(
        "checkup.reading.read",
        judge=reading.judge,
        n=t.whole(reading.read),
        confirmed=t.whole(reading.confirmed),
    )
    if reading.failed:
        reason = shorten(t.message(reading.reason), TEXT_CHARS)
        yield t("checkup.reading.failed", n=t.whole(reading.failed), reason=reason)
    if reading.usage.calls:
        calls, money = t.whole(reading.usage.calls), t.money(reading.usage.usd or 0.0)
        yield t("checkup.reading.cost", calls=calls, money=money)


def _describe_fault(fault: Fault, t: Translator) -> str:
    """The item, the proof, and the change that would mend it."""
    proof = f"  [{shorten(fault.detail, TEXT_CHARS)}]" if fault.detail else ""
    change = fault.fix.describe(t("checkup.fix.drop")) if fault.fix else ""
    fix = f"  → {shorten(change, TEXT_CHARS)}" if change else ""
    return f"{shorten(fault.id, TEXT_CHARS)}  {shorten(fault.text, TEXT_CHARS)}{proof}{fix}"


def _describe_fixes(checkup: Checkup, t: Translator) -> str:
    """How many findings bring their fix, and the command that applies them."""
    count = sum(fault.fix is not None for fault in checkup.faults)
    source = Path(checkup.source)
    command = ["ragstone", "testset", "check", checkup.source]
    command += [part for name in checkup.documents for part in ("--documents", name)]
    if checkup.reading is not None and checkup.reading.given:
        command += ["--judge", checkup.reading.given]
    command += ["--fix", str(source.with_name(f"{source.stem}.fixed.jsonl"))]
    return t("checkup.fix", n=t.whole(count), command=shlex.join(command))


def _describe_trivial(checkup: Checkup, t: Translator) -> Iterator[str]:
    trivial = checkup.trivial
    answer = trivial.constant_answer
    if len(answer) > ANSWER_CHARS:
        answer = answer[: ANSWER_CHARS - 1] + "…"
    yield t("checkup.trivial.constant", answer=answer, share=t.percent(trivial.constant))
    if trivial.first is not None and trivial.answer_in_first is not None:
        first, answered = t.percent(trivial.first), t.percent(trivial.answer_in_first)
        yield t("checkup.trivial.first", share=first, answered=answered)


def _describe_power(checkup: Checkup, t: Translator) -> Iterator[str]:
    if checkup.shows < 1 and checkup.total >= MIN_QUESTIONS:
        yield t("checkup.power.shows", effect=t.number(checkup.shows, 2))
    else:
        yield t("checkup.power.nothing", n=t.whole(checkup.total))
    for need in checkup.needs:
        effect, count = t.number(need.effect, 2), t.whole(need.questions)
        yield t("checkup.power.need", effect=effect, questions=count)


def _describe_size(checkup: Checkup, t: Translator) -> str:
    return t(
        "checkup.size",
        total=t.whole(checkup.total),
        answerable=t.whole(checkup.answerable),
        impossible=t.whole(checkup.total - checkup.answerable),
    )


def _describe_verdict(checkup: Checkup, t: Translator) -> str:
    if not checkup.faults:
        return t("checkup.fine")
    return t("checkup.wrong", n=t.whole(checkup.faulty), total=t.whole(checkup.total))
