"""A cascade: a cheap judge first, and a strong one where the first is unsure.

Of the items that the first is sure of, a random share is put to the second as well: from those the error of the cheap
part is estimated (`analysis/cascade.py`). Each row of a reply says what the first found, what the second found, and with
which chance it was asked. When the second fails, the question fails: the first never answers in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import Judge, Reopenable
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage

ITEM_ROWS: Mapping[str, tuple[str, str]] = {
    "support": ("verdicts", "verdict"),
    "useful": ("grades", "grade"),
}
"""Kinds of Ask that are decided item by item: the list of rows in the reply, and what a row decides."""
FIRST_KINDS = frozenset({"claims", "embed", "questions"})
"""Kinds that the first judge answers alone: no verdicts, or values on a scale that differs from judge to judge.

Every other kind has no chance that could tell whether the first is sure, and goes to the second."""

MEASURED = "measured"
"""Instead of bounds: those that `ragstone judge measure --save-scale` stored for the first judge."""
DEFAULT_UNSURE = (0.2, 0.8)
DEFAULT_CHECK = 0.05
"""Share of the sure items that the second judge is asked about as well."""

ItemKey = tuple[str, str]
"""Id of a claim; id and target of a chunk."""


class CascadeStep(NamedTuple):
    """What goes to the second judge of one Ask."""

    ask: Ask | None
    """The Ask with the items to put; None when there are none."""
    chances: Mapping[ItemKey, float]
    """Chance of each item of the first judge's reply to be put to the second; empty when the first failed."""
    asked: frozenset[ItemKey]
    """The items that the second is asked about."""


class Cascade(Reopenable):
    """A cheap judge, and a strong one for what the cheap one is unsure of."""

    def __init__(
        self,
        first: Judge,
        second: Judge,
        *,
        unsure: tuple[float, float] = DEFAULT_UNSURE,
        check: float = DEFAULT_CHECK,
        seed: int = 0,
    ) -> None:
        self.first, self.second = first, second
        self.unsure, self.check, self.seed = unsure, check, seed
        self.name = f"cascade({first.name}, {second.name})"
        self.batch, self.concurrency = second.batch, second.concurrency
        self.local = first.local and second.local
        self.reopens = all(getattr(judge, "reopens", False) for judge in (first, second))

    @property
    def spent(self) -> Usage:
        """Usage of both judges, that of failed questions included."""
        return sum((getattr(j, "spent", NO_USAGE) for j in (self.first, self.second)), NO_USAGE)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the identities of both judges and what decides who is asked."""
        return {
            "cascade": [self.first.identity(ask), self.second.identity(ask)],
            "unsure": list(self.unsure),
            "check": self.check,
            "seed": self.seed,
        }

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer by the first judge, and by the second what the first is unsure of."""
        to_first = [n for n, ask in enumerate(asks) if is_for_first(ask)]
        answers: dict[int, Answered] = {}
        if to_first:
            replies = await self.first.answer([asks[n] for n in to_first])
            answers = dict(zip(to_first, replies, strict=True))
        steps = {n: self.choose_items(ask, answers.get(n)) for n, ask in enumerate(asks)}
        to_second = {n: step.ask for n, step in steps.items() if step.ask is not None}
        opinions: dict[int, Answered] = {}
        if to_second:
            replies = await self.second.answer(list(to_second.values()))
            opinions = dict(zip(to_second, replies, strict=True))
        return [
            _join_answers(ask, answers.get(n), opinions.get(n), steps[n])
            for n, ask in enumerate(asks)
        ]

    async def close(self) -> None:
        """Close both judges."""
        await self.first.close()
        await self.second.close()

    def choose_items(self, ask: Ask, first: Answered | None) -> CascadeStep:
        """Return what to put to the second judge after the first one's answer; None: the first was not asked."""
        if isinstance(first, OutOfBudget) or (isinstance(first, Reply) and ask.kind in FIRST_KINDS):
            return CascadeStep(None, {}, frozenset())
        rows = _read_rows(ask, first)
        if rows is None:
            return CascadeStep(ask, {}, frozenset())
        chances = {key: self._find_chance(row) for key, row in rows.items()}
        asked = frozenset(
            key
            for key, content in _list_contents(ask)
            if chances[key] >= 1 or self._draw(content) < chances[key]
        )
        return CascadeStep(_narrow(ask, asked) if asked else None, chances, asked)

    def _find_chance(self, row: Mapping[str, Any]) -> float:
        if row.get("certain"):
            return self.check
        probability = row.get("probability")
        if probability is None:
            return 1.0
        low, high = self.unsure
        return 1.0 if low < probability < high else self.check

    def _draw(self, content: Any) -> float:
        """A number from 0 to 1 that depends on the item and the seed alone, not on run, order or process."""
        return int(digest([self.seed, content])[:13], 16) / 16**13


def is_for_first(ask: Ask) -> bool:
    """Whether the first judge of a cascade is asked at all."""
    return ask.kind in FIRST_KINDS or ask.kind in ITEM_ROWS


def parse_bounds(value: Any) -> tuple[float, float]:
    """Read bounds of the unsure chances: `0.2..0.8` or two numbers."""
    parts = value.split("..") if isinstance(value, str) else value
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise RagstoneError(
            f"'unsure' is {value!r}; write the chances of which the first judge is unsure as 0.2..0.8, or {MEASURED}"
        )
    return low, high


def parse_share(value: Any, name: str, example: float) -> float:
    """Read a share: 0.95 or `95 %`."""
    text = str(value).strip()
    percent = re.fullmatch(r"([\d.]+)\s*%", text)
    try:
        share = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise RagstoneError(f"{name!r} is {value!r}; give a share such as {example:g}")
    return share


def _read_rows(ask: Ask, answered: Answered | None) -> dict[ItemKey, Mapping[str, Any]] | None:
    """The rows of a reply by item; None when the judge failed, or did not cover each item once."""
    if ask.kind not in ITEM_ROWS or not isinstance(answered, Reply):
        return None
    rows = answered.value.get(ITEM_ROWS[ask.kind][0]) if isinstance(answered.value, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    by_key = {(str(row.get("id")), str(row.get("target", ""))): row for row in rows}
    expected = {key for key, _ in _list_contents(ask)}
    return by_key if len(by_key) == len(rows) and by_key.keys() == expected else None


def _list_contents(ask: Ask) -> Iterator[tuple[ItemKey, Any]]:
    """Each item of an Ask with what the draw depends on; not on its id, which changes as metrics are added."""
    if ask.kind == "support":
        for case in ask.values["cases"]:
            sources = digest([source["text"] for source in case["sources"]])
            for claim in case["claims"]:
                yield (claim["id"], ""), [claim["text"], sources]
        return
    question = ask.values["question"]
    for chunk in ask.values["chunks"]:
        for name, text in ask.values["targets"].items():
            # not the wording: both wordings of one question are checked on the same chunks
            yield (chunk["id"], name), [question, text, chunk["text"]]


def _narrow(ask: Ask, asked: frozenset[ItemKey]) -> Ask:
    """The Ask with only these items, which keep their ids."""
    if ask.kind == "useful":
        ids = {chunk for chunk, _ in asked}
        chunks = [chunk for chunk in ask.values["chunks"] if chunk["id"] in ids]
        return replace(ask, values={**ask.values, "chunks": chunks})
    cases = []
    for case in ask.values["cases"]:
        claims = [claim for claim in case["claims"] if (claim["id"], "") in asked]
        if claims:
            cases.append({**case, "claims": claims})
    return replace(ask, values={**ask.values, "cases": cases})


def _join_answers(
    ask: Ask, first: Answered | None, second: Answered | None, step: CascadeStep
) -> Answered:
    """The first judge's rows with those of the second in the place of the ones that it was asked about."""
    if step.ask is None and not isinstance(first, Reply):
        assert first is not None  # without an answer of the first the second is asked
        return first
    usage = getattr(first, "usage", None) or NO_USAGE
    if isinstance(second, JudgeFailed | OutOfBudget):
        second.usage = usage + (second.usage or NO_USAGE)
        return second
    notes = (*getattr(first, "notes", ()), *(second.notes if second is not None else ()))
    if second is None and ask.kind in FIRST_KINDS:
        assert isinstance(first, Reply)
        if ask.kind == "questions":
            notes = (*notes, compose("cascade_first_alone"))
        return Reply(first.value, usage, notes)
    if isinstance(first, JudgeFailed):
        notes = (*notes, compose("cascade_first_failed", reason=first.reason))
    usage = usage + (second.usage if second is not None else NO_USAGE)
    if ask.kind not in ITEM_ROWS:
        assert second is not None
        return Reply(second.value, usage, notes)
    value = _join_rows(ask, first, second, step)
    if value is None:
        failure = JudgeFailed("incomplete", "cascade_second_incomplete")
        failure.usage = usage
        return failure
    return Reply(value, usage, notes)


def _join_rows(
    ask: Ask, first: Answered | None, second: Answered | None, step: CascadeStep
) -> dict[str, Any] | None:
    """The value of the joint reply; None when the second judge did not cover the items that it was asked about."""
    field, decision = ITEM_ROWS[ask.kind]
    cheap = _read_rows(ask, first) if step.chances else {}
    strong = _read_rows(step.ask, second) if step.ask is not None else {}
    if strong is None or cheap is None:
        return None
    rows, decided = [], set()
    for key in cheap or strong:
        before, after = cheap.get(key), strong.get(key) if key in step.asked or not cheap else None
        opinion = {
            "first": str(before[decision]) if before is not None else "",
            "second": str(after[decision]) if after is not None else "",
            "chance": step.chances.get(key, 1.0),
        }
        if before is not None and before.get("probability") is not None:
            opinion["probability"] = before["probability"]
        # what a rule saw for sure no other judge overrules; that the second disagrees is still counted
        if after is not None and not (before is not None and before.get("certain")):
            decided.add(key)
        rows.append({**((after if key in decided else before) or {}), "cascade": opinion})
    value: dict[str, Any] = {field: rows}
    if ask.kind == "support":
        value["case_probabilities"] = _join_case_chances(
            ask, (first, second), step, frozenset(decided)
        )
    return value


def _join_case_chances(
    ask: Ask,
    replies: tuple[Answered | None, Answered | None],
    step: CascadeStep,
    decided: frozenset[ItemKey],
) -> list[float | None]:
    """For each case the chance of the judge that decided all of it; None where both decided a part."""
    before, after = (
        reply.value.get("case_probabilities") or [] if isinstance(reply, Reply) else []
        for reply in replies
    )
    put = iter(after)
    chances: list[float | None] = []
    for number, case in enumerate(ask.values["cases"]):
        keys = {(claim["id"], "") for claim in case["claims"]}
        # the second judge's list has the cases that it was asked about, in order
        strong = next(put, None) if not step.chances or keys & step.asked else None
        if not keys & decided:
            chances.append(before[number] if number < len(before) else None)
        else:
            chances.append(strong if keys <= decided else None)
    return chances
