"""OpenAI-evals: samples, the log of a run, and items of the evals API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.row_format import (
    CONTEXTS,
    QUESTION,
    REFERENCE,
    Grouping,
    LocatedRows,
    build_format,
    nest_names,
)
from ragstone.data.source_notes import SourceNote


def _is_event(row: Mapping[str, Any]) -> bool:
    has_event_columns = {"sample_id", "type", "data"} <= row.keys()
    return has_event_columns or ("spec" in row and "eval_name" in str(row["spec"]))


def _group_openai_events(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Events of a log of OpenAI-evals: the prompt, what was sampled, what was expected."""
    samples: dict[str, dict[str, Any]] = {}
    skipped = 0
    for _, row in rows:
        data, name = row.get("data"), row.get("sample_id")
        if name is None or not isinstance(data, dict):
            skipped += 1
            continue
        sample = samples.setdefault(str(name), {"id": str(name), "meta": {}})
        if row.get("type") == "sampling":
            sample["question"] = _get_last_user_text(data.get("prompt"))
            sampled = data.get("sampled")
            sample["answer"] = sampled[0] if isinstance(sampled, list) and sampled else sampled
        else:
            expected = data.get("expected", data.get("ideal"))
            sample.setdefault(
                "reference", expected[0] if isinstance(expected, list) and expected else expected
            )
            scalars = {k: v for k, v in data.items() if isinstance(v, bool | int | float)}
            sample["meta"] |= scalars
    yield from samples.values()
    if skipped:
        note = SourceNote(
            "passed over {n} {n:line that is|lines that are} about no sample: spec and final report",
            n=skipped,
        )
        notes.append(note)


def _get_last_user_text(prompt: Any) -> Any:
    if not isinstance(prompt, list):
        return prompt
    messages = [message for message in prompt if isinstance(message, dict)]
    users = [message for message in messages if message.get("role") == "user"] or messages
    return users[-1].get("content") if users else None


FORMATS = (
    build_format(
        "openai-evals",
        "OpenAI-evals samples",
        ("input ideal",),
        allows_nested_text=True,
        id="id",
        question="input",
        reference="ideal",
        answer="sampled",
        meta="metadata",
    ),
    build_format(
        "openai-items",
        "OpenAI eval items",
        ("item sample",),
        allows_nested_text=True,
        allows_single_context=True,
        id="id",
        question=nest_names("item", QUESTION),
        answer="sample.output_text sample.choices",
        contexts=nest_names("item", CONTEXTS),
        reference=nest_names("item", f"{REFERENCE} correct_label ideal answer"),
        error="sample.error",
    ),
)

GROUPINGS = (Grouping("an OpenAI-evals log", _is_event, _group_openai_events),)
