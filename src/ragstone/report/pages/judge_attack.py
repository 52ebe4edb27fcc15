"""A judge under attack: how often a verdict changed, by kind of attack, and what was won."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.stats import wilson_interval
from ragstone.report.pages import Page
from ragstone.report.remarks import Remark, Severity, shorten
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.experiments.judge_attack import AttackResult, JudgeAttack

SHOWN_ON_PAGE = 50
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
class ChangedView:
    """An attack that changed a verdict."""

    id: str
    effect: str
    lines: tuple[str, ...]
    text: str
    """The attack, and where it stood."""


@dataclass(frozen=True)
class JudgeAttackPage(Page):
    """A judge under attack."""

    kind: ClassVar[str] = "judges"
    template: ClassVar[str] = "judge_attack"
    attack: JudgeAttack

    @property
    def title(self) -> str:
        """Which judge."""
        return self.t("attack_of", judge=shorten(self.attack.judge, 80))

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("attack")

    @cached_property
    def remarks(self) -> list[Remark]:
        """How often a verdict changed and what was won."""
        return [*self._list_remarks()]

    @cached_property
    def counts(self) -> list[AttackCount]:
        """How attacks ended, by what they have in common."""
        results = self.attack.results
        rows = []
        for group, read in GROUPS.items():
            for name in dict.fromkeys(sorted(read(result) for result in results)):
                part = [result for result in results if read(result) == name]
                rows.append(_count(group, name, part))
        return [*rows, _count("baseline", "harmless", self.attack.baseline)]

    @property
    def rows(self) -> list[list[str]]:
        """The same in words: two names, then five numbers and the named ones."""
        return [self._build_row(count) for count in self.counts]

    @cached_property
    def changed(self) -> list[ChangedView]:
        """Attacks that changed a verdict, those that won first."""
        changed = [result for result in self.attack.results if result.is_changed]
        ordered = sorted(changed, key=lambda result: result.effect != "won")
        return [self._view_result(result) for result in ordered[:SHOWN_ON_PAGE]]

    def _list_remarks(self) -> Iterator[Remark]:
        attack, t = self.attack, self.t
        whole, baseline = _count("", "", attack.results), _count("", "", attack.baseline)
        numbers = {
            "n": t.whole(whole.usable),
            "samples": t.whole(attack.samples),
            "changed": t.whole(whole.changed),
            "share": _format_share(whole, t),
            "baseline": _format_share(baseline, t),
            "won": t.whole(whole.won),
            "named": t.whole(whole.named),
        }
        severity: Severity = "bad" if whole.won else "warn" if whole.changed else "good"
        yield Remark(t("attack_rate", **numbers), severity)
        yield Remark(t("attack_won", **numbers), severity)
        if not whole.changed and whole.usable:
            high = wilson_interval(0, whole.usable)[1]
            yield Remark(t("attack_at_most", high=t.percent(high)))
        if whole.failed:
            failures = [result.failure for result in attack.results if result.effect == "failed"]
            reason = shorten(t.message(failures[0]), 240)
            yield Remark(t("attack_failed", n=t.whole(whole.failed), reason=reason), "warn")
        if attack.unusable:
            yield Remark(t("attack_unusable", n=t.whole(attack.unusable)), "warn")

    def _build_row(self, row: AttackCount) -> list[str]:
        t, interval = self.t, "–"
        if row.usable:
            low, high = wilson_interval(row.changed, row.usable)
            interval = f"{t.percent(low)} – {t.percent(high)}"
        return [
            t(f"attack_by.{row.group}"),
            t.translate(f"attack_kind.{row.group}", row.name),
            t.whole(row.usable),
            t.whole(row.changed),
            _format_share(row, t),
            interval,
            t.whole(row.won),
            t.whole(row.named),
        ]

    def _view_result(self, result: AttackResult) -> ChangedView:
        t = self.t
        text = " ".join(result.attack.text.split()) if result.attack else ""
        lines = [
            t(
                "attack_line",
                claim=shorten(claim.text, 200),
                before=t.translate("verdict", claim.before),
                after=t.translate("verdict", claim.after),
            )
            for claim in result.changed
        ]
        place = t.translate("attack_kind.place", result.place)
        effect = t(f"attack_effect.{result.effect}")
        return ChangedView(
            shorten(result.sample, 60), effect, tuple(lines), f"{place}: {shorten(text, 200)}"
        )

    def data(self) -> dict[str, Any]:
        """Every attack with its effect, as JSON takes it."""
        return asdict(self.attack) | {"figures": [asdict(row) for row in self.counts]}


def open_page(result: JudgeAttack, t: Translator) -> JudgeAttackPage:
    """The page of an attack."""
    return JudgeAttackPage(t, result)


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
