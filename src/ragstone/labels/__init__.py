"""Labels of people: kept in the store, read and written, compared with each other and with judges."""

from ragstone.labels.agreement import (
    Agreement,
    list_disagreements,
    measure_agreement,
    resolve_labels,
)
from ragstone.labels.archive import (
    add_labels,
    attach_content,
    load_labels,
    load_revisions,
    load_run_labels,
    save_labels,
)
from ragstone.labels.correction import correct_difference, correct_run
from ragstone.labels.label import TARGETS, Label, Target
from ragstone.labels.reader import LabelFile, ReadOptions, read_labels
from ragstone.labels.session import LabelSession

__all__ = [
    "TARGETS",
    "Agreement",
    "Label",
    "LabelFile",
    "LabelSession",
    "ReadOptions",
    "Target",
    "add_labels",
    "attach_content",
    "correct_difference",
    "correct_run",
    "list_disagreements",
    "load_labels",
    "load_revisions",
    "load_run_labels",
    "measure_agreement",
    "read_labels",
    "resolve_labels",
    "save_labels",
]
