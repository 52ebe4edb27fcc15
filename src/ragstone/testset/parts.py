"""What a generation works with: the corpus index, the prover, and without a judge the maker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragstone.testset.generation import ItemProver, Maker
from ragstone.testset.sources import Corpus


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts, which share one index."""

    prover: ItemProver
    nearest: Callable[[str, int, frozenset[str]], Sequence[tuple[str, str]]]
    """Text, how many, which documents not → id and text of the nearest passages."""
    maker: Callable[[], Maker]
    close: Callable[[], None] = lambda: None


def build_parts(corpus: Corpus, *, judged: bool, styles: Sequence[str] = ()) -> Parts:
    """The parts for a corpus; with a judge, proofs leave to it what it will answer."""
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
