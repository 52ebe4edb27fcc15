"""Which sample ids were seen, in about 9 bytes an id."""

from __future__ import annotations

from array import array
from bisect import bisect_left

_BITS = 12


class SeenIds:
    """Ids given so far, kept as 64-bit hashes in sorted buckets.

    A million ids take 9 MB (a set would take 90). Two different ids share a hash with probability
    3e-8 over a million rows; the later row would then be refused as a repetition. Rows without an
    id cost nothing until one with an id follows them."""

    def __init__(self) -> None:
        self._buckets = [array("q") for _ in range(1 << _BITS)]
        self._unnamed = 0
        """Rows 1 to this one had no id and are known by their position."""
        self._named = False

    def add(self, given: str | None, position: int) -> bool:
        """Whether the id (the position, if none is given) is new; it is seen from now on."""
        if given is None:
            if not self._named:
                self._unnamed = position
                return True
            given = str(position)
        self._named = True
        if (
            self._unnamed
            and given.isascii()
            and given.isdigit()
            and len(given) < 20
            and given[0] != "0"
            and int(given) <= self._unnamed
        ):
            return False
        key = hash(given)
        bucket = self._buckets[key & ((1 << _BITS) - 1)]
        at = bisect_left(bucket, key)
        if at < len(bucket) and bucket[at] == key:
            return False
        bucket.insert(at, key)
        return True
