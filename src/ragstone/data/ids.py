"""A compact set of sample ids: about 9 bytes an id."""

from __future__ import annotations

from array import array
from bisect import bisect_left

_BUCKET_BITS = 12


class SeenIds:
    """A set of ids, stored as 64-bit hashes in sorted buckets.

    A million ids take 9 MB (a set would take 90). Two different ids share a hash with probability
    3e-8 over a million rows; the later row would then be rejected as a duplicate. Rows without an
    id cost nothing until one with an id follows them."""

    def __init__(self) -> None:
        self._buckets: dict[int, array[int]] = {}
        """Filled as ids come: to make all of them takes longer than to read a small file."""
        self._last_unnamed = 0
        """Rows 1 to this one had no id and are known by their position."""
        self._has_named = False

    def add(self, sample_id: str | None, position: int) -> bool:
        """Add the id (without one, the position) and return whether it is new."""
        if sample_id is None:
            if not self._has_named:
                self._last_unnamed = position
                return True
            sample_id = str(position)
        self._has_named = True
        # an id that is the position of an earlier row without id; "07" is no position
        if (
            self._last_unnamed
            and sample_id.isascii()
            and sample_id.isdigit()
            and len(sample_id) < 20
            and sample_id[0] != "0"
            and int(sample_id) <= self._last_unnamed
        ):
            return False
        # Python's own hash, keyed anew for each process: nobody can prepare ids that collide
        key = hash(sample_id)
        place = key & ((1 << _BUCKET_BITS) - 1)
        bucket = self._buckets.get(place)
        if bucket is None:
            self._buckets[place] = array("q", (key,))
            return True
        at = bisect_left(bucket, key)
        if at < len(bucket) and bucket[at] == key:
            return False
        bucket.insert(at, key)
        return True
