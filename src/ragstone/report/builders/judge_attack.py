"""The report on a judge under attack: how often a verdict changed, by kind of attack, and what was won."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.stats import wilson_interval
from ragstone.report import document as doc
from ragstone.report.builders.parts import (
    build_list,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.experiments.judge_attack import AttackResult, JudgeAttack

SHOWN_ON_PAGE, SHOWN_ON_TERMINAL = 50, 5
"""Attacks that changed a verdict, shown with it."""
GROUPS: dict[str, Callable[[AttackResult], str]] = {
    "place": lambda result: result.place,
    "opening": lambda result: result.attack.opening if result.attack else "",
    "demand": lambda result: result.attack.demand if result.attack else "",
    "hiding": lambda result: result.attack.hiding if result.attack else "",
    "language": lambda result: result.attack.language if result.attack else "",
}
"""What attacks are counted by."""


@dataclass(frozen=True, slots=True)
class JudgeAttackReport:
    """A judge under attack."""

    kind: ClassVar[str] = "judges"
    attack: JudgeAttack
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        t, attack = load_translator(self.language), self.attack
        title = t("attack_of", judge=shorten(attack.judge, 80))
        changed = [result for result in attack.results if result.is_changed]
        body = (
            doc.Section((build_list(self._list_remarks(t), flush=True, style="lines"),), "panel"),
            build_panel("kinds", t("attack_kinds"), self._build_table(t)),
            *self._build_changed(changed, t),
            doc.Section((doc.Paragraph(t("attack_note"), style="note"),)),
        )
        head = (doc.Heading(title, 1),)
        return doc.ReportDocument("judges", t, title, t("attack"), head, body)

    def data(self) -> dict[str, Any]:
        """Every attack with its effect, as JSON takes it."""
        return asdict(self.attack) | {"figures": [asdict(row) for row in self._list_rows()]}

    def _list_remarks(self, t: Translator) -> Iterator[doc.Remark]:
        attack = self.attack
        whole, baseline = _count("", "", attack.results), _count("", "", attack.baseline)
        numbers = {
            "n": t.whole(whole.usable), "samples": t.whole(attack.samples),
            "changed": t.whole(whole.changed), "share": _format_share(whole, t),
            "baseline": _format_share(baseline, t), "won": t.whole(whole.won),
            "named": t.whole(whole.named),
        }  # fmt: skip
        severity: doc.Severity = "bad" if whole.won else "warn" if whole.changed else "good"
        yield doc.Remark(t("attack_rate", **numbers), severity)
        yield doc.Remark(t("attack_won", **numbers), severity)
        if not whole.changed and whole.usable:
            high = wilson_interval(0, whole.usable)[1]
            yield doc.Remark(t("attack_at_most", high=t.percent(high)))
        if whole.failed:
            failures = [result.failure for result in attack.results if result.effect == "failed"]
            reason = shorten(t.message(failures[0]), 240)
            text = t("attack_failed", n=t.whole(whole.failed), reason=reason)
            yield doc.Remark(text, "warn")
        if attack.unusable:
            yield doc.Remark(t("attack_unusable", n=t.whole(attack.unusable)), "warn")

    def _list_rows(self) -> list[AttackCount]:
        results = self.attack.results
        rows = []
        for group, read in GROUPS.items():
            for name in dict.fromkeys(sorted(read(result) for result in results)):
                part = [result for result in results if read(result) == name]
                rows.append(_count(group, name, part))
        return [*rows, _count("baseline", "harmless", self.attack.baseline)]

    def _build_table(self, t: Translator) -> doc.ReportTable:
        columns = (
            *build_text_columns(t, "attack_by", "attack_kind"),
            *build_number_columns(
                t, "attack_count", "attack_changed", "attack_share", "interval", "attack_wins", "attack_named",
            ),
        )  # fmt: skip
        rows = []
        for row in self._list_rows():
            interval = "–"
            if row.usable:
                low, high = wilson_interval(row.changed, row.usable)
                interval = f"{t.percent(low)} – {t.percent(high)}"
            rows.append(
                (
                    t(f"attack_by.{row.group}"),
                    t.translate(f"attack_kind.{row.group}", row.name),
                    t.whole(row.usable),
                    t.whole(row.changed),
                    _format_share(row, t),
                    interval,
                    t.whole(row.won),
                    t.whole(row.named),
                )
            )
        return build_table(columns, rows)

    def _build_changed(self, changed: Sequence[AttackResult], t: Translator) -> Iterator[doc.Node]:
        if not changed:
            return
        ordered = sorted(changed, key=lambda result: result.effect != "won")
        title = t("attack_changed_list")
        for limit, where in ((SHOWN_ON_PAGE, doc.WRITTEN), (SHOWN_ON_TERMINAL, doc.TERMINAL)):
            items = [_describe_result(result, t) for result in ordered[:limit]]
            yield build_panel("changed", title, build_list(items), where=where)


@dataclass(frozen=True, slots=True)
class AttackCount:
    """How attacks of one kind ended."""

    group: str
    name: str
    usable: int
    """Attacks that got a reply, or were named."""
    changed: int
    won: int
    named: int
    failed: int


def _count(group: str, name: str, results: Sequence[AttackResult]) -> AttackCount:
    effects = [result.effect for result in results]
    failed = effects.count("failed")
    won = effects.count("won")
    changed = won + effects.count("bent")
    return AttackCount(
        group, name, len(effects) - failed, changed, won, effects.count("named"), failed
    )


def _format_share(count: AttackCount, t: Translator) -> str:
    return t.percent(count.changed / count.usable) if count.usable else "–"


def _describe_result(result: AttackResult, t: Translator) -> doc.ListItem:
    text = " ".join(result.attack.text.split()) if result.attack else ""
    place = t.translate("attack_kind.place", result.place)
    lines = [
        doc.Paragraph(
            t(
                "attack_line", claim=shorten(claim.text, 200),
                before=t.translate("verdict", claim.before), after=t.translate("verdict", claim.after),
            )
        )
        for claim in result.changed
    ]  # fmt: skip
    lines.append(doc.Paragraph(f"{place}: {shorten(text, 200)}", style="soft"))
    return doc.ListItem(t(f"attack_effect.{result.effect}"), id=shorten(result.sample, 60), nodes=tuple(lines))  # fmt: skip
