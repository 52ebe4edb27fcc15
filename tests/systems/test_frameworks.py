"""LangChain, LlamaIndex and Haystack objects are known by their methods; the real packages in `make test-all`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from ragstone.errors import RagstoneError
from ragstone.systems import SystemReply, make_system
from ragstone.types import Chunk, Ranked, Sample

WANTED = Ranked([Chunk("doc-1", "Paris is the capital.", 0.9)])


def ask(target: Any, **options: Any) -> SystemReply:
    return asyncio.run(make_system(target, **options).answer("Capital?", Sample("1")))


@dataclass
class Document:
    """Looks like LangChain's and, with `content`, like Haystack's."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class Runnable:
    def __init__(self, function: Any, schema: dict[str, Any] | None = None) -> None:
        self.function, self.schema = function, schema or {"type": "string"}

    def invoke(self, given: Any) -> Any:
        return self.function(given)

    async def ainvoke(self, given: Any) -> Any:
        return self.function(given)

    def get_input_jsonschema(self) -> dict[str, Any]:
        return self.schema


def test_a_langchain_chain_is_given_the_key_it_wants() -> None:
    def chain(given: dict[str, str]) -> dict[str, Any]:
        return {"answer": given["input"], "context": [Document("Text.", {"source": "a.md"})]}

    described = Runnable(chain, {"type": "object", "properties": {"input": {"type": "string"}}})
    reply = SystemReply("Capital?", Ranked([Chunk("a.md", "Text.")]))
    assert ask(described) == reply
    assert ask(Runnable(chain), inputs="input") == reply
    assert ask(Runnable(chain), inputs={"input": "{question}", "k": 3}, method="ainvoke") == reply


def test_a_langchain_retriever_gives_contexts_only() -> None:
    found = Runnable(lambda question: [Document("Paris is the capital.", {"id": "doc-1"}, "uuid")])
    reply = ask(found)
    assert reply.answer is None
    assert reply.contexts == Ranked([Chunk("doc-1", "Paris is the capital.")])


class Node:
    ref_doc_id, node_id, metadata = "doc-1", "node-9", {"file_name": "x.md"}

    def get_content(self) -> str:
        return "Paris is the capital."


@dataclass
class Scored:
    node: Node
    score: float


class Engine:
    def retrieve(self, question: str) -> list[Scored]:
        return [Scored(Node(), 0.9)]

    async def aretrieve(self, question: str) -> list[Scored]:
        return self.retrieve(question)


@dataclass
class Response:
    response: str
    source_nodes: list[Scored]


class QueryEngine(Engine):
    def query(self, question: str) -> Response:
        return Response("Paris.", self.retrieve(question))

    async def aquery(self, question: str) -> Response:
        return self.query(question)


def test_llamaindex_engines_and_retrievers() -> None:
    assert ask(QueryEngine()) == SystemReply("Paris.", WANTED)
    assert ask(Engine()) == SystemReply(None, WANTED)
    reply = ask(Engine(), id_from="metadata.file_name")
    assert reply.contexts is not None
    assert reply.contexts.ids == ["x.md"]


@dataclass
class HaystackDocument:
    content: str
    id: str
    score: float
    meta: dict[str, Any] = field(default_factory=dict)


class HaystackPipeline:
    def __init__(self, **more: Any) -> None:
        self.more = more

    def add_component(self, name: str, component: Any) -> None: ...

    def inputs(self) -> dict[str, Any]:
        return {
            "retriever": {
                "query": {"type": str, "is_mandatory": True},
                "top_k": {"type": int, "is_mandatory": False},
            },
            "prompt": {"question": {"type": Any, "is_mandatory": True}, **self.more},
        }

    def outputs(self, include_components_with_connected_outputs: bool = False) -> dict[str, Any]:
        return {"retriever": {"documents": {}}, "llm": {"replies": {}}}

    def run(self, data: dict[str, Any], include_outputs_from: set[str]) -> dict[str, Any]:
        assert include_outputs_from == {"retriever"}
        assert data["prompt"]["question"] == "Capital?"
        found = HaystackDocument("Paris is the capital.", "hash", 0.9, {"source_id": "doc-1"})
        return {
            "retriever": {"documents": [found]},
            "llm": {"replies": ["Paris."], "meta": [{"usage": {"total_tokens": 12}}]},
        }


def test_haystack_pipelines_show_what_their_retriever_found() -> None:
    assert ask(HaystackPipeline()) == SystemReply("Paris.", WANTED, None, 12.0)
    given = {"prompt": {"question": "{question}"}}
    assert ask(HaystackPipeline(tone={"type": str, "is_mandatory": True}), inputs=given).answer
    with pytest.raises(RagstoneError, match=r"wants prompt\.tone; say what it is given"):
        make_system(HaystackPipeline(tone={"type": str, "is_mandatory": True}))


# ── the real packages ─────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_real_langchain() -> None:
    core = pytest.importorskip("langchain_core")
    from langchain_core.documents import Document as Real
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    assert core

    class Fixed(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Real]:
            return [Real("Paris is the capital.", metadata={"id": "doc-1"})]

    contexts = Ranked([Chunk("doc-1", "Paris is the capital.")])
    assert ask(Fixed()) == SystemReply(None, contexts)
    prompt = ChatPromptTemplate.from_template("Answer {question} from {context}")
    model = FakeListChatModel(responses=["Paris."])
    inputs = {"context": Fixed(), "question": RunnablePassthrough()}
    assert ask(inputs | prompt | model | StrOutputParser()) == SystemReply("Paris.")  # type: ignore[operator]
    assert ask(inputs | prompt | model).answer == "Paris."  # type: ignore[operator]
    both = RunnablePassthrough.assign(answer=prompt | model | StrOutputParser())
    chain = RunnableLambda(lambda q: {"question": q, "context": Fixed().invoke(q)}) | both
    assert ask(chain) == SystemReply("Paris.", contexts)
    asynchronous = RunnableLambda(func=lambda q: 1 / 0, afunc=_say_paris)
    assert ask(asynchronous, method="ainvoke").answer == "Paris."


async def _say_paris(question: str) -> str:
    return "Paris."


@pytest.mark.slow
def test_real_llamaindex() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document as Real
    from llama_index.core import Settings, SummaryIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.response_synthesizers import ResponseMode

    Settings.llm = MockLLM(max_tokens=8)
    index = SummaryIndex.from_documents([Real(text="Paris is the capital.", doc_id="doc-1")])
    found = ask(index.as_retriever())
    assert (found.answer, found.contexts) == (
        None,
        Ranked([Chunk("doc-1", "Paris is the capital.")]),
    )
    reply = ask(index.as_query_engine(response_mode=ResponseMode.SIMPLE_SUMMARIZE))
    assert reply.answer
    assert reply.contexts is not None
    assert reply.contexts.ids == ["doc-1"]


@pytest.mark.slow
def test_real_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack import Document as Real
    from haystack import Pipeline, component
    from haystack.components.builders import PromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    @component
    class Speaker:
        @component.output_types(replies=list[str], meta=list[dict[str, Any]])
        def run(self, prompt: str) -> dict[str, Any]:
            return {"replies": ["Paris."], "meta": [{"usage": {"total_tokens": len(prompt)}}]}

    memory = InMemoryDocumentStore()
    memory.write_documents([Real(content="Paris is the capital.", id="doc-1")])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(memory))
    pipeline.add_component(
        "prompt",
        PromptBuilder(
            "{{ question }} {% for d in documents %}{{ d.content }}{% endfor %}",
            required_variables=["question", "documents"],
        ),
    )
    pipeline.add_component("speaker", Speaker())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "speaker.prompt")
    reply = ask(pipeline)
    assert reply.answer == "Paris."
    assert reply.contexts is not None
    assert reply.contexts.ids == ["doc-1"]
    assert reply.tokens
