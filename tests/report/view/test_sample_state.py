"""The state of a list of samples: read from an address, written back as links, and what cannot be read is said."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from ragstone.report.translator import load_translator
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_samples import POSITION, SPREAD, ValueRange
from ragstone.report.view.sample_state import SampleState, format_range, parse_range, read_state

METRICS = {"recall": True, "latency": False, "p:1": True}


def read(lead: str = "recall", **values: list[str]) -> SampleState:
    frame = ViewFrame(load_translator("en"), "review", values)
    return read_state(frame, ["r1"], "r1", METRICS, lead)


def follow(href: str) -> SampleState:
    return read(**parse_qs(urlsplit(href).query))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("recall:0.2:0.5", ValueRange("recall", 0.2, 0.5)),
        ("recall:0.2:0.5-", ValueRange("recall", 0.2, 0.5, excludes_high=True)),
        ("recall::0.5", ValueRange("recall", None, 0.5)),
        ("recall:0.2:", ValueRange("recall", 0.2, None)),
        ("p:1:0.2:0.5", ValueRange("p:1", 0.2, 0.5)),
        ("recall:-1:-0.5", ValueRange("recall", -1.0, -0.5)),
        ("recall:0.5", None),
        ("recall:a:b", None),
        ("recall:nan:1", None),
        ("recall:0:inf", None),
        (":0:1", None),
    ],
)
def test_a_range_is_read_and_written_the_same(text: str, part) -> None:
    assert parse_range(text) == part
    if part is not None:
        assert format_range(part) == text


@pytest.mark.parametrize(
    ("values", "sort", "descending"),
    [
        ({}, "recall", False),
        ({"sort": ["latency"]}, "latency", True),
        ({"sort": ["latency"], "dir": ["up"]}, "latency", False),
        ({"dir": ["down"]}, "recall", True),
        ({"sort": [POSITION]}, POSITION, False),
        ({"sort": ["nonsense"]}, "recall", False),
    ],
)
def test_the_worst_come_first_unless_the_address_says_otherwise(values, sort, descending) -> None:
    query = read(**values).query
    assert (query.sort, query.descending) == (sort, descending)


def test_what_cannot_be_read_is_left_out_and_kept_to_be_said() -> None:
    state = read(range=["recall:x:1", "bleu:0:1"], **{"is": ["verdict", "language:es"]}, sort=["bleu"])  # fmt: skip
    assert state.complaints == ("recall:x:1", "bleu:0:1", "verdict", "bleu")
    assert (state.query.ranges, state.query.traits) == ((), (("language", "es"),))


def test_the_three_fields_of_the_form_are_a_range() -> None:
    assert read(on=["recall"], low=["0.2"]).query.ranges == (ValueRange("recall", 0.2),)
    assert not read(on=["recall"]).is_filtered


def test_links_change_one_part_and_keep_the_others() -> None:
    state = read(q=["blue"], range=["recall:0:0.5"], **{"is": ["meta.a:b", "language:es"]})
    assert state.is_filtered
    assert follow(state.href()).query == state.query
    added = follow(state.add_trait("a:b%", "x:y")).query.traits
    assert added == (("meta.a", "b"), ("language", "es"), ("a:b%", "x:y"))
    assert follow(state.add_trait("language", "en")).query.traits == (("meta.a", "b"), ("language", "en"))  # fmt: skip
    assert state.add_trait("language", "en").count("language") == 1
    assert follow(state.drop_trait("language")).query.traits == (("meta.a", "b"),)
    part = ValueRange("recall", 0.5, 1.0)
    assert follow(state.set_range(part)).query.ranges == (part,)
    assert follow(state.drop_range("recall")).query.ranges == ()


def test_a_link_has_its_page_and_sample() -> None:
    state = read(sort=["latency"], page=["3"])
    assert state.page == 3
    assert state.href("pane", at=7, number=2).startswith("pane?run=r1&at=7")
    assert "page=2" in state.href(number=2)
    assert "page" not in state.href()


def test_several_runs_begin_with_what_differs_most_in_a_metric_that_all_have() -> None:
    frame = ViewFrame(load_translator("en"), "review", {"metric": ["latency"]})
    state = read_state(frame, ["r1", "r2"], "r2", METRICS, "recall", ["recall"])
    assert (state.query.sort, state.query.descending, state.query.compared) == (SPREAD, True, "recall")  # fmt: skip
    assert state.complaints == ("latency",)
