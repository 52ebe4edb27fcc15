"""The system under test in a dry run: how often it would be asked, and what stands in for its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragstone.cli.messages import format_count
from ragstone.config import SystemPlan
from ragstone.data import Dataset
from ragstone.errors import StoreError
from ragstone.experiments.answer import DEFAULT_WARMUP, build_system
from ragstone.store import Store, default_place
from ragstone.systems import System, SystemReply, SystemRunner
from ragstone.systems.pipeline import Pipeline
from ragstone.systems.protocol import MEASURES, phrase_question
from ragstone.types import Sample


def answer_for_free(
    dataset: Dataset, samples: Sequence[Sample], under_test: SystemPlan, store: str | None
) -> tuple[list[Sample], list[str]]:
    """The samples with answers that cost nothing, and lines to print; only the free pipeline is really asked.

    The data set is counted; only `samples`, its first ones, are answered. Answers kept from earlier runs come first; where
    there are none, the reference stands in."""
    system = build_system(under_test.spec, under_test.settings).system
    runner = _open_runner(system, store)
    questions = [record.sample for record in dataset if record.sample.question is not None]
    stored = _count_stored(questions, runner)
    unanswered = len(questions) - stored
    warmup = getattr(system, "warmup", DEFAULT_WARMUP) if unanswered else 0
    lines = [
        f"system: {system.name}, to be asked {format_count(unanswered, 'question')}"
        + (f" and {warmup} to warm up" if warmup else "")
        + (f"; {stored:,} answered from the store" if stored else "")
    ]
    answered = [_answer_sample(sample, system, runner) for sample in samples]
    asyncio.run(system.close())
    if any(sample.answer is None and sample.question is not None for sample in answered):
        answered = [
            replace(s, answer=s.reference if s.answer is None else s.answer) for s in answered
        ]
        lines.append("its answers are not known yet: references stand in, and contexts are missing")
    return answered, lines


def _open_runner(system: System, store: str | None) -> SystemRunner | None:
    """The runner that knows the answers of earlier runs; None without a store, which a dry run does not create."""
    try:
        opened_store = Store.open(store or default_place(), must_exist=True)
    except StoreError:
        return None
    return SystemRunner(
        system, opened_store, "dry run"
    )  # in place of a run's id: nothing is stored


def _count_stored(samples: Sequence[Sample], runner: SystemRunner | None) -> int:
    if runner is None:
        return 0
    return sum(runner.load_reply(sample) is not None for sample in samples)


def _answer_sample(sample: Sample, system: System, runner: SystemRunner | None) -> Sample:
    reply: Any = runner.load_reply(sample) if runner is not None else None
    # The built-in pipeline without an LLM is free and quick; any other system may charge for a
    # question.
    if reply is None and isinstance(system, Pipeline) and system.settings.generator is None:
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
