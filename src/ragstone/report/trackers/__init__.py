"""Stored runs in the trackers that teams already use: figures with intervals, samples with scores, evidence.

Each tracker is a module here with a function `send(run, project)`, which uses the tracker's own client: it finds the
server and the key where that client always finds them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError, suggest_nearest

if TYPE_CHECKING:
    from ragstone.experiments.run import Run

TRACKERS = ("mlflow", "wandb", "langfuse", "phoenix", "otel")
DEFAULT_PROJECT = "ragstone"


def send(run: Run, tracker: str, *, project: str | None = None, **options: Any) -> str:
    """Send figures, samples and evidence of a run to a tracker (mlflow, wandb, langfuse, phoenix, otel); returns where they are."""
    from ragstone.report.trackers.contents import RunContents

    if tracker not in TRACKERS:
        raise RagstoneError(f"no tracker {tracker!r}{suggest_nearest(tracker, TRACKERS)}")
    contents = RunContents(run.stored, run.summary(), run.info.plan.language or "en")
    module = import_module(f"ragstone.report.trackers.{tracker}_tracker")
    try:
        place: str = module.send(contents, project or DEFAULT_PROJECT, **options)
    except RagstoneError:
        raise
    except ImportError as missing:
        name = (missing.name or "").partition(".")[0]
        raise RagstoneError(
            f"{tracker} needs {name}: pip install 'ragstone[{tracker}]'"
        ) from missing
    except (
        Exception
    ) as fault:  # every client has exceptions of its own, and says in them what to do
        text = " ".join(str(fault).split()) or type(fault).__name__
        raise RagstoneError(f"{tracker}: {text}") from fault
    return place
