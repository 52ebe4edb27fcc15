"""Causal blame: a system is asked the same questions with other contexts, and its loss is split over what is changed.

The score climbs from what the system got to what it could have got, one change at a time, so the parts add up:

| contexts given                           | what changes         | the step is the loss by |
| ---------------------------------------- | -------------------- | ----------------------- |
| as retrieved                             |                      |                         |
| gold and distractors, in random order    | the evidence is there| retrieval               |
| gold and distractors, gold first         | the order            | ordering                |
| gold alone                               | no distractors       | noise                   |
| (the best score there is)                | a perfect generator  | generation              |

Beside them stands the score with no contexts at all: what the model knows by itself."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.paired import to_moments
from ragstone.analysis.stats import mean_interval
from ragstone.engine.sync import run_sync
from ragstone.errors import RagstoneError
from ragstone.experiments.answer import build_system
from ragstone.experiments.run import Run, aevaluate
from ragstone.metrics import resolve
from ragstone.registry import MetricSpec
from ragstone.store import Store
from ragstone.systems import takes_contexts
from ragstone.systems.protocol import phrase_question
from ragstone.types import Chunk, Ranked, Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Condition = Literal["retrieved", "shuffled", "mixed", "gold", "none"]
"""The contexts that a system is given: its own; gold and distractors in random order; the same with gold first; gold
alone; none at all."""

ASKED_CONDITIONS: tuple[Condition, ...] = ("shuffled", "mixed", "gold", "none")
"""Conditions that the system is asked under; `retrieved` is what it did by itself."""

PARTS = ("retrieval", "ordering", "noise", "generation")


@dataclass(frozen=True, slots=True)
class LossPart:
    """What one stage costs, in the metric's units, with its 95 % interval; negative when it helps."""

    name: str
    loss: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Blame:
    """The loss of some samples, split."""

    metric: str
    samples: int
    scores: dict[str, float]
    """Mean score under each condition."""
    loss: float
    """From the score as retrieved to the best there is; the sum of the parts."""
    parts: tuple[LossPart, ...]
    prior: float
    """Mean score without any contexts: what the model knows by itself."""

    def to_dict(self) -> dict[str, Any]:
        """The split as plain JSON."""
        return asdict(self)


async def ablame(
    run: Run,
    system: Any,
    metric: MetricSpec,
    *,
    documents: Mapping[str, str] | None = None,
    judge: Any = None,
    store: str | Path | Store | None = None,
    limit: int = 100,
    settings: Mapping[str, Any] | None = None,
) -> Blame:
    """Ask the system again from gold, mixed, shuffled and no contexts, for the worst samples of a run, and split their loss.

    `documents` (id → text) holds the relevant ones; without it, those that any sample of the run retrieved are known."""
    target = resolve(metric)
    if target.bounds is None:
        raise RagstoneError(f"{target.name} has no best value to fall short of; blame needs one")
    under_test = build_system(system, settings).system
    if not takes_contexts(under_test):
        raise RagstoneError(
            f"the system {under_test.name!r} cannot be given contexts; blame needs "
            "answer_with(question, contexts)"
        )
    chosen = _choose_samples(run, target.name, documents or {}, limit)
    asked = await _ask_conditions(under_test, chosen)
    await under_test.close()
    values = {
        condition: await _score_values(samples, target.name, judge, store or run.stored.store)
        for condition, samples in asked.items()
    }
    scored_everywhere = [
        i for i in range(len(chosen)) if all(i in by_sample for by_sample in values.values())
    ]
    if not scored_everywhere:
        raise RagstoneError(
            f"{target.name} could not be scored under every condition for any sample"
        )
    low, high = target.bounds
    best, worst = (high, low) if target.higher_is_better else (low, high)
    table = {name: [by_sample[i] for i in scored_everywhere] for name, by_sample in values.items()}
    return split_loss(target.name, table, best=best, worst=worst)


def _choose_samples(
    run: Run, metric: str, documents: Mapping[str, str], limit: int
) -> list[tuple[Sample, dict[Condition, Ranked]]]:
    """The worst samples whose relevant documents are known, with the contexts of each condition."""
    rows = list(run.rows())
    known = collect_texts(row.sample for row in rows)
    known |= {name: Chunk(name, text) for name, text in documents.items()}
    chosen = [
        (row.sample, contexts)
        for row in _sort_worst_first(run, rows, metric)
        if (contexts := build_contexts(row.sample, known)) is not None
    ][:limit]
    if not chosen:
        raise RagstoneError(
            "no failing sample has relevant documents whose text is known; pass documents={id: text}"
        )
    return chosen


async def _ask_conditions(
    under_test: Any, chosen: Sequence[tuple[Sample, dict[Condition, Ranked]]]
) -> dict[Condition, list[Sample]]:
    """The samples as the system answers them under each condition."""
    asked: dict[Condition, list[Sample]] = {"retrieved": [sample for sample, _ in chosen]}
    for condition in ASKED_CONDITIONS:
        asked[condition] = []
        for sample, contexts in chosen:
            given = contexts[condition]
            reply = await under_test.answer_with(phrase_question(under_test, sample), given, sample)
            # scored against the contexts that it was given here, not those that it retrieved before
            asked[condition].append(
                replace(sample, answer=reply.answer, contexts=given, error=None)
            )
    return asked


def blame(run: Run, system: Any, metric: MetricSpec, **options: Any) -> Blame:
    """Split the loss of a run's worst samples over retrieval, ordering, noise and generation; see `ablame`."""
    return run_sync(lambda: ablame(run, system, metric, **options))


def collect_texts(samples: Iterable[Sample]) -> dict[str, Chunk]:
    """Every chunk that any of the samples retrieved, by id: where gold contexts can be taken from."""
    chunks: dict[str, Chunk] = {}
    for sample in samples:
        for chunk in sample.contexts or ():
            if chunk.id and chunk.text:
                chunks.setdefault(chunk.id, chunk)
    return chunks


def _choose_distractors(
    sample: Sample,
    known: Mapping[str, Chunk],
    wanted: Sequence[str],
    count: int,
    dice: random.Random,
) -> list[Chunk]:
    """Retrieved chunks that are not relevant, filled up at random with those of other samples."""
    noise = [c for c in sample.contexts or () if c.text and c.id not in wanted][:count]
    others = [name for name in known if name not in wanted and name not in {c.id for c in noise}]
    while len(noise) < count and others:
        noise.append(known[others.pop(dice.randrange(len(others)))])
    return noise


def build_contexts(
    sample: Sample, known: Mapping[str, Chunk], *, distractors: int = 4
) -> dict[Condition, Ranked] | None:
    """The contexts of each condition; None when the text of a relevant document is not known.

    Distractors are what the system itself retrieved besides the relevant documents, filled up from other samples."""
    wanted = [name for name, grade in (sample.relevant or {}).items() if grade > 0]
    if not wanted or any(name not in known for name in wanted):
        return None
    gold = [known[name] for name in wanted]
    # seeded by the sample, so that a sample gets the same distractors whatever else is in the run
    dice = random.Random(f"0:{sample.id}")
    noise = _choose_distractors(sample, known, wanted, distractors, dice)
    shuffled = [*gold, *noise]
    dice.shuffle(shuffled)
    return {
        "shuffled": Ranked(shuffled),
        "mixed": Ranked([*gold, *noise]),
        "gold": Ranked(gold),
        "none": Ranked(),
    }


def split_loss(
    metric: str,
    values: Mapping[Condition, Sequence[float]],
    *,
    best: float = 1.0,
    worst: float = 0.0,
) -> Blame:
    """Split the loss of the samples, whose scores under each condition stand at the same places."""
    import numpy as np

    missing = [name for name in ("retrieved", *ASKED_CONDITIONS) if name not in values]
    if missing:
        raise RagstoneError(f"no scores under {', '.join(missing)}; blame needs every condition")
    table = {name: np.asarray(scores, np.float64) for name, scores in values.items()}
    count = len(table["retrieved"])
    if not count or any(len(scores) != count for scores in table.values()):
        raise RagstoneError("blame needs the same samples, at least one, under every condition")
    steps = {
        "retrieval": table["shuffled"] - table["retrieved"],
        "ordering": table["mixed"] - table["shuffled"],
        "noise": table["gold"] - table["mixed"],
        "generation": best - table["gold"],
    }
    # for a metric where lower is better, steps are negative where the system improves
    sign = 1.0 if best >= worst else -1.0
    width = abs(best - worst)
    return Blame(
        metric=metric,
        samples=count,
        scores={name: float(scores.mean()) for name, scores in table.items()},
        loss=float((sign * (best - table["retrieved"])).mean()),
        parts=tuple(_build_part(name, sign * steps[name], width) for name in PARTS),
        prior=float(table["none"].mean()),
    )


def _build_part(name: str, steps: NDArray[np.float64], width: float) -> LossPart:
    interval = mean_interval(to_moments(steps), bounds=(-width, width))
    return LossPart(name, float(steps.mean()), interval.low, interval.high)


async def _score_values(
    samples: Sequence[Sample], metric: str, judge: Any, store: Any
) -> dict[int, float]:
    """Index of the sample → the metric's value, where there is one."""
    scored_run = await aevaluate(
        samples, [metric], judge=judge, store=":memory:" if judge is None else store
    )
    scored = {}
    for position, _, _, values in scored_run.stored.values():
        value = values[metric]
        if isinstance(value, float):
            scored[position - 1] = value  # positions count from 1
    # with a judge the store is the user's, for its stored replies; only this helper run is removed
    # from it
    if judge is not None:
        scored_run.delete()
    return scored


def _sort_worst_first(run: Run, rows: Sequence[Any], metric: str) -> list[Any]:
    """The samples that fall short in the metric, the worst first; all of them when the run was not scored with it."""
    described = next((entry for entry in run.info.metrics if entry["name"] == metric), None)
    if described is None:
        return list(rows)
    best = described["bounds"][1] if described["higher_is_better"] else described["bounds"][0]
    short = [
        (abs(best - value), row)
        for row in rows
        if (value := row.scores[metric].value) is not None and value != best
    ]
    return [row for _, row in sorted(short, key=lambda pair: -pair[0])]
