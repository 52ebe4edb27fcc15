"""What a generation would ask of a judge and cost, estimated without asking it anything.

The arithmetic follows judge_writer.py: calls that write, calls that answer, and what each of them shows."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from ragstone import prompts
from ragstone.asks import Order, canonical, write
from ragstone.judges import Judge
from ragstone.judges.prices import CHARACTERS_PER_TOKEN, compute_usd, find_price
from ragstone.testset.items import JOINING
from ragstone.testset.judge_writer import (
    EVIDENCE_MARGIN_CHARS,
    GROUP,
    NEIGHBOURS,
    PER_DOCUMENT,
    choose_part,
)
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.quotas import resolve_weights, split_by_weight
from ragstone.testset.sampling import spread_documents
from ragstone.testset.sets import build_writer_judge, is_ruled, is_small, open_documents
from ragstone.types import Chunk

SECONDS_PER_CALL = 4.0
"""Assumed duration of a call that writes several questions."""
PROBED_DOCUMENTS = 40
"""Documents whose length is looked at."""
ITEM_CHARS, ANSWER_CHARS = 420, 160
"""Characters that a judge writes for an item, and for an answer to it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would be done."""

    documents: int
    asked_about: int
    kinds: dict[str, int]
    judge: str | None
    calls: int = 0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    usd: float | None = None
    """None when nobody knows the model's price, or nothing is paid."""
    seconds: float = 0.0


def estimate_generation(plan: TestsetPlan) -> Estimate:
    """The estimate for a plan; assumes that every item passes."""
    wanted = plan.item_count
    judge = build_writer_judge(plan, TestsetInputs())
    weights = resolve_weights(plan.kinds, judged=judge is not None, small=is_small(judge))
    with open_documents(plan, TestsetInputs()) as corpus:
        languages = [language.split("-")[0].lower() for language in plan.languages]
        order = spread_documents(corpus, plan.seed, wanted=wanted, languages=languages)
        kinds = {kind: count for kind, count in split_by_weight(wanted, weights).items() if count}
        if judge is None or is_ruled(judge, weights, plan.styles) or not order:
            return Estimate(len(corpus), min(len(order), wanted), kinds, None)
        # seeded, so that the estimate is the same each time
        rng = random.Random(plan.seed)
        parts = [choose_part(corpus[position], rng).text for position in order[:PROBED_DOCUMENTS]]
        documents = len(corpus)
    length = sum(map(len, parts)) / len(parts)
    # as Generation._deal_orders does
    each = min(PER_DOCUMENT, max(2, math.ceil(wanted / len(order))))
    writes = math.ceil(wanted / each)
    solves = math.ceil(writes / GROUP)
    orders = [Order("factual", max(plan.styles, key=len, default=""))] * each
    ask = write([Chunk("", parts[0])], orders)
    # characters that every such call shows besides the document; 60 for each order
    fixed = len(prompts.load("write", None).text) + len(canonical(ask.schema)) + 60 * each
    related = sum(kinds.get(kind, 0) for kind in (*JOINING, "distractor")) / wanted
    beside = NEIGHBOURS * 2 * EVIDENCE_MARGIN_CHARS
    # characters shown to the judge: by calls that write, then by calls that answer
    read = writes * (fixed + length + related * beside)
    read += solves * len(prompts.load("solve", None).text) + wanted * (
        2 * EVIDENCE_MARGIN_CHARS + beside + 300
    )
    written = wanted * (ITEM_CHARS + 2 * ANSWER_CHARS)
    tokens = read / CHARACTERS_PER_TOKEN, written / CHARACTERS_PER_TOKEN
    calls = writes + solves
    at_once = plan.concurrency or judge.concurrency
    return Estimate(
        documents,
        min(len(order), writes),
        kinds,
        judge.name,
        calls,
        *tokens,
        usd=_estimate_usd(judge, plan.judge, *tokens),
        seconds=calls * SECONDS_PER_CALL / max(1, at_once),
    )


def _estimate_usd(judge: Judge, spec: Any, tokens_in: float, tokens_out: float) -> float | None:
    configured = spec.get("prices") if isinstance(spec, dict) else None
    price = find_price(judge.name.rpartition(":")[2], configured)
    return compute_usd(price, tokens_in, tokens_out) if price else None
