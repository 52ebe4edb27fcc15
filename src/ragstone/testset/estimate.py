"""What a generation would ask of its judges and cost, estimated without asking them anything.

The arithmetic follows writing.py and proving.py: one call a line, and what each of them shows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from ragstone import prompts
from ragstone.config import reveal
from ragstone.judges.prices import CHARACTERS_PER_TOKEN, compute_usd, find_price
from ragstone.testset.from_judge import resolve_weights, split_by_weight
from ragstone.testset.items import JOINING, UNANSWERABLE
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.proving import EVIDENCE_MARGIN_CHARS, NEIGHBOURS
from ragstone.testset.sampling import spread_documents
from ragstone.testset.sets import build_judge, is_small, open_documents
from ragstone.testset.writing import MAX_PASSAGE_CHARS, MAX_SMALL_PASSAGE_CHARS, choose_passage

SECONDS_PER_CALL = 2.0
"""Assumed duration of a call, which writes a line."""
PROBED_DOCUMENTS = 40
"""Documents whose length is looked at."""
LINE_CHARS = 120
"""Characters of a reply."""
REFUSED_SHARE = 0.3
"""Assumed share of what is written that a proof refuses, and that is paid too."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would be done."""

    documents: int
    asked_about: int
    kinds: dict[str, int]
    judge: str | None
    """None where nobody writes: the documents' own questions are taken, or those of a log."""
    calls: int = 0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    usd: float | None = None
    """None when nobody knows the model's price, or nothing is paid."""
    seconds: float = 0.0


def estimate_generation(plan: TestsetPlan) -> Estimate:
    """The estimate for a plan."""
    wanted = plan.item_count
    judge = build_judge(reveal(plan.judge), plan)
    if judge is None or plan.log is not None or plan.from_monitor:
        if not plan.documents:
            return Estimate(0, 0, {}, None)
        with open_documents(plan, TestsetInputs()) as corpus:
            return Estimate(len(corpus), len(corpus), {}, None)
    weights = resolve_weights(plan.kinds)
    kinds = {kind: count for kind, count in split_by_weight(wanted, weights).items() if count}
    most = MAX_SMALL_PASSAGE_CHARS if is_small(judge) else MAX_PASSAGE_CHARS
    with open_documents(plan, TestsetInputs()) as corpus:
        languages = [language.split("-")[0].lower() for language in plan.languages]
        order = spread_documents(corpus, plan.seed, wanted=wanted, languages=languages)
        rng = random.Random(plan.seed)
        shown = [choose_passage(corpus[p], rng, most).text for p in order[:PROBED_DOCUMENTS]]
        documents = len(corpus)
    if not order:
        return Estimate(documents, 0, kinds, judge.name)
    passage = sum(map(len, shown)) / len(shown)
    lines, solves = count_calls(kinds, small=is_small(judge))
    calls = round((lines + solves) / (1 - REFUSED_SHARE))
    fixed = len(prompts.load("write_question", None).text)
    proof = 2 * (1 + NEIGHBOURS) * EVIDENCE_MARGIN_CHARS + len(prompts.load("solve", None).text)
    read = (lines * (passage + fixed) + solves * proof) / (1 - REFUSED_SHARE)
    tokens = read / CHARACTERS_PER_TOKEN, calls * LINE_CHARS / CHARACTERS_PER_TOKEN
    return Estimate(
        documents,
        min(len(order), wanted),
        kinds,
        judge.name,
        calls,
        *tokens,
        usd=_estimate_usd(judge.name, plan.judge, *tokens),
        seconds=calls * SECONDS_PER_CALL / max(1, plan.concurrency or judge.concurrency),
    )


def count_calls(kinds: dict[str, int], *, small: bool) -> tuple[int, int]:
    """Calls that write a line, and calls that prove, for so many items of each kind that all pass."""
    lines = solves = 0
    for kind, count in kinds.items():
        joins = kind in JOINING
        if kind in UNANSWERABLE:
            each = 1, 4 if small else 1
        else:
            turns = 2 if kind == "follow_up" else 0
            guess = 0 if small else 1
            each = 3 + joins + turns + guess, (1 + NEIGHBOURS + 2 * joins) if small else 1
        lines, solves = lines + count * each[0], solves + count * each[1]
    return lines, solves


def _estimate_usd(name: str, spec: Any, tokens_in: float, tokens_out: float) -> float | None:
    configured = spec.get("prices") if isinstance(spec, dict) else None
    price = find_price(name.rpartition(":")[2], configured)
    return compute_usd(price, tokens_in, tokens_out) if price else None
