"""Measure what the metrics are worth with the embedded judge, on controls of the bundled corpus, and ship it.

python -m bench.judge_scales

Good controls are references, sentences of the documents and hand-written paraphrases as answers, with the right
document among others; bad ones are answers of other questions, other documents, halves of answers, wrong citations.
Writes `judges/offline/learned/scales.json`; to be run whenever the embedded judge changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bench.planted.controls import add_marker
from bench.planted.corpus import (
    Fact,
    build_ranking,
    build_sample,
    list_distractors,
    load_facts,
    to_contexts,
)
from bench.planted.faults import Setting, ask_two
from ragstone import evaluate
from ragstone.judges.factory import make_judge
from ragstone.judges.scale import (
    BUNDLED_FILE,
    JudgeScale,
    fingerprint_judge,
    load_bundled_scales,
    measure_scale,
)
from ragstone.metrics import resolve
from ragstone.types import Sample

Controls = tuple[list[Sample], list[Sample]]
"""Good ones and bad ones."""

EVERY = 2
"""Each second fact is a control, for the sake of time."""


def build_answers(facts: Sequence[Fact]) -> Controls:
    """Right answers of three shapes; answers of another question."""
    good, bad = [], []
    for number, fact in enumerate(facts):
        other = facts[(number + len(facts) // 2) % len(facts)]
        contexts = to_contexts(build_ranking(fact))
        for answer in (fact.reference, fact.evidence, fact.paraphrase):
            if answer:
                good.append(build_sample(fact, answer, contexts))
        bad += [
            build_sample(fact, answer, contexts) for answer in (other.reference, other.evidence)
        ]
    return good, bad


def build_grounding(facts: Sequence[Fact]) -> Controls:
    """Right answers with their document; the same with other documents, and answers of another question."""
    good, bad = build_answers(facts)
    for fact in facts:
        others = to_contexts(list_distractors(fact, 4))
        bad += [build_sample(fact, answer, others) for answer in (fact.reference, fact.evidence)]
    return good, bad


def build_retrieval(facts: Sequence[Fact]) -> Controls:
    """The right document among others; others alone."""
    good = [build_sample(f, f.evidence, to_contexts(build_ranking(f, rank=1 + n % 3))) for n, f in enumerate(facts)]  # fmt: skip
    return good, [build_sample(f, f.evidence, to_contexts(list_distractors(f, 4))) for f in facts]


def build_halves(facts: Sequence[Fact]) -> Controls:
    """Two questions in one, answered in whole; answered by half."""
    whole = [ask_two(fact, Setting(), is_whole=True) for fact in facts]
    return whole, [ask_two(fact, Setting(), is_whole=False) for fact in facts]


def build_citations(facts: Sequence[Fact]) -> Controls:
    """A sentence with the number of its chunk; with that of another."""
    good, bad = [], []
    for fact in facts:
        contexts = to_contexts(build_ranking(fact))
        good.append(build_sample(fact, add_marker(fact.evidence, 1), contexts))
        bad.append(build_sample(fact, add_marker(fact.evidence, 3), contexts))
    return good, bad


BUILDERS = {
    build_answers: ("answer_relevance", "answer_correctness"),
    build_grounding: ("faithfulness", "hallucination_rate"),
    build_retrieval: ("context_recall", "context_precision", "context_relevance"),
    build_halves: ("completeness",),
    build_citations: ("citation_precision", "citation_recall", "citation_accuracy"),
}


def measure_language(language: str) -> Iterable[JudgeScale]:
    """Score all controls of a language with the embedded judge."""
    judge = make_judge("offline")
    facts = load_facts(language)[::EVERY]
    for build, metrics in BUILDERS.items():
        sides = [_score(samples, metrics) for samples in build(facts)]
        for metric in metrics:
            good, bad = ([v for v in side[metric] if v is not None] for side in sides)
            count = sum(len(side[metric]) for side in sides)
            scale = measure_scale(
                good, bad, judge=fingerprint_judge(judge), name=judge.name, language=language,
                metric=metric, reply_rate=(len(good) + len(bad)) / count, source="controls",
                measured=datetime.now(UTC).date().isoformat(),
                higher_is_better=resolve(metric).higher_is_better,
            )  # fmt: skip
            if scale is not None:
                yield scale


def _score(samples: Sequence[Sample], metrics: Sequence[str]) -> Mapping[str, list[float | None]]:
    numbered = [replace(sample, id=str(number)) for number, sample in enumerate(samples)]
    run = evaluate(numbered, list(metrics), judge="offline", store=":memory:")
    rows = list(run.rows())
    return {metric: [row.scores[metric].value for row in rows] for metric in metrics}


def main() -> None:
    """Measure both languages and write the file."""
    # the bounds of a cascade are measured on labels: `python -m bench.cascade --write`
    unsure = {(old.language, old.metric): old.unsure for old in load_bundled_scales()}
    scales = [
        replace(scale, unsure=unsure.get((scale.language, scale.metric)))
        for language in ("en", "es")
        for scale in measure_language(language)
    ]
    for s in scales:
        print(
            f"{s.language} {s.metric:20} good {s.good.mean:.2f}±{s.good.spread:.2f} bad {s.bad.mean:.2f}±{s.bad.spread:.2f}"
            f"  limit {s.threshold:.2f}  right {s.balanced_accuracy:.2f}  false alarms {s.false_alarms:.2f}"
            f"  auroc {s.auroc:.2f}  {s.fitness}"
        )
    lines = ",\n".join(json.dumps(scale.to_json()) for scale in scales)
    BUNDLED_FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
