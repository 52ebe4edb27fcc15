"""What the viewer keeps on every kind of store: test sets with their history, and views."""

from __future__ import annotations

import pytest

from ragstone.errors import DataError
from ragstone.store import Store
from ragstone.store.saved_views import forget_view, load_named_views, load_view, save_view
from ragstone.store.testsets import list_testsets, load_history, load_items, save_items


def test_the_last_state_of_an_item_counts_and_earlier_ones_stay(place: str) -> None:
    store = Store.open(place)
    rows = [{"id": "a", "question": "?"}, {"id": "b", "question": "¿?\x00\ud800"}]
    assert save_items(store, " gold  set ", rows, origin="monitor", author="ana") == 2
    assert (
        save_items(store, "gold set", rows, origin="", author="bo") == 0
    )  # the same is no revision
    save_items(store, "gold set", [{"id": "a", "question": "!"}], origin="", author="bo")
    assert next(item.row["question"] for item in load_items(store, "gold set")) == "!"
    assert [old.author for old in load_history(store, "gold set", "a")] == ["bo", "ana"]
    save_items(store, "gold set", [{"id": "b"}], origin="", author="bo")
    assert [(info.name, info.items) for info in list_testsets(store)] == [("gold set", 1)]
    save_items(store, "gold set", rows[1:], origin="", author="bo")  # it may come back
    assert [item.id for item in load_items(store, "gold set")] == ["a", "b"]
    with pytest.raises(DataError, match="name"):
        save_items(store, " \n", rows, origin="", author="")


def test_a_view_has_one_id_and_a_link_outlives_its_name(place: str) -> None:
    store = Store.open(place)
    id = save_view(store, "review?run=a", "worst", "ana")
    assert save_view(store, "review?run=a") == id  # a link takes no name away
    assert save_view(store, "review?run=b") != id
    assert [(view.name, view.address) for view in load_named_views(store)] == [
        ("worst", "review?run=a")
    ]
    save_view(store, "review?run=a", "weak", "bo")
    assert [view.name for view in load_named_views(store)] == ["weak"]
    forget_view(store, id)
    assert load_named_views(store) == []
    view = load_view(store, id)
    assert view is not None
    assert view.address == "review?run=a"
    assert load_view(store, "nothing") is None
