"""Writes `data/files/foreign`: small files by the serialisers of the packages themselves (mlflow, inspect-ai, datasets,
OpenTelemetry with the OpenInference instrumentors, Haystack, LlamaIndex, LangChain, LangSmith, ragas, deepeval, trulens).

    python tests/foreign_files.py FOLDER [NAME …]

Needs the packages of requirements-test-all.txt, and trulens-core, which wants an older rich, in an environment of its own; run by a person when a package changes its files."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

QUESTION, ANSWER, TEXT = (
    "What is the capital of France?",
    "Paris.",
    "Paris is the capital of France.",
)


def write_mlflow(folder: Path) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
    import mlflow
    from mlflow.entities import Document, SpanType

    place = str(Path(tempfile.mkdtemp()) / "mlruns")
    mlflow.set_tracking_uri(place)

    @mlflow.trace(span_type=SpanType.RETRIEVER)
    def retrieve(question: str) -> list[Any]:
        return [Document(page_content=TEXT, metadata={"doc_uri": "fr.md"}, id="d1")]

    @mlflow.trace
    def rag(question: str) -> str:
        retrieve(question)
        return ANSWER

    rag(QUESTION)
    (trace,) = mlflow.search_traces(return_type="list")
    mlflow.log_expectation(trace_id=trace.info.trace_id, name="expected_response", value="Paris")
    frame = mlflow.search_traces()
    frame.to_csv(folder / "mlflow_traces.csv", index=False)
    frame.to_json(folder / "mlflow_traces.jsonl", orient="records", lines=True)
    (trace,) = mlflow.search_traces(return_type="list")
    (folder / "mlflow_trace.json").write_text(trace.to_json() + "\n")
    for path in folder.glob(
        "mlflow_*"
    ):  # no path and no user of a machine in a file of the project
        text = (
            path.read_text().replace(place.replace("/", "\\/"), "mlruns").replace(place, "mlruns")
        )
        text = text.replace(getpass.getuser(), "someone")
        path.write_text(text.replace(Path(sys.argv[0]).name, "rag.py"))
    shutil.rmtree(place)


def write_inspect(folder: Path) -> None:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    def sample(name: str, epoch: int) -> EvalSample:
        return EvalSample(
            id=name, epoch=epoch, input=QUESTION, target=["Paris", "paris"],
            output=ModelOutput.from_content("mockllm/model", ANSWER),
            metadata={"contexts": [TEXT], "topic": "geography"},
            scores={"includes": Score(value="C")}, total_time=1.5,
        )  # fmt: skip

    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00", task="capitals", dataset=EvalDataset(name="capitals"),
        model="mockllm/model", config=EvalConfig(),
    )  # fmt: skip
    log = EvalLog(eval=spec, status="success", samples=[sample("a", 1), sample("a", 2)])
    write_eval_log(log, str(folder / "inspect.json"), format="json")
    write_eval_log(log, str(folder / "inspect.eval"), format="eval")


def write_datasets(folder: Path) -> None:
    from datasets import Dataset, DatasetDict

    rows = [
        {"id": "1", "title": "France", "context": TEXT, "question": QUESTION,
         "answers": {"text": ["Paris", "the city of Paris"], "answer_start": [0, 0]}},
    ]  # fmt: skip
    for name in ("saved_dataset", "saved_splits"):
        shutil.rmtree(folder / name, ignore_errors=True)
    Dataset.from_list(rows).save_to_disk(str(folder / "saved_dataset"))
    splits = {"train": Dataset.from_list(rows), "test": Dataset.from_list(rows)}
    DatasetDict(splits).save_to_disk(str(folder / "saved_splits"))


def trace_spans(instrumentor: Any, work: Callable[[], Any], path: Path) -> None:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor.instrument(tracer_provider=provider)
    work()
    instrumentor.uninstrument()
    request = encode_spans(exporter.get_finished_spans())
    path.with_suffix(".json").write_text(json.dumps(MessageToDict(request)) + "\n")
    path.with_suffix(".pb").write_bytes(request.SerializeToString())


def write_llamaindex(folder: Path) -> None:
    from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    def work() -> None:
        Settings.embed_model, Settings.llm = MockEmbedding(embed_dim=2), MockLLM(max_tokens=3)
        index = VectorStoreIndex.from_documents([Document(text=TEXT, doc_id="fr.md")])
        index.as_query_engine().query(QUESTION)

    trace_spans(LlamaIndexInstrumentor(), work, folder / "llamaindex_spans")


def make_langchain_retriever() -> Any:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(TEXT, metadata={"id": "fr.md"})]

    return Retriever()


def write_langchain(folder: Path) -> None:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough
    from openinference.instrumentation.langchain import LangChainInstrumentor

    def work() -> None:
        inputs: Any = {"context": make_langchain_retriever(), "question": RunnablePassthrough()}
        prompt = ChatPromptTemplate.from_template("{question} {context}")
        (inputs | prompt | FakeListChatModel(responses=[ANSWER]) | StrOutputParser()).invoke(
            QUESTION
        )

    trace_spans(LangChainInstrumentor(), work, folder / "langchain_spans")


def write_haystack(folder: Path) -> None:
    from haystack import Document
    from haystack.components.builders import AnswerBuilder
    from haystack.dataclasses import ChatMessage

    documents = [Document(id="fr.md", content=TEXT)]
    reply = ChatMessage.from_assistant(ANSWER)
    answers = AnswerBuilder().run(query=QUESTION, replies=[reply], documents=documents)["answers"]
    results = [
        {"answer_builder": {"answers": [answer.to_dict() for answer in answers]}},
        {"question": QUESTION, "retriever": {"documents": [d.to_dict() for d in documents]},
         "llm": {"replies": [reply.to_dict()]}},
    ]  # fmt: skip
    (folder / "haystack_results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in results))


def write_ragas(folder: Path) -> None:
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas.dataset_schema import EvaluationDataset, MultiTurnSample
    from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

    turns = [
        HumanMessage(content="Hello"), AIMessage(content="Hello, how can I help?"), HumanMessage(content=QUESTION),
        AIMessage(content="Let me look.", tool_calls=[ToolCall(name="search", args={"q": "capital"})]),
        ToolMessage(content=TEXT), AIMessage(content=ANSWER),
    ]  # fmt: skip
    dataset = EvaluationDataset([MultiTurnSample(user_input=turns, reference="Paris")])
    dataset.to_jsonl(folder / "ragas_turns.jsonl")
    dataset.to_csv(folder / "ragas_turns.csv")


def write_deepeval(folder: Path) -> None:
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"  # tests talk to this machine alone
    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import LLMTestCase

    dataset = EvaluationDataset()
    dataset.add_test_case(
        LLMTestCase(input=QUESTION, actual_output=ANSWER, expected_output="Paris", retrieval_context=[TEXT, "France is in Europe."])
    )  # fmt: skip
    for kind in ("json", "csv", "jsonl"):
        dataset.save_as(kind, str(folder), file_name="deepeval_cases", include_test_cases=True)


def write_langsmith(folder: Path) -> None:
    """Runs as the client sends them to LangSmith, a row each, with those below the root."""
    from langchain_core.runnables import RunnableLambda
    from langchain_core.tools import tool
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

    retriever = make_langchain_retriever()

    @tool
    def look_up(country: str) -> str:
        """Look up a country."""
        return TEXT

    def answer(question: str, config: Any) -> str:
        retriever.invoke(question, config)
        look_up.invoke({"country": "France"}, config)
        return ANSWER

    collector = RunCollectorCallbackHandler()
    metadata = {"thread_id": "thread-1"}
    RunnableLambda(answer).invoke(QUESTION, {"callbacks": [collector], "metadata": metadata})

    def walk(run: Any) -> Iterator[Any]:
        yield run
        for child in run.child_runs:
            yield from walk(child)

    rows = [run.model_dump_json() for root in collector.traced_runs for run in walk(root)]
    (folder / "langsmith_tree.jsonl").write_text("".join(f"{row}\n" for row in rows))


def write_trulens(folder: Path) -> None:
    from trulens.apps.app import TruApp
    from trulens.core import TruSession
    from trulens.core.otel.instrument import instrument
    from trulens.otel.semconv.trace import SpanAttributes

    names = SpanAttributes.RETRIEVAL
    documents = {names.QUERY_TEXT: "question", names.RETRIEVED_CONTEXTS: "return"}

    class Rag:
        @instrument(span_type=SpanAttributes.SpanType.RETRIEVAL, attributes=documents)
        def retrieve(self, question: str) -> list[str]:
            return [TEXT]

        @instrument(span_type=SpanAttributes.SpanType.GENERATION)
        def generate(self, question: str, contexts: list[str]) -> str:
            return ANSWER

        @instrument()
        def query(self, question: str) -> str:
            return self.generate(question, self.retrieve(question))

    place = tempfile.mkdtemp()
    session = TruSession(database_url=f"sqlite:///{place}/trulens.sqlite")
    rag = Rag()
    with TruApp(rag, app_name="capitals", app_version="1", main_method=rag.query):
        rag.query(QUESTION)
    session.force_flush()
    events = session.get_events(app_name="capitals", app_version="1")
    events.to_json(folder / "trulens_events.jsonl", orient="records", lines=True)
    events.to_csv(folder / "trulens_events.csv", index=False)
    shutil.rmtree(place)


WRITERS = {
    "mlflow": write_mlflow, "inspect": write_inspect, "datasets": write_datasets,
    "llamaindex": write_llamaindex, "langchain": write_langchain, "haystack": write_haystack,
    "ragas": write_ragas, "deepeval": write_deepeval, "langsmith": write_langsmith,
    "trulens": write_trulens,
}  # fmt: skip

if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    for name in sys.argv[2:] or WRITERS:
        WRITERS[name](target)
