"""Vectors inside the package relate texts across languages."""

import asyncio

import numpy as np

from ragstone import asks
from ragstone.asks import Reply
from ragstone.errors import JudgeFailed
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
