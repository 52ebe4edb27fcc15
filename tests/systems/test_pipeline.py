"""The built-in pipeline: chunks that lose nothing, retrieval that finds, answers that cite or abstain."""

from __future__ import annotations

import asyncio
import statistics
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data import corpora, read
from ragstone.data.documents import Document
from ragstone.errors import RagstoneError
from ragstone.metrics import resolve
from ragstone.systems import SystemReply, make_system, takes_contexts
from ragstone.systems.pipeline import SEARCH_SPACE, Pipeline
from ragstone.systems.pipeline.chunking import chunk_documents
from ragstone.text.language import ABSTENTIONS, detect_language
from ragstone.text.terms import extract_terms
from ragstone.types import Sample, chunks

TEXT = "One two three. Four five six seven. Eight nine. Ten eleven twelve thirteen fourteen."


def texts(text: str, **how: Any) -> list[str]:
    options: dict[str, Any] = {"size": 7, "overlap": 0, "by": "sentence", "titles": False, **how}
    return [piece.text for piece in chunk_documents([Document("d", text, "Title")], **options)]


def test_sentences_are_packed_and_never_cut() -> None:
    assert texts(TEXT) == [
        "One two three. Four five six seven.",
        "Eight nine. Ten eleven twelve thirteen fourteen.",
    ]
    assert texts(TEXT, size=1)[1] == "Four five six seven."


def test_overlap_repeats_the_end_of_the_piece_before() -> None:
    assert texts(TEXT, overlap=4) == [
        "One two three. Four five six seven.",
        "Four five six seven. Eight nine.",
        "Eight nine. Ten eleven twelve thirteen fourteen.",
    ]


def test_headings_cut_and_stand_in_the_title() -> None:
    document = Document(
        "d", "Start here.\n## Prices\nIt costs 5.\n## Empty\n## Hours\nAt 9.", "Shop"
    )
    found = chunk_documents([document], size=50, overlap=0, by="heading", titles=True)
    assert [(piece.title, piece.text) for piece in found] == [
        ("Shop", "Start here."),
        ("Shop. Prices", "It costs 5."),
        ("Shop. Hours", "At 9."),
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b.", "c", "Dd", "e?"]), min_size=1, max_size=60),
    st.integers(5, 20),
    st.integers(0, 4),
    st.sampled_from(["sentence", "words", "heading"]),
)
def test_no_word_is_lost_in_chunking(words: list[str], size: int, overlap: int, by: str) -> None:
    found = texts(" ".join(words), size=size, overlap=overlap, by=by)
    assert set(" ".join(found).split()) == set(words)
    if not overlap:
        assert " ".join(found).split() == words


def test_words_are_stemmed_by_language() -> None:
    assert extract_terms("The returned boots", "en") == extract_terms("returning boot", "en")
    assert extract_terms("¿Cuántas devoluciones?", "es") == extract_terms("la devolución", "es")
    assert (
        detect_language("¿Qué?"),
        detect_language("la casa de los libros"),
        detect_language("the house"),
    ) == (
        "es",
        "es",
        "en",
    )


def ask(system: Any, question: str, language: str | None = None) -> SystemReply:
    return asyncio.run(system.answer(question, Sample("1", question, language=language)))


def test_it_answers_cites_and_abstains_in_two_languages() -> None:
    system = make_system("pipeline")
    english = ask(system, "How many points make a 10 euro voucher in the Fern Circle?")
    spanish = ask(system, "¿Cuánto cuesta una copia en color en la Biblioteca de Torreluna?")
    assert (
        english.answer == "200 points become a voucher of 10 euros, valid for eighteen months. [1]"
    )
    assert "25 céntimos" in (spanish.answer or "")
    assert (spanish.answer or "").endswith("[1]")
    for question, refusal in zip(
        ("Who won the chess championship in Reykjavik?", "¿Quién ganó el torneo de ajedrez?"),
        ABSTENTIONS,
        strict=True,
    ):
        assert ask(system, question).answer == refusal


@pytest.mark.parametrize("retriever", SEARCH_SPACE["retriever"])
@pytest.mark.parametrize("more", [{}, {"rerank": True}, {"expand": True}])
def test_every_retriever_finds_what_is_plain(retriever: str, more: dict[str, Any]) -> None:
    system = make_system("pipeline", retriever=retriever, top_k=4, **more)
    reply = ask(system, "How long is the guarantee on zips of Fernhill's own brand?")
    assert reply.contexts is not None
    assert "fernhill-warranty" in reply.contexts.ids
    assert len(reply.contexts) == 4
    again = ask(system, "How long is the guarantee on zips of Fernhill's own brand?")
    assert again.contexts == reply.contexts


def test_vectors_find_across_languages_what_words_cannot() -> None:
    question = "What is the fine for bathing in the glacier lakes?"
    found = {
        retriever: ask(make_system("pipeline", retriever=retriever, top_k=5), question).contexts
        for retriever in ("bm25", "dense")
    }
    assert "albor-lagunas" not in found["bm25"].ids  # type: ignore[union-attr]
    assert "albor-lagunas" in found["dense"].ids  # type: ignore[union-attr]


def test_contexts_can_be_given() -> None:
    system: Any = make_system("pipeline")
    gold = chunks({"id": "x", "text": "Tortoises sleep in winter. The shop sells 14 red kites."})
    reply = asyncio.run(system.answer_with("How many kites does the shop sell?", gold))
    assert takes_contexts(system)
    assert (reply.answer, reply.contexts) == ("The shop sells 14 red kites. [1]", gold)
    nothing = asyncio.run(system.answer_with("How many kites does the shop sell?", chunks()))
    assert nothing.answer == ABSTENTIONS[0]


def test_own_documents(tmp_path: Path) -> None:
    (tmp_path / "kites.md").write_text("# Kites\n\nThe shop sells 14 red kites.", encoding="utf-8")
    system = make_system(f"pipeline:{tmp_path}")
    reply = ask(system, "How many kites are sold?")
    assert reply.contexts is not None
    assert reply.contexts.ids == ["kites.md"]
    assert "14" in (reply.answer or "")


def test_identity_follows_documents_and_parameters(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("Some text here.")
    first = make_system("pipeline", documents=tmp_path).identity()
    assert first == make_system({"pipeline": str(tmp_path)}).identity()
    assert first != make_system("pipeline", documents=tmp_path, top_k=2).identity()
    path.write_text("Some other text.")
    assert first != make_system("pipeline", documents=tmp_path).identity()


def test_every_value_of_the_space_is_accepted() -> None:
    for name, values in SEARCH_SPACE.items():
        for value in values:
            system = Pipeline(**{"chunk_size": 80, name: value})
            assert name == "temperature" or system.parameters[name] == value
    assert Pipeline(retrieval_k=7).parameters["top_k"] == 7


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"topk": 3}, "no parameter 'topk'; did you mean 'top_k'"),
        ({"top_k": 0}, "top_k is 0; give a whole number from 1"),
        ({"chunk_size": 20, "overlap": 20}, "overlap 20 is not smaller"),
        ({"retriever": "magic"}, "give one of bm25, dense, hybrid"),
        ({"rerank": "yes"}, "give true or false"),
        ({"generator": "http://127.0.0.1:1"}, "without a model"),
        ({"generator": "http://127.0.0.1:1", "model": "m", "api_key": "sk-1"}, "written out"),
        ({"documents": "no-such-folder"}, "no folder or file"),
    ],
)
def test_parameters_are_checked_at_the_door(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(RagstoneError, match=says):
        make_system("pipeline", **parameters)


def test_a_generator_is_asked_with_the_prompt_and_the_contexts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEN_KEY", "k-123456")
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Passages:\n{contexts}\nQ: {question}")
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.path, request.headers["Authorization"], await request.json()))
        reply = {"choices": [{"message": {"content": " Fine [1]. "}}], "usage": {"total_tokens": 9}}
        return web.json_response(reply)

    async def run() -> SystemReply:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", handler)
        async with TestServer(app) as server:
            system = make_system(
                "pipeline",
                generator=str(server.make_url("/v1")),
                model="m",
                api_key="${GEN_KEY}",
                prompt=prompt,
                temperature=0.3,
                top_k=2,
            )
            assert "temperature" in system.parameters
            try:
                return await system.answer("What about {contexts}?", Sample("1"))
            finally:
                await system.close()

    reply = asyncio.run(run())
    path, key, body = seen[0]
    assert (path, key, body["temperature"]) == ("/v1/chat/completions", "Bearer k-123456", 0.3)
    assert body["messages"][0]["content"].startswith("Passages:\n[1] ")
    assert body["messages"][0]["content"].endswith("Q: What about {contexts}?")
    assert (reply.answer, reply.tokens) == ("Fine [1].", 9.0)


@pytest.mark.slow
def test_better_configurations_win_on_the_corpus() -> None:
    samples = [record.sample for record in read(corpora.questions()) if record.sample.relevant]
    recall, mrr = resolve("recall").function, resolve("mrr").function

    def means(**changed: Any) -> tuple[float, float]:
        plain = {"chunk_size": 40, "overlap": 0, "titles": False, "top_k": 3}
        index = Pipeline(**{**plain, **changed})
        found = [index.retrieve(sample.question or "", sample.language)[1] for sample in samples]
        pairs = list(zip(found, samples, strict=True))
        return (
            statistics.mean(recall(ranked, one.relevant, k=None).value for ranked, one in pairs),
            statistics.mean(mrr(ranked, one.relevant, k=None).value for ranked, one in pairs),
        )

    baseline, larger = means(), means(chunk_size=120, overlap=20)
    more, both = means(top_k=8), means(retriever="hybrid", rerank=True)
    assert all(recall > baseline[0] + 0.02 for recall, _ in (larger, more, both))
    assert all(mrr > baseline[1] for _, mrr in (larger, more, both))
