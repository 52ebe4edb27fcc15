"""LangChain, LlamaIndex and Haystack objects are known by their methods; the real packages in `make test-all`."""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

import pytest

from ragstone import evaluate
from ragstone.errors import RagstoneError
from ragstone.systems import SystemReply, make_system
from ragstone.systems.haystack import merge_outputs
from ragstone.systems.protocol import SystemFault
from ragstone.types import ChatMessage, Chunk, Ranked, Sample, ToolStep

WANTED = Ranked([Chunk("doc-1", "Paris is the capital.", 0.9)])


def ask(target: Any, **options: Any) -> SystemReply:
    reply = asyncio.run(make_system(target, **options).answer("Capital?", Sample("1")))
    assert reply.latency is not None
    return replace(reply, latency=None, first_token=None)


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


class TwoAnswers(HaystackPipeline):
    def run(self, data: dict[str, Any], include_outputs_from: set[str]) -> dict[str, Any]:
        replies = {"cheap": {"replies": ["London."]}, "good": {"replies": ["Paris."]}}
        return replies | {"documents": {"documents": []}}


def test_a_pipeline_with_two_answers_is_told_to_name_one() -> None:
    with pytest.raises(SystemFault, match=r"answers in cheap, good, .* answer: cheap"):
        ask(TwoAnswers())
    assert ask(TwoAnswers(), answer="good").answer == "Paris."


def test_a_built_answer_comes_before_the_replies_that_it_is_built_from() -> None:
    outputs = {"builder": {"answers": ["Paris."]}, "llm": {"replies": ["paris"]}}
    assert merge_outputs(outputs)["answer"] == "Paris."


def test_a_chain_that_wants_more_than_the_question_says_so_before_the_run() -> None:
    wanted = ["question", "context"]
    schema = {"properties": {key: {} for key in wanted}, "required": wanted}
    with pytest.raises(RagstoneError, match="wants context besides the question"):
        make_system(Runnable(lambda given: "x", schema))
    reply = ask(
        Runnable(lambda given: given["context"], schema),
        inputs={"question": "{question}", "context": "France"},
    )
    assert reply.answer == "France"


def test_a_runnable_for_async_use_alone_is_awaited() -> None:
    class AsyncOnly(Runnable):
        def invoke(self, given: Any) -> Any:
            raise TypeError("No synchronous function provided")

    assert ask(AsyncOnly(lambda given: "Paris.")).answer == "Paris."


class StreamingChat:
    """Looks like LlamaIndex' chat engines: a response that the event loop fills has a sync stream that never ends."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def reset(self) -> None:
        self.said.clear()

    async def astream_chat(self, message: str, chat_history: Any = None) -> StreamingChat:
        self.said += [*(chat_history or ()), message]
        return self

    @property
    def response_gen(self) -> Iterator[str]:
        raise AssertionError("it would wait for ever")

    async def async_response_gen(self) -> AsyncIterator[str]:
        yield f"{len(self.said)} said"


def test_a_chat_is_reset_and_given_its_history_by_whatever_method() -> None:
    system = make_system(StreamingChat(), method="astream_chat")
    past = (ChatMessage("user", "Hello"), ChatMessage("assistant", "Hello!"))
    for _ in range(2):
        reply = asyncio.run(system.answer("Capital?", Sample("1", messages=past)))
        assert reply.answer == "3 said"


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
    assert ask(inputs | prompt | model | StrOutputParser()) == SystemReply("Paris.", contexts)  # type: ignore[operator]
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
def test_real_langgraph() -> None:
    pytest.importorskip("langgraph")
    from langchain_core.documents import Document as Real
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    document = Real("Paris is the capital.", metadata={"id": "doc-1"})
    wanted = Ranked([Chunk("doc-1", "Paris is the capital.")])

    class State(TypedDict):
        question: str
        context: list[Any]
        answer: str

    graph = StateGraph(State)
    graph.add_node("retrieve", lambda state: {"context": [document]})
    graph.add_node("generate", lambda state: {"answer": f"Paris. {state['question']}"})
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_edge("generate", END)
    for compiled in (graph.compile(), graph.compile(checkpointer=InMemorySaver())):
        assert ask(compiled) == SystemReply("Paris. Capital?", wanted)

    def reply(state: MessagesState) -> dict[str, Any]:
        call = {"name": "search", "args": {"query": "capital"}, "id": "1"}
        usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
        return {
            "messages": [
                AIMessage("", tool_calls=[call]),
                ToolMessage("Paris …", tool_call_id="1", name="search", artifact=[document]),
                AIMessage("Paris.", usage_metadata=usage),
            ]
        }

    agent = StateGraph(MessagesState)
    agent.add_node("agent", reply)
    agent.add_edge(START, "agent")
    for compiled in (agent.compile(), agent.compile(checkpointer=InMemorySaver())):
        steps = (ToolStep("search", {"query": "capital"}, "Paris …"),)
        assert ask(compiled) == SystemReply("Paris.", wanted, None, 5.0, steps=steps)
        assert ask(compiled, method="ainvoke").answer == "Paris."
        for method in ("stream", "astream"):
            streamed = asyncio.run(make_system(compiled, method=method).answer("?", Sample("1")))
            assert (streamed.answer, streamed.contexts, streamed.steps) == ("Paris.", wanted, steps)
            assert streamed.first_token is not None

    class Unclear(TypedDict):
        ticket: str
        reply: str

    unclear = StateGraph(Unclear)
    unclear.add_node("n", lambda state: {"reply": state["ticket"]})
    unclear.add_edge(START, "n")
    with pytest.raises(RagstoneError, match=r"has ticket, reply; say which .* inputs: KEY"):
        make_system(unclear.compile())


@pytest.mark.slow
def test_real_llamaindex_chats_and_streams() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document as Real
    from llama_index.core import SummaryIndex
    from llama_index.core.chat_engine import ContextChatEngine
    from llama_index.core.llms import MockLLM

    model = MockLLM(max_tokens=8)
    index = SummaryIndex.from_documents([Real(text="Paris is the capital.", doc_id="doc-1")])
    chat = ContextChatEngine.from_defaults(retriever=index.as_retriever(), llm=model)
    streamed = index.as_query_engine(llm=model, streaming=True)
    methods: list[dict[str, str]] = [{}, {"method": "stream_chat"}, {"method": "astream_chat"}]
    for engine, options in (*((chat, method) for method in methods), (streamed, {})):
        reply = ask(engine, **options)
        assert reply.answer
        assert reply.contexts is not None
        assert reply.contexts.ids == ["doc-1"]
    with pytest.raises(RagstoneError, match=r"give what its as_query_engine\(\) returns"):
        make_system(index)


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


@pytest.mark.slow
def test_real_haystack_chat() -> None:
    pytest.importorskip("haystack")
    from haystack import Document as Real
    from haystack import Pipeline, component
    from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    @component
    class ChatSpeaker:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[Any]) -> dict[str, Any]:
            meta = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
            return {"replies": [ChatMessage.from_assistant("Paris.", meta=meta)]}

    memory = InMemoryDocumentStore()
    memory.write_documents([Real(content="Paris is the capital.", id="doc-1")])
    template = [
        ChatMessage.from_user("{{ question }}{% for d in documents %}{{ d.content }}{% endfor %}")
    ]

    def build(with_answers: bool) -> Any:
        pipeline = Pipeline()
        pipeline.add_component("retriever", InMemoryBM25Retriever(memory))
        builder = ChatPromptBuilder(template, required_variables=["question", "documents"])
        pipeline.add_component("prompt", builder)
        pipeline.add_component("llm", ChatSpeaker())
        pipeline.connect("retriever.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "llm.messages")
        if with_answers:
            pipeline.add_component("answers", AnswerBuilder())
            pipeline.connect("llm.replies", "answers.replies")
            pipeline.connect("retriever.documents", "answers.documents")
        return pipeline

    for pipeline in (build(False), build(True)):
        reply = ask(pipeline)
        assert (reply.answer, reply.contexts and reply.contexts.ids) == ("Paris.", ["doc-1"])
        assert reply.tokens == 5.0


def look_up(query: str) -> str:
    """Look up a capital."""
    return "Paris is the capital."


LOOKED_UP = (ToolStep("look_up", {"query": "capital"}, "Paris is the capital."),)


@pytest.mark.slow
def test_real_llamaindex_agents() -> None:
    pytest.importorskip("llama_index.core.agent.workflow")
    from llama_index.core import Document as Real
    from llama_index.core import SummaryIndex
    from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
    from llama_index.core.base.llms.types import ChatMessage as Message
    from llama_index.core.base.llms.types import ToolCallBlock
    from llama_index.core.llms import MockLLM
    from llama_index.core.llms.mock import MockFunctionCallingLLM
    from llama_index.core.tools import QueryEngineTool

    def respond(messages: Any, **more: Any) -> Any:
        if any(message.role == "tool" for message in messages):
            return Message(role="assistant", content=f"Paris. {len(messages)}")
        (tool,) = more["tools"]
        (field,) = tool.metadata.fn_schema.model_fields
        call = ToolCallBlock(tool_call_id="1", tool_name="look_up", tool_kwargs={field: "capital"})
        return Message(role="assistant", blocks=[call])

    model = MockFunctionCallingLLM(response_generator=respond)
    contexts = Ranked([Chunk("look_up", "Paris is the capital.")])
    for agent in (
        FunctionAgent(tools=[look_up], llm=model),
        AgentWorkflow.from_tools_or_functions([look_up], llm=model),
    ):
        assert ask(agent) == SystemReply("Paris. 3", contexts, steps=LOOKED_UP)
        past = (ChatMessage("user", "Hello"), ChatMessage("assistant", "Hello!"))
        reply = asyncio.run(make_system(agent).answer("Capital?", Sample("1", messages=past)))
        assert reply.answer == "Paris. 5"
    index = SummaryIndex.from_documents([Real(text="Paris is the capital.", doc_id="doc-1")])
    engine = index.as_query_engine(llm=MockLLM(max_tokens=4))
    tool = QueryEngineTool.from_defaults(engine, name="look_up", description="Look up.")
    reply = ask(FunctionAgent(tools=[tool], llm=model))
    assert reply.contexts is not None
    assert reply.contexts.ids == ["doc-1"]


@pytest.mark.slow
def test_real_llamaindex_workflows() -> None:
    pytest.importorskip("llama_index.core.workflow")
    from llama_index.core.schema import TextNode
    from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

    class Ticket(StartEvent):
        ticket: str

    class Order(Ticket):
        order: int

    class Reply(StopEvent):
        answer: str
        sources: list[str]

    class Plain(Workflow):
        @step
        async def work(self, event: StartEvent) -> StopEvent:
            node = TextNode(text="Paris is the capital.", id_="doc-1")
            return StopEvent(result={"answer": f"Paris. {event.query}", "contexts": [node]})

    class Typed(Workflow):
        @step
        async def work(self, event: Ticket) -> Reply:
            return Reply(answer=f"Paris. {event.ticket}", sources=["Paris is the capital."])

    class Unclear(Workflow):
        @step
        async def work(self, event: Order) -> StopEvent:
            return StopEvent(result=f"{event.ticket} {event.order}")

    contexts = Ranked([Chunk("doc-1", "Paris is the capital.")])
    assert ask(Plain()) == SystemReply("Paris. Capital?", contexts)
    contexts = Ranked([Chunk("", "Paris is the capital.")])
    assert ask(Typed()) == SystemReply("Paris. Capital?", contexts)
    with pytest.raises(RagstoneError, match=r"starts with ticket, order; say what it is given"):
        make_system(Unclear())
    assert ask(Unclear(), inputs={"ticket": "{question}", "order": 7}).answer == "Capital? 7"


@pytest.mark.slow
def test_real_haystack_agents() -> None:
    pytest.importorskip("haystack")
    from haystack import Pipeline, component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools import create_tool_from_function

    @component
    class Model:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[Any], tools: Any = None) -> dict[str, Any]:
            if any(message.tool_call_results for message in messages):
                meta = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
                return {"replies": [ChatMessage.from_assistant("Paris.", meta=meta)]}
            calls = [ToolCall("look_up", {"query": "capital"})]
            return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}

    def make_agent() -> Any:
        return Agent(chat_generator=Model(), tools=[create_tool_from_function(look_up)])

    pipeline = Pipeline()
    pipeline.add_component("agent", make_agent())
    contexts = Ranked([Chunk("look_up", "Paris is the capital.")])
    for target in (make_agent(), pipeline):
        assert ask(target) == SystemReply("Paris.", contexts, None, 5.0, steps=LOOKED_UP)
    assert ask(make_agent(), method="run_async").answer == "Paris."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "package"),
    [("langchain.md", "langgraph"), ("llamaindex.md", "llama_index.core"), ("haystack.md", "haystack")],
)  # fmt: skip
def test_the_page_of_a_framework_works_as_written(
    page: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are written, its Python runs, and the systems of its commands are evaluated by the command line."""
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in ("shop", "agent"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    for kind, title, body in re.findall(r'```(\w+)(?: title="(.+?)")?\n(.*?)```', text, re.DOTALL):
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
        elif kind == "py":
            exec(compile(body, page, "exec"), {})
    commands = [line for line in text.splitlines() if line.startswith("ragstone eval questions")]
    assert commands
    for line in commands:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(line), "--store", "runs.db"], capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


def test_a_chain_that_returns_text_alone_shows_what_its_retriever_gave() -> None:
    pytest.importorskip("langchain_core", reason="langchain is not installed (make test-all)")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(page_content="It opens at nine.", id="d1")]

    chain = {"context": Shelf(), "question": RunnablePassthrough()} | RunnableLambda(
        lambda x: "At nine."
    )
    run = evaluate([{"question": "When?"}], ["answer_language"], system=chain, store=":memory:")
    (row,) = run.rows()
    assert row.sample.answer == "At nine."
    assert [chunk.id for chunk in row.sample.contexts or ()] == ["d1"]


def test_modules_of_dspy_are_asked_by_keyword() -> None:
    dspy = pytest.importorskip("dspy", reason="dspy is not installed (make test-all)")
    from dspy.utils import DummyLM

    class Program(dspy.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.generate = dspy.Predict("context, question -> answer")

        def forward(self, question: str) -> Any:
            context = ["It opens at nine."]
            return dspy.Prediction(
                context=context, answer=self.generate(context=context, question=question).answer
            )

    lm = DummyLM([{"answer": "At nine.", "reasoning": "so"}] * 9)
    with dspy.context(lm=lm):
        for module in (
            dspy.Predict("question -> answer"),
            dspy.ChainOfThought("question -> answer"),
            Program(),
        ):
            module.set_lm(lm)
            run = evaluate(
                [{"question": "When?"}], ["answer_language"], system=module, store=":memory:"
            )
            (row,) = run.rows()
            assert row.sample.answer == "At nine.", row.sample.error
    assert [chunk.text for chunk in row.sample.contexts or ()] == ["It opens at nine."]
    with pytest.raises(RagstoneError, match="wants context besides the question"):
        evaluate(
            [{"question": "When?"}],
            ["answer_language"],
            system=dspy.Predict("context, question -> answer"),
        )
