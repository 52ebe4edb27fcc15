"""Builds what a generation works with: the prover, the search for passages, and the maker that rules use.

Imports are inside the functions, so that only what is used is loaded: a maker is needed only without a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragstone.testset.generation import ItemProver, Maker
from ragstone.testset.sources import Corpus


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts, which share one corpus index."""

    prover: ItemProver
    nearest: Callable[[str, int, frozenset[str]], Sequence[tuple[str, str]]]
    """Text, how many, which documents not → id and text of the nearest passages."""
    maker: Callable[[], Maker]
    """Builds the maker; call it only without a judge."""
    close: Callable[[], None] = lambda: None
    """Removes the index from the disk."""


def build_parts(corpus: Corpus, *, judged: bool, styles: Sequence[str] = ()) -> Parts:
    """The parts for a corpus; with a judge that writes (`judged`), the prover leaves out the round trip, which that makes."""
    from ragstone.testset.index import CorpusIndex
    from ragstone.testset.passages import find_nearest_passages
    from ragstone.testset.proofs import Prover

    index = CorpusIndex(corpus)

    def build_maker() -> Maker:
        from ragstone.testset.offline import OfflineMaker

        return OfflineMaker(index, styles)

    return Parts(
        Prover(index, round_trip=not judged),
        lambda text, count, without: find_nearest_passages(index, text, count, without),
        build_maker,
        index.close,
    )
