"""Are the conclusions of `failures` and `diagnose` true? Healthy runs must be silent, planted faults named first.

python -m bench.conclusions [--judge offline|perfect|both] [--sample] [--unseen] [--blind]

Eight healthy runs of different shape and twenty faults in two severities (a fifth of all samples; nearly all of a
slice), in English and Spanish, on the bundled corpus. Each is judged by the embedded judge and by one that knows the
truth. Beside each figure stands the simplest rule: the metric with the lowest mean names the cause."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.planted.blind import BLIND_CONTROLS, BLIND_FAULTS, build_blind_control
from bench.planted.controls import CONTROLS, build_control
from bench.planted.corpus import load_facts
from bench.planted.faults import FAULTS, Fault, PlantedRun, build_faulty
from bench.planted.perfect_judge import PerfectJudge
from bench.planted.unseen import UNSEEN_CONTROLS, UNSEEN_FAULTS, build_shop, build_unseen
from ragstone import evaluate
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.classes import Scales
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.analysis.headline import find_headline
from ragstone.analysis.scales import find_scales
from ragstone.analysis.slices import Slice
from ragstone.analysis.traits import count_traits, list_topics, name_languages
from ragstone.asks import Answered, Ask
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.judges.scale import ControlValues, JudgeScale
from ragstone.types import Sample

METRICS = (
    "recall", "mrr", "faithfulness", "answer_relevance", "completeness", "answer_correctness", "answer_language",
)  # fmt: skip
LOWEST = {
    "recall": "retrieval_failure",
    "mrr": "ranking_failure",
    "faithfulness": "hallucination",
    "answer_relevance": "off_topic",
    "completeness": "incomplete",
    "answer_correctness": "generation_failure",
    "answer_language": "wrong_language",
    "citation_precision": "citation_failure",
}
"""The baseline: which class the metric with the lowest mean stands for."""
SAMPLE_FAULTS = (
    "chunk truncated",
    "number changed",
    "other language",
    "rambling",
    "other question",
)
SAMPLE_CONTROLS = (("short", "es"), ("paraphrased", "en"), ("ten chunks", "es"))
MIN_OVERLAP = 0.7
"""F1 of the samples of a named slice and of the planted one from which it counts as named."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was said of a run."""

    case: str
    wanted: str | None
    """The class that was planted; None for a healthy run."""
    said: tuple[str, ...]
    """Classes of the diagnoses, the first first."""
    lowest: str
    """What the baseline would have said."""
    slice_wanted: str | None
    slice_said: str
    slice_right: bool
    headline: tuple[str, ...]
    """Classes that the headline of the run names; it and the diagnosis must not contradict each other."""

    @property
    def is_right(self) -> bool:
        """Whether nothing was said of a healthy run, or the planted cause first."""
        return not self.said if self.wanted is None else self.said[:1] == (self.wanted,)


class CachingJudge:
    """A judge that answers the same Ask once: runs share most of their samples."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name, self.batch, self.concurrency, self.local = judge.name, judge.batch, 1, True
        self._replies: dict[str, Answered] = {}

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        return self._judge.identity(ask)

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        new = [ask for ask in asks if ask.key not in self._replies]
        for ask, reply in zip(new, await self._judge.answer(new), strict=True):
            self._replies[ask.key] = reply
        return [self._replies[ask.key] for ask in asks]

    async def close(self) -> None:
        """Nothing to release between runs."""


def make_judges(which: str) -> dict[str, tuple[CachingJudge, Scales | None]]:
    """Return the judges asked for, with scales where they are not in the package."""
    judges: dict[str, tuple[CachingJudge, Scales | None]] = {}
    if which in ("perfect", "both"):
        judges["perfect"] = (CachingJudge(make_judge(PerfectJudge())), build_perfect_scales())
    if which in ("offline", "both"):
        judges["offline"] = (CachingJudge(make_judge("offline")), None)
    return judges


def build_perfect_scales() -> Scales:
    """Return the scales of a judge whose values are 1 for good controls and 0 for bad ones, half for half an answer."""
    scales = {}
    for language in ("en", "es"):
        for metric in LOWEST:
            threshold = 0.75 if metric == "completeness" else 0.5
            scales[language, metric] = JudgeScale(
                "perfect", "perfect", language, metric, ControlValues(1.0, 0.0, 400), ControlValues(0.0, 0.0, 400),
                threshold, 1.0, 1.0, 0.5, 1.0, "controls", "2026-11-17",
            )  # fmt: skip
    return scales


def conclude(
    case: str, samples: Sequence[Sample], judge: CachingJudge, scales: Scales | None,
    fault: Fault | None = None, planted: PlantedRun | None = None,
) -> Conclusion:  # fmt: skip
    """Evaluate the samples, diagnose the run and compare with what is known of it."""
    metrics = [*METRICS, *(fault.metrics if fault else ())]
    if fault is None and any("[1]" in (sample.answer or "") for sample in samples):
        metrics.append("citation_precision")
    run = evaluate(samples, metrics, judge=judge, store=":memory:")
    known = find_scales(run.stored) if scales is None else scales
    failures = analyse_failures(run.stored, scales=known)
    summary = run.summary()
    diagnoses = diagnose(run.stored, summary, failures, load_symptoms())
    means = {m.metric: m.mean for m in summary.metrics if m.mean is not None}
    lowest = LOWEST[min(means, key=lambda name: means[name])]
    first = diagnoses[0] if diagnoses else None
    part = first.slice if first else None
    return Conclusion(
        case,
        fault.cause if fault else None,
        tuple(d.kind or d.symptom for d in diagnoses),
        lowest,
        planted.slice if planted else None,
        f"{part.field} {part.value}" if part else "",
        _is_slice_right(part, planted),
        find_headline(run.stored, summary).causes if scales is None else (),
    )


def _is_slice_right(part: Slice | None, planted: PlantedRun | None) -> bool:
    """Whether the slice named has the samples of the planted one; no slice was planted in a mild fault."""
    if planted is None or planted.slice is None:
        return part is None
    if part is None:
        return False
    members = {sample.id for sample in planted.samples if _is_member(sample, part)}
    both = len(members & planted.members)
    return 2 * both / max(len(members) + len(planted.members), 1) >= MIN_OVERLAP


def _is_member(sample: Sample, part: Slice) -> bool:
    if part.field == "word" and not part.is_tagged:
        return part.value.lower() in list_topics(sample)
    counted = dict(count_traits(sample)).get(part.field)
    if not part.is_tagged:
        side, limit = part.value.split()
        return counted is not None and (counted <= int(limit)) == (side == "<=")
    tags = {"language": sample.language, "language_pair": name_languages(sample), **sample.meta}
    return str(tags.get(part.field)) == part.value


def iterate_cases(
    is_sample: bool,
) -> Iterator[tuple[str, Sequence[Sample], Fault | None, PlantedRun | None]]:
    """Every control and planted run."""
    for language in ("en", "es"):
        for shape in CONTROLS:
            if not is_sample or (shape, language) in SAMPLE_CONTROLS:
                yield f"{shape}, {language}", build_control(shape, language), None, None
    for number, fault in enumerate(FAULTS):
        if is_sample and fault.name not in SAMPLE_FAULTS:
            continue
        for shift, language in enumerate(("en", "es")):
            slice = fault.slices[(number + 3 * shift) % len(fault.slices)]
            for place in (None, slice):
                if is_sample and (place is None) != (shift == 0):
                    continue
                planted = build_faulty(fault, language, place)
                severity = "mild" if place is None else f"in {place}"
                yield f"{fault.name}, {language}, {severity}", planted.samples, fault, planted


UnseenCase = tuple[str, Sequence[Sample], Fault | None, PlantedRun | None, tuple[str, ...]]


def iterate_blind() -> Iterator[UnseenCase]:
    """Controls and faults by somebody who had not read the rules."""
    for language in ("en", "es"):
        for shape in BLIND_CONTROLS:
            yield f"{shape}, {language}", build_blind_control(shape, language), None, None, ()
        for fault, causes in BLIND_FAULTS:
            planted = build_unseen(fault, language)
            yield f"{fault.name}, {language}", planted.samples, fault, planted, causes


def iterate_unseen() -> Iterator[UnseenCase]:
    """Controls and faults that no rule was tuned on, with the causes that a person would accept."""
    for language in ("en", "es"):
        for shape, build in UNSEEN_CONTROLS.items():
            yield f"{shape}, {language}", build(load_facts(language)), None, None, ()
        for fault, causes in UNSEEN_FAULTS:
            planted = build_unseen(fault, language)
            yield f"{fault.name}, {language}", planted.samples, fault, planted, causes
        shop = build_shop(language)
        fault = Fault("shop, version 1", "retrieval_failure", lambda fact, setting: None)
        yield f"{fault.name}, {language}", shop.samples, fault, shop, ("retrieval_failure",)


def run_unseen(name: str, cases: Iterator[UnseenCase]) -> list[Conclusion]:
    """Conclude on what no rule was tuned on, with the embedded judge: the other one does not know these texts."""
    ((judge, scales),) = make_judges("offline").values()
    conclusions = []
    for case, samples, fault, planted, causes in cases:
        conclusion = conclude(case, samples, judge, scales, fault, planted)
        if conclusion.said[:1] and conclusion.said[0] in causes:
            conclusion = replace(conclusion, wanted=conclusion.said[0])
        conclusions.append(conclusion)
        print(f"  {'right' if conclusion.is_right else 'WRONG'}  {case}: {', '.join(conclusion.said) or 'nothing'}; slice {conclusion.slice_said or 'none'}", flush=True)  # fmt: skip
    print_figures(f"{name}, offline", conclusions, time.process_time())
    return conclusions


def run_bench(
    which: str, *, is_sample: bool = False, is_loud: bool = True
) -> dict[str, list[Conclusion]]:
    """Conclude on every case with each judge."""
    results: dict[str, list[Conclusion]] = {}
    for name, (judge, scales) in make_judges(which).items():
        started = time.process_time()
        results[name] = []
        for case, samples, fault, planted in iterate_cases(is_sample):
            conclusion = conclude(case, samples, judge, scales, fault, planted)
            results[name].append(conclusion)
            if is_loud and not (conclusion.is_right and conclusion.slice_right):
                said = ", ".join(conclusion.said) or "nothing"
                print(f"  {case}: {said}; slice {conclusion.slice_said or 'none'}", flush=True)
        if is_loud:
            print_figures(name, results[name], time.process_time() - started)
    return results


def print_figures(judge: str, conclusions: Sequence[Conclusion], seconds: float) -> None:
    """Print the bars of one judge."""
    healthy = [c for c in conclusions if c.wanted is None]
    faulty = [c for c in conclusions if c.wanted is not None]
    sliced = [c for c in faulty if c.slice_wanted]
    whole = [c for c in faulty if not c.slice_wanted]
    baseline = sum(c.lowest == c.wanted for c in faulty)
    print(f"{judge} ({seconds:.0f} s of CPU)")
    print(f"  healthy controls silent   {sum(c.is_right for c in healthy)} of {len(healthy)}  (baseline 0: it always names one)")  # fmt: skip
    print(f"  planted cause first       {sum(c.is_right for c in faulty)} of {len(faulty)}  (baseline {baseline})")  # fmt: skip
    print(f"  slice named               {sum(c.slice_right for c in sliced)} of {len(sliced)}")
    print(f"  no slice where none is    {sum(c.slice_right for c in whole)} of {len(whole)}")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", choices=["offline", "perfect", "both"], default="both")
    parser.add_argument("--sample", action="store_true", help="a few cases only")
    parser.add_argument("--unseen", action="store_true", help="only what no rule was tuned on")
    parser.add_argument(
        "--blind", action="store_true", help="only what was written without the rules"
    )
    options = parser.parse_args()
    if options.unseen or options.blind:
        if options.unseen:
            run_unseen("unseen", iterate_unseen())
        if options.blind:
            run_unseen("blind", iterate_blind())
        return
    run_bench(options.judge, is_sample=options.sample)


if __name__ == "__main__":
    main()
