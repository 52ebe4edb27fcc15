"""Vectors inside the package relate texts across languages."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ragstone import asks
from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.judges import embeddings
from ragstone.judges.embeddings import OfflineEmbeddings
from ragstone.text.encoder import encode


def test_a_translation_is_nearer_than_another_text() -> None:
    house, casa, bread = encode(["The house is old.", "La casa es vieja.", "Bread needs flour."])
    assert house @ casa > 0.5 > house @ bread


def test_vectors_have_length_one_and_come_in_order() -> None:
    texts = ["one text", "another, much longer text about something else", "one text", ""]
    found = encode(texts)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(found[0], found[2])


def test_only_embed_is_answered() -> None:
    given = [asks.embed("a"), asks.questions("b")]
    reply, refused = asyncio.run(OfflineEmbeddings().answer(given))
    assert isinstance(reply, Reply)
    assert len(reply.value["vectors"]) == 1
    assert isinstance(refused, JudgeFailed)


def test_the_event_loop_goes_on_while_texts_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    trips: list[int] = []
    released = threading.Event()

    def wait_for_loop(given: Sequence[Ask]) -> list[Answered]:
        trips.append(len(given))
        assert released.wait(10)  # set by the event loop, which must not be blocked
        return [Reply({"vectors": []}) for _ in given]

    async def embed_many() -> int:
        judge = OfflineEmbeddings()
        replies = asyncio.gather(*(judge.answer([asks.embed(str(n))]) for n in range(6)))
        await asyncio.sleep(0.01)
        released.set()
        return len(await replies)

    monkeypatch.setattr(embeddings, "answer_embeds", wait_for_loop)
    assert asyncio.run(embed_many()) == 6
    assert trips == [6]  # one trip for the Asks of six samples


def test_a_failing_encoder_fails_every_ask_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(given: Sequence[Ask]) -> list[Answered]:
        raise OSError("no weights")

    async def embed_two() -> list[Any]:
        judge = OfflineEmbeddings()
        asked = (judge.answer([asks.embed(text)]) for text in "ab")
        return await asyncio.gather(*asked, return_exceptions=True)

    monkeypatch.setattr(embeddings, "answer_embeds", fail)
    assert [type(error) for error in asyncio.run(embed_two())] == [OSError, OSError]
