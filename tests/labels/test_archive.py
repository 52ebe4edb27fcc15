"""Labels in the store: revisions are kept, the latest counts, and only for the texts that were labelled."""

from __future__ import annotations

from dataclasses import replace

from labelled import make_claims, make_run
from ragstone.labels import Label, load_labels, load_revisions, load_run_labels, save_labels
from ragstone.labels.archive import attach_content
from ragstone.labels.feedback import load_feedback
from ragstone.monitor import Archive
from ragstone.monitor.interactions import Feedback
from ragstone.store import Store

LABEL = Label(
    "s0",
    "claim",
    1.0,
    "supported",
    item="claim \x00 “0”",
    author="ana",
    at=1,
    sampling_probability=0.25,
)


def test_a_label_comes_back_as_it_was_stored(place: str) -> None:
    store = Store.open(place)
    save_labels(store, [LABEL])
    (stored,) = load_labels(store)
    assert replace(stored, number=0) == LABEL


def test_the_latest_word_of_a_person_counts_and_the_earlier_stays(place: str) -> None:
    store = Store.open(place)
    save_labels(store, [LABEL])
    save_labels(store, [replace(LABEL, value=0.0, word="not_found", at=2)])
    save_labels(store, [replace(LABEL, author="luis", at=3)])
    assert [(label.author, label.word) for label in load_labels(store)] == [
        ("ana", "not_found"),
        ("luis", "supported"),
    ]
    assert len(load_revisions(store)) == 3


def test_a_label_taken_back_is_gone_from_what_counts_only(place: str) -> None:
    store = Store.open(place)
    save_labels(store, [LABEL])
    save_labels(store, [replace(LABEL, value=None, word="", at=2)])
    assert load_labels(store) == []
    assert len(load_revisions(store)) == 2


def test_labels_count_for_another_run_with_the_same_texts_only(place: str) -> None:
    store = Store.open(place)
    run = make_run(store, [make_claims("supported")])
    same = make_run(store, [make_claims("not_found")], name="r2")
    other = make_run(store, [make_claims("not_found")], name="r3", answer="It was built in 1900.")
    attached, unknown = attach_content(run, [LABEL, replace(LABEL, sample="s9")])
    assert [label.sample for label in unknown] == ["s9"]
    save_labels(store, attached)
    assert len(load_run_labels(run)) == len(load_run_labels(same)) == 1
    assert load_run_labels(other) == []


def test_labels_without_run_and_texts_count_by_the_id_of_the_sample(place: str) -> None:
    store = Store.open(place)
    run = make_run(store, [make_claims("supported")])
    save_labels(store, [LABEL, replace(LABEL, run="r9", author="luis")])
    assert [label.author for label in load_run_labels(run)] == ["ana"]


def test_feedback_of_the_monitor_becomes_labels(place: str) -> None:
    store = Store.open(place)
    at = 1_780_000_000_000_000
    archive = Archive(store)
    archive.add_feedback(
        [
            Feedback("i1", at, 1.0, "sí"),
            Feedback("i2", at, None, "slow"),
            Feedback("i3", at, 0.0, None),
        ]
    ).result()
    assert [label.item for label in load_feedback(store)] == ["feedback", "", "feedback"]
    labels = load_feedback(store, "correctness")
    assert [(label.sample, label.target, label.value) for label in labels] == [
        ("i1", "correctness", 1.0),
        ("i2", "note", None),
        ("i3", "correctness", 0.0),
    ]
    assert labels[0].comment == "sí"
    assert labels[1].word == "slow"
    assert {label.sampling_probability for label in labels} == {None}
    save_labels(store, [*labels, LABEL])
    archive.purge(ids=["i1"])
    assert [label.sample for label in load_labels(store)] == ["i2", "i3", "s0"]
