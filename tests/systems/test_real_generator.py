"""A real, small language model as the generator of a pipeline: it is asked, timed and judged with no glue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ragstone import evaluate
from small_model import served

pytestmark = pytest.mark.slow

QUESTIONS = [
    {"id": "1", "question": "What is the capital of France?", "relevant": ["fr.md"]},
    {"id": "2", "question": "What is the capital of Spain?", "relevant": ["es.md"]},
]
TEXTS = {"fr.md": "Paris is the capital of France.", "es.md": "Madrid is the capital of Spain."}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    yield from served()


def build_pipeline(url: str) -> Any:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline
    from haystack.components.builders import ChatPromptBuilder
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.utils import Secret

    memory = InMemoryDocumentStore()
    memory.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    text = "{% for d in documents %}{{ d.content }} {% endfor %}\n{{ question }} Answer briefly."
    builder = ChatPromptBuilder(
        [ChatMessage.from_user(text)], required_variables=["question", "documents"]
    )
    options = {"max_tokens": 24, "temperature": 0}
    model = OpenAIChatGenerator(
        api_key=Secret.from_token("none"), model="smollm2", api_base_url=url,
        generation_kwargs=options,
    )  # fmt: skip
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(memory, top_k=1))
    pipeline.add_component("prompt", builder)
    pipeline.add_component("llm", model)
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    return pipeline


def test_a_pipeline_with_a_real_model_is_evaluated(url: str) -> None:
    metrics = ["recall@1", "faithfulness", "answer_relevance"]
    run = evaluate(QUESTIONS, metrics, system=build_pipeline(url), store=":memory:")
    for row in run.rows():
        assert row.sample.error is None
        assert row.sample.answer
        assert row.sample.contexts is not None
        assert row.sample.contexts.texts == [TEXTS[row.sample.contexts.ids[0]]]
    summary = run.summary()
    assert summary["recall@1"].mean == 1
    assert summary["faithfulness"].scored == summary["answer_relevance"].scored == 2
    assert summary["tokens"].minimum is not None
    assert summary["tokens"].minimum > 10, "prompt and answer are counted by the server"
    assert summary["latency"].scored == 2
    assert run.info.facts.cold_start is not None
