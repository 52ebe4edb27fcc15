"""The system under test in a dry run: how often it would be asked, and what stands in for its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragstone.cli.messages import format_count
from ragstone.config import SystemPlan
from ragstone.data import Dataset
from ragstone.experiments.answer import DEFAULT_WARMUP, build_system
from ragstone.systems import System, SystemReply
from ragstone.systems.pipeline import Pipeline
from ragstone.systems.protocol import MEASURES, phrase_question
from ragstone.types import Sample


def answer_for_free(
    dataset: Dataset, samples: Sequence[Sample], under_test: SystemPlan
) -> tuple[list[Sample], list[str]]:
    """The samples with answers that cost nothing, and lines to print; only the free pipeline is really asked.

    The data set is counted; only `samples`, its first ones, are answered. Where none is free, the reference stands in."""
    system = build_system(under_test.spec, under_test.settings).system
    questions = sum(record.sample.question is not None for record in dataset)
    warmup = getattr(system, "warmup", DEFAULT_WARMUP) if questions else 0
    lines = [
        f"system: {system.name}, to be asked {format_count(questions, 'question')}"
        + (f" and {warmup} to warm up" if warmup else "")
    ]
    answered = [_answer_sample(sample, system) for sample in samples]
    asyncio.run(system.close())
    if any(sample.answer is None and sample.question is not None for sample in answered):
        answered = [
            replace(s, answer=s.reference if s.answer is None else s.answer) for s in answered
        ]
        lines.append("its answers are not known yet: references stand in, and contexts are missing")
    return answered, lines


def _answer_sample(sample: Sample, system: System) -> Sample:
    reply: Any = None
    # The built-in pipeline without an LLM is free and quick; any other system may charge for a
    # question.
    if isinstance(system, Pipeline) and system.settings.generator is None:
        reply = asyncio.run(system.answer(phrase_question(system, sample), sample))
    if not isinstance(reply, SystemReply):
        return replace(sample, answer=None, contexts=None)
    measured = {name: value for name in MEASURES if (value := getattr(reply, name)) is not None}
    return replace(
        sample,
        answer=reply.answer,
        contexts=reply.contexts,
        steps=reply.steps,
        meta={**sample.meta, **measured},
    )
