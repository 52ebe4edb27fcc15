"""What `--dry-run` says of the system under test: how often it would be asked, and what stands in for its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.cli.options import counted

if TYPE_CHECKING:
    from ragstone.data import Reading
    from ragstone.systems import Filling, System
    from ragstone.types import Sample


def answered_in_thought(
    reading: Reading, samples: Sequence[Sample], under_test: Mapping[str, Any], store: str | None
) -> tuple[list[Sample], list[str]]:
    """The samples with answers that cost nothing, and what there is to say; the system is asked only when it is the free pipeline.

    Answers kept from earlier runs come first; where there are none, the reference stands in."""
    from ragstone.errors import StoreError
    from ragstone.experiments.answer import chosen_system
    from ragstone.store import Store
    from ragstone.store.store import usual_place
    from ragstone.systems import Filling

    system = chosen_system(under_test["system"], under_test["settings"]).system
    try:
        kept: Filling | None = Filling(
            system, Store.open(store or usual_place(), must_exist=True), "dry run"
        )
    except StoreError:
        kept = None
    questions = [record.sample for record in reading if record.sample.question is not None]
    known = sum(kept is not None and kept.stored(one) is not None for one in questions)
    lines = [
        f"system: {system.name}, to be asked {counted(len(questions) - known, 'question')}"
        + (f"; {known:,} answered from the store" if known else "")
    ]
    found = [_answered(one, system, kept) for one in samples]
    asyncio.run(system.close())
    if any(one.answer is None and one.question is not None for one in found):
        found = [replace(one, answer=one.answer or one.reference) for one in found]
        lines.append("its answers are not known yet: references stand in, and contexts are missing")
    return found, lines


def _answered(sample: Sample, system: System, kept: Filling | None) -> Sample:
    from ragstone.systems import SystemReply
    from ragstone.systems.pipeline import Pipeline

    reply: Any = kept.stored(sample) if kept is not None else None
    if reply is None and isinstance(system, Pipeline) and system.settings.generator is None:
        reply = asyncio.run(system.answer(sample.question or "", sample))
    if not isinstance(reply, SystemReply):
        return replace(sample, answer=None, contexts=None)
    measured = {
        name: value
        for name in ("latency", "tokens", "cost")
        if (value := getattr(reply, name)) is not None
    }
    return replace(
        sample, answer=reply.answer, contexts=reply.contexts, meta={**sample.meta, **measured}
    )
