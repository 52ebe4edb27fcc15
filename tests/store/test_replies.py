"""Replies in and out of the store: exact, readable from older files, and kept even while someone else writes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ragstone.asks import Reply
from ragstone.locale.messages import code_of, compose, render
from ragstone.store import Store, replies
from ragstone.store.replies import remove_checksum
from ragstone.types import Usage


def kept(store: Store, key: str, reply: Reply) -> None:
    waiting = store.save_replies([(key, "embed", reply)], run="r", judge="j")
    if waiting is not None:
        waiting.result(timeout=60)


@pytest.mark.parametrize(
    "vectors", [[[0.1, -2.5e-300, 3.0], [1e300, 0.0, -0.0]], [[]], [], [["no number"]], "none", [[1, 2]]]
)  # fmt: skip
def test_vectors_come_back_as_they_were(vectors: object) -> None:
    reply = Reply({"vectors": vectors}, Usage(1), ("note",), 0.125)
    decoded = replies.decode_reply(replies.encode_reply(reply), Usage(1))
    assert (decoded, decoded.seconds) == (reply, 0.125)


def test_vectors_of_an_older_store_are_read() -> None:
    older = json.dumps({"value": {"vectors": [[0.5, 0.25]]}, "notes": []})
    decoded = replies.decode_reply(older, Usage())
    assert (decoded.value, decoded.seconds) == ({"vectors": [[0.5, 0.25]]}, None)


@pytest.mark.parametrize(
    "value", [{"a": [1, 0.1, 1e-300, True]}, {"a": None}, {"a": "null"}, {"a": "\ud800 é"}, ["x"], "x", 1]
)  # fmt: skip
def test_values_come_back_as_they_were(value: object) -> None:
    text = replies.encode_reply(Reply(value, Usage(1)))
    assert text.isascii()
    assert replies.decode_reply(text, Usage(1)).value == value


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        replies.encode_reply(Reply({"a": float("nan")}, Usage(1)))


def test_messages_inside_a_value_keep_their_codes() -> None:
    reason = compose("rubric_faults", faults=(compose("end_cut_off"), compose("thread_lost")))
    rows = [{"id": "c1", "reason": reason}, {"id": "c2", "reason": "a model's own words"}]
    text = remove_checksum(replies.encode_reply(Reply({"verdicts": rows})))
    assert json.loads(text)["value"]["verdicts"][0]["reason"] == str(reason)
    first, second = replies.decode_reply(text, Usage()).value["verdicts"]
    assert code_of(first["reason"]) == "rubric_faults"
    assert render(first["reason"], "es") == render(reason, "es") != str(reason)
    assert code_of(second["reason"]) == "custom"


def test_several_replies_are_looked_up_at_once(place: str) -> None:
    store = Store.open(place)
    for n in range(3):
        kept(store, f"k{n}", Reply({"n": n}, Usage(1)))
    found = store.replies(["k0", "k2", "k9"], "r")
    assert {key: reply.value for key, reply in found.items()} == {"k0": {"n": 0}, "k2": {"n": 2}}
    assert store.replies(["k0"], "another")["k0"].usage == Usage(hits=1)


def test_a_reply_is_kept_once_the_other_writer_lets_go(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    kept(store, "first", Reply(1, Usage(1)))
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = store.save_replies([("second", "rate", Reply(2, Usage(1)))], run="r", judge="j")
    assert waiting is not None  # the caller is not held up
    assert store.reply("second") is None
    other.execute("COMMIT")
    waiting.result(timeout=60)
    assert store.reply("second") == Reply(2, Usage(1))
    kept(store, "third", Reply(3, Usage(1)))
    assert store.save_replies([("fourth", "rate", Reply(4, Usage(1)))], run="r", judge="j") is None
