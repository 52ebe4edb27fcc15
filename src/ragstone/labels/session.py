"""Labelling the units of a run one by one; the terminal and the viewer show them, this keeps what people say.

Each label is on disk when it is given, with the sampling probabilities of all labels of the draw, so that stopping at any moment loses
nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.labels.archive import load_labels, save_labels, save_sampling_probabilities
from ragstone.labels.label import SKIP, Label, Origin, Target, hash_content, parse_value
from ragstone.labels.selection import RANDOM_SHARE, LabelDraw, UnitChoice
from ragstone.labels.units import list_units, require_metric
from ragstone.store import StoredRun
from ragstone.types import Sample


class LabelSession:
    """One person who labels one target of a run; where the judge of the run `against` differs, units come sooner."""

    def __init__(
        self, run: StoredRun, target: Target, author: str, *, against: StoredRun | None = None
    ) -> None:
        require_metric(run, target)
        self.run = run
        self.target = target
        self.author = author
        units = list_units(run, target)
        other = None if against is None else _map_predictions(against, target)
        self.total = len(units)
        self._draw = LabelDraw.of(units, target, other)
        self._labels = load_labels(run.store, run=run.id, target=target)

    @property
    def own_labels(self) -> list[Label]:
        """What this person has said so far, skipped units included."""
        return [label for label in self._labels if label.author == self.author]

    def reload(self) -> None:
        """Read the labels again: others may have labelled meanwhile, and the probabilities of a draw follow from all of them."""
        self._labels = load_labels(self.run.store, run=self.run.id, target=self.target)

    def choose_next(self, count: int, random_share: float = RANDOM_SHARE) -> list[UnitChoice]:
        """The next units to label."""
        return self._draw.choose_next(count, self._labels, self.author, random_share)

    def load_sample(self, choice: UnitChoice) -> Sample:
        """The sample of a unit with its texts."""
        return self.run.row(choice.unit.position).sample

    def save(self, choice: UnitChoice, given: str | float, comment: str = "") -> Label:
        """Keep what the person says of a unit; `skip` when it cannot be decided. A later word on it replaces this."""
        # a number is on the scale of labels already; a word or a typed number is read as in a file
        value, word = parse_value(
            self.target, given, None if isinstance(given, str) else (0.0, 1.0)
        )
        return self._store(choice, value, word, comment, choice.origin)

    def take_back(self, choice: UnitChoice) -> None:
        """Take back what the person said of a unit; the earlier label stays in the store as a revision."""
        self._store(choice, None, "", "", choice.origin)

    def _store(
        self, choice: UnitChoice, value: float | None, word: str, comment: str, origin: Origin
    ) -> Label:
        unit = choice.unit
        content = hash_content(self.load_sample(choice), self.target, unit.item)
        label = Label(
            sample=unit.sample, target=self.target, value=value, word=word, item=unit.item,
            author=self.author, at=time.time_ns() // 1000, run=self.run.id, comment=comment,
            content=content, origin=origin,
        )  # fmt: skip
        # stored with its probability at once; then those of the others, which this label changes, follow
        probabilities = self._draw.compute_sampling_probabilities([*self._labels, label])
        save_labels(
            self.run.store, [replace(label, sampling_probability=probabilities.get(unit.key))]
        )
        self._labels = load_labels(self.run.store, run=self.run.id, target=self.target)
        probabilities = self._draw.compute_sampling_probabilities(self._labels)
        self._save_changed(probabilities)
        return label

    def _save_changed(self, probabilities: Mapping[tuple[str, str], float]) -> None:
        changed: dict[int, float | None] = {}
        for label in self._labels:
            probability = probabilities.get((label.sample, label.item))
            # a label outside the draw, an imported one say, keeps the probability that it came with
            if probability is not None and probability != label.sampling_probability:
                changed[label.number] = probability
        save_sampling_probabilities(self.run.store, changed)


def choose_author(name: str | None) -> str:
    """The name of the person: as given, else the one of the account."""
    import getpass

    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def count_answers(labels: Sequence[Label]) -> tuple[int, int]:
    """How many units were labelled and how many skipped."""
    skipped = sum(label.word == SKIP and label.value is None for label in labels)
    return len(labels) - skipped, skipped


def _map_predictions(run: StoredRun, target: Target) -> dict[tuple[str, str], float]:
    return {unit.key: unit.prediction for unit in list_units(run, target)}
