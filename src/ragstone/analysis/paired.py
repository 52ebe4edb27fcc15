"""Two values for each sample: their mean difference, its interval, and its p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.significance import mcnemar, sign_flip
from ragstone.analysis.stats import Clusters, Interval, Moments, mean_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NO_INTERVAL = Interval()


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What pairs of values say; None where there is nothing to say it of."""

    pairs: int
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    sd: float | None = None
    """Standard deviation of the differences."""
    interval: Interval = NO_INTERVAL
    clusters: int | None = None
    """Independent pieces when samples are grouped; else None."""
    p: float | None = None
    test: str = ""
    """`mcnemar`, `sign flip` or `sign flip of groups`."""
    risen: int = 0
    fallen: int = 0


def compare_pairs(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    binary: bool = False,
) -> PairedDifference:
    """Compare two values of each sample; `groups` numbers the group of each, −1 for none."""
    import numpy as np

    if not len(before):
        return PairedDifference(0)
    differences = after - before
    # 0.1 + 0.2 against 0.3 is no change.
    scale = max(float(np.abs(before).max()), float(np.abs(after).max()))
    differences[np.abs(differences) <= 1e-12 * scale] = 0.0
    moments = to_moments(differences)
    clusters, pieces = _find_clusters(differences, groups, moments.mean)
    width = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    interval = mean_interval(moments, bounds=width, clusters=clusters)
    risen, fallen = int((differences > 0).sum()), int((differences < 0).sum())
    p: float | None
    # McNemar counts pairs as independent; with groups the signs of whole groups are flipped instead
    if binary and clusters is None:
        test, p = "mcnemar", mcnemar(risen, fallen)
    else:
        test = "sign flip" if clusters is None else "sign flip of groups"
        p = sign_flip(pieces)
    return PairedDifference(
        pairs=len(before),
        before=float(before.mean()),
        after=float(after.mean()),
        difference=moments.mean,
        sd=moments.sd,
        interval=interval,
        clusters=None if clusters is None else clusters.count,
        # one piece has one sign: there is nothing to test
        p=p if len(pieces) > 1 else None,
        test=test,
        risen=risen,
        fallen=fallen,
    )


def to_moments(values: NDArray[np.float64]) -> Moments:
    """What an interval needs of some values."""
    mean = float(values.mean())
    off = values - mean
    low, high = float(values.min()), float(values.max())
    squares = float(off @ off) if low < high else 0.0
    return Moments(len(values), mean, squares, float((off**3).sum()), low, high)


def _find_clusters(
    values: NDArray[np.float64], groups: NDArray[np.int64] | None, mean: float
) -> tuple[Clusters | None, NDArray[np.float64]]:
    """The groups when at least one holds two samples, and the sums of the pieces that are independent."""
    import numpy as np

    if groups is None or not (groups >= 0).any():
        return None, values
    inside = groups >= 0
    sizes = np.bincount(groups[inside])
    if int(sizes.max()) < 2:
        return None, values
    sums = np.bincount(groups[inside], values[inside]).astype(np.float64)
    used = sizes > 0
    alone = values[~inside]
    clusters = Clusters(
        sizes[used].astype(np.float64), sums[used], len(alone), float(((alone - mean) ** 2).sum())
    )
    return clusters, np.concatenate([sums[used], alone])
