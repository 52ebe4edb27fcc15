"""Langfuse: a trace for each sample with its contexts, and a score for each metric with the evidence as its comment.

The traces of a run are a session. Ids are made from run and sample, so that a run sent again replaces its scores."""

from __future__ import annotations

from typing import Any

from ragstone.errors import RagstoneError
from ragstone.report.trackers.contents import RunContents, list_contexts
from ragstone.store import StoredRow

FLUSH_SAMPLES = 200
MAX_COMMENT_CHARS = 4_000


def send(run: RunContents, project: str) -> str:
    """Send a run to the project of LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY, at LANGFUSE_BASE_URL; `project` becomes a tag."""
    from langfuse import Langfuse, propagate_attributes

    client = Langfuse()
    # the client logs what goes wrong later and goes on: ask before anything is sent
    if not client.auth_check():
        raise RagstoneError(
            "Langfuse refuses the keys; set LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and LANGFUSE_BASE_URL"
        )
    count = 0
    with propagate_attributes(session_id=run.stored.id, tags=[project], trace_name=run.name):
        for count, row in enumerate(run.iter_samples(), 1):
            _send_sample(client, run, row)
            if count % FLUSH_SAMPLES == 0:
                client.flush()
    for metric in run.summary.metrics:
        if metric.mean is not None:
            interval = (
                ""
                if metric.low is None
                else f"95 % interval {metric.low:.3f} to {metric.high:.3f}; "
            )
            client.create_score(
                name=f"{metric.metric} mean", value=metric.mean, session_id=run.stored.id,
                score_id=run.make_id("mean", metric.metric, length=32), data_type="NUMERIC",
                comment=f"{interval}{metric.scored} of {metric.applicable} samples scored",
            )  # fmt: skip
    client.flush()
    client.shutdown()
    return f"{count} traces in the Langfuse session {run.stored.id}"


def _send_sample(client: Any, run: RunContents, row: StoredRow) -> None:
    sample = row.sample
    trace = run.make_id(row.id, length=32)
    observation = client.start_observation(
        trace_context={"trace_id": trace},
        name="sample",
        input=sample.question,
        output=sample.answer,
        metadata={"sample": row.id, "contexts": list_contexts(sample), "reference": sample.reference},
    )  # fmt: skip
    observation.end()
    for name, score in row.scores.items():
        score_id = run.make_id(row.id, name, length=32)
        comment = run.explain(score)[:MAX_COMMENT_CHARS]
        if score.value is not None:
            client.create_score(
                name=name, value=score.value, trace_id=trace, score_id=score_id,
                data_type="NUMERIC", comment=comment or None,
            )  # fmt: skip
        else:
            client.create_score(
                name=f"{name} outcome", value=score.outcome, trace_id=trace, score_id=score_id,
                data_type="CATEGORICAL", comment=comment or None,
            )  # fmt: skip
