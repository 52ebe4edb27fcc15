"""The check-up of a test set: balance, coverage, faults, what trivial systems get right, and its power."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report.pages import Page
from ragstone.report.remarks import Remark, shorten
from ragstone.report.translator import Translator

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


@dataclass(frozen=True)
class CheckupPage(Page):
    """The check-up of a test set."""

    kind: ClassVar[str] = "testset"
    template: ClassVar[str] = "checkup"
    checkup: Checkup

    @property
    def title(self) -> str:
        """Which set."""
        return shorten(self.t("checkup", name=Path(self.checkup.source).name), 120)

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.title

    @property
    def size(self) -> str:
        """How many items there are, with and without an answer."""
        checkup, t = self.checkup, self.t
        counts = {
            "answerable": checkup.answerable,
            "impossible": checkup.total - checkup.answerable,
        }
        return t(
            "checkup.size",
            total=t.whole(checkup.total),
            **{name: t.whole(n) for name, n in counts.items()},
        )

    @property
    def verdict(self) -> Remark:
        """Whether anything is wrong."""
        checkup, t = self.checkup, self.t
        if not checkup.faults:
            return Remark(t("checkup.fine"), "good")
        return Remark(
            t("checkup.wrong", n=t.whole(checkup.faulty), total=t.whole(checkup.total)), "bad"
        )

    @cached_property
    def balance(self) -> list[list[str]]:
        """Kinds, difficulties and languages: name, value, count, share."""
        checkup, t = self.checkup, self.t
        groups = {
            "kind": checkup.kinds,
            "difficulty": checkup.difficulties,
            "language": checkup.languages,
        }
        rows = []
        for name, counts in groups.items():
            head = t(f"checkup.{name}")
            if not counts:
                rows.append([head, t("checkup.unknown"), "–", "–"])
            for value, count in counts.items():
                rows.append([head, value, t.whole(count), t.percent(count / checkup.total)])
                head = ""
        return rows

    @property
    def sections(self) -> list[tuple[str, list[str]]]:
        """Key and sentences of what is said beside balance, faults and hints."""
        checkup, t = self.checkup, self.t
        reading = (
            []
            if checkup.reading is None
            else [("reading", [*_describe_reading(checkup.reading, t)])]
        )
        return [
            *reading,
            ("trivial", [*_describe_trivial(checkup, t)]),
            ("power", [*_describe_power(checkup, t)]),
        ]

    @property
    def coverage(self) -> list[str]:
        """Which documents are asked about."""
        return [*_describe_coverage(self.checkup, self.t)]

    @cached_property
    def faults(self) -> list[tuple[str, list[str]]]:
        """Each kind of fault with its count, and some of the items."""
        t = self.t
        return [
            (
                f"{t.whole(len(faults))} × {t(f'checkup.fault.{kind}')}",
                self._limit([_describe_fault(f, t) for f in faults]),
            )
            for kind, faults in self.checkup.by_kind().items()
        ]

    @property
    def fixes(self) -> str:
        """How many findings bring their fix, and the command that applies them; empty where none does."""
        has_fix = any(fault.fix for fault in self.checkup.faults)
        return _describe_fixes(self.checkup, self.t) if has_fix else ""

    @property
    def hints(self) -> list[tuple[str, list[str]]]:
        """Items to look at, which are not counted as findings."""
        hints = self.checkup.hints
        if not hints:
            return []
        lines = [
            f"{shorten(hint.id, TEXT_CHARS)}  {shorten(hint.text, TEXT_CHARS)}  [{shorten(hint.detail, TEXT_CHARS)}]"
            for hint in hints
        ]
        return [
            (
                f"{self.t.whole(len(hints))} × {self.t('checkup.hint.answerable')}",
                self._limit(lines),
            )
        ]

    def _limit(self, lines: Sequence[str]) -> list[str]:
        more = len(lines) - MAX_EXAMPLES
        rest = [self.t("checkup.faults.more", n=self.t.whole(more))] if more > 0 else []
        return [*lines[:MAX_EXAMPLES], *rest]

    def data(self) -> dict[str, Any]:
        """The check-up as JSON takes it."""
        return self.checkup.to_dict()


def open_page(result: Checkup, t: Translator) -> CheckupPage:
    """The page of a check-up."""
    return CheckupPage(t, result)


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
