"""What users of a monitored system said of its answers, as labels."""

from __future__ import annotations

import json

from ragstone.labels.label import MONITOR, Label, Target
from ragstone.store import Store

FEEDBACK = "feedback"
"""Item of ratings that stand for themselves."""
USER = "user"
"""Author of feedback: the monitor does not keep who gave it."""


def load_feedback(store: Store, target: Target = "score") -> list[Label]:
    """The ratings that users gave interactions, as labels of a target; comments without a rating are notes.

    A thumb says that a user was pleased, not that the answer was correct: unless `target` says otherwise, it is a `score` of its
    own. Who gives feedback is no random choice: the labels have no sampling probability."""
    sql = "SELECT interaction, at, value, comment FROM feedback ORDER BY at, interaction"
    labels = []
    for interaction, at, value, comment in store.read(sql):
        # the monitor keeps texts from outside as JSON
        text = "" if comment is None else json.loads(comment)
        if value is None and not text:
            continue
        labels.append(
            Label(
                sample=str(interaction),
                target="note" if value is None else target,
                value=None if value is None else float(value),
                word=text if value is None else "",
                item=FEEDBACK if value is not None and target == "score" else "",
                author=USER,
                at=int(at),
                run=MONITOR,
                comment="" if value is None else text,
                origin="feedback",
            )
        )
    return labels
