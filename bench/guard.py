"""What a guard with the embedded judge costs and how often it errs: python -m bench.guard

False alarms are supported claims that it flags, misses are unsupported ones that it lets pass: on labelled claims by weights
that never saw their set, and on pairs of claims by writers who had seen no rule. Beside it stands the plain way, the share of
the claim's words that the contexts have, at the bound that flags as many. Times are CPU of whole calls of `ragstone.guard`
on contexts of 500 words."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from bench.judge.__main__ import predict_left_out
from bench.judge.claims import list_rows
from bench.judge.pairs import BLIND
from ragstone import Guard, guard

BOUNDS = (0.35, 0.5, 0.65)
CALLS = 1_000


def count_errors(
    labels: Sequence[int], chances: Sequence[float], bound: float
) -> tuple[float, float]:
    """Share of the supported claims that are flagged, and of the unsupported ones that pass."""
    pairs = list(zip(labels, chances, strict=True))
    true = [chance < bound for label, chance in pairs if label]
    false = [chance >= bound for label, chance in pairs if not label]
    return sum(true) / len(true), sum(false) / len(false)


def print_errors(
    name: str, labels: Sequence[int], chances: Sequence[float], plain: Sequence[float]
) -> None:
    """One line for each bound, with the plain way at the same number of flags."""
    for bound in BOUNDS:
        alarms, misses = count_errors(labels, chances, bound)
        flagged = sum(chance < bound for chance in chances)
        plain_bound = sorted(plain)[min(flagged, len(plain) - 1)]
        plain_alarms, plain_misses = count_errors(labels, plain, plain_bound)
        print(
            f"{name:<16} {bound:.2f}  false alarms {alarms:.0%}, misses {misses:.0%}"
            f"   (words: {plain_alarms:.0%}, {plain_misses:.0%})"
        )


def share_words(claim: str, context: str) -> float:
    """Share of the claim's words that the context has."""
    words = claim.lower().split()
    known = set(context.lower().split())
    return sum(word in known for word in words) / max(1, len(words))


def main() -> None:
    rows = [p for p in predict_left_out(list_rows()) if p.claims]
    labels = [p.row.label for p in rows]
    print_errors(
        "labelled answers", labels, [min(p.claims) for p in rows], [p.row.containment for p in rows]
    )
    pairs = [json.loads(line) for line in BLIND.read_text("utf-8").splitlines()]
    with Guard() as checker:
        judged = [checker.check(None, p["claim"], [p["context"]], deadline=60) for p in pairs]
    known = [(p, v) for p, v in zip(pairs, judged, strict=True) if v.claims]
    print_errors(
        "blind pairs",
        [p["label"] for p, _ in known],
        [min(c.probability or 0.0 for c in v.claims) for _, v in known],
        [share_words(p["claim"], p["context"]) for p, _ in known],
    )
    contexts = [
        " ".join(f"Item {n} of part {k} costs {n + k} euros." for n in range(11)) for k in range(6)
    ]
    times = []
    for n in range(CALLS):
        began = time.process_time()
        guard(
            "What does it cost?",
            f"Item {n} costs {n} euros. It takes {n % 7} days. Delivery is free.",
            contexts,
        )
        times.append(time.process_time() - began)
    times.sort()
    print(
        f"CPU of a call: p50 {1000 * times[CALLS // 2]:.1f} ms, p99 {1000 * times[-CALLS // 100]:.1f} ms"
    )

    async def hang(ask: object) -> None:
        import asyncio

        await asyncio.sleep(3600)

    with Guard(hang, deadline=0.01) as slow:
        kept = sum(
            slow.check("q", "It is open.", ["It opens."]).decision == "undecided"
            for _ in range(CALLS)
        )
    print(f"deadline kept with a judge that hangs: {kept} of {CALLS}")


if __name__ == "__main__":
    main()
