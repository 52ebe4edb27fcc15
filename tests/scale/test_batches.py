"""Rows cut into batches: none is lost, and no worker waits long for another at the end."""

from __future__ import annotations

import json

from ragstone.scale.batches import MIN_BATCH_ROWS, Batch, BatchSizer

ROWS = [json.dumps({"answer": str(number)}) for number in range(400)]


def cut(total: int | None) -> list[Batch]:
    sizes = BatchSizer(total, 2, 0.5)
    batches = []
    for batch in sizes.cut(iter(ROWS), 11):
        batches.append(batch)
        sizes.add_timing(batch.count, 0.001)  # as quick as can be: batches would only grow
    return batches


def test_batches_follow_each_other_and_hold_every_row() -> None:
    for total in (None, 400):
        batches = cut(total)
        assert [row for batch in batches for row in batch.rows] == ROWS
        assert [batch.first for batch in batches] == [
            11 + sum(earlier.count for earlier in batches[:number])
            for number in range(len(batches))
        ]


def test_batches_get_smaller_towards_the_end_so_that_no_worker_waits_long_for_another() -> None:
    counts = [batch.count for batch in cut(400)]
    assert max(counts) > 4 * counts[-1]
    assert counts[-1] <= MIN_BATCH_ROWS


def test_halves_are_the_batch_again() -> None:
    batch = Batch(5, tuple(ROWS[:7]))
    first, second = batch.halve()
    assert first.rows + second.rows == batch.rows
    assert (first.first, second.first) == (5, 5 + first.count)
