"""Writes `data/files/foreign`: small files by the serialisers of the packages themselves (mlflow, inspect-ai, datasets,
OpenTelemetry with the OpenInference instrumentors, Haystack, LlamaIndex, LangChain, LangSmith, Langfuse, promptfoo, ragas,
deepeval, trulens).

    python tests/foreign_files.py FOLDER [NAME …]

Needs the packages of requirements-test-all.txt, and trulens-core, which wants an older rich, in an environment of its own;
run by a person when a package changes its files. Written last by langfuse 5.0.4, langsmith 0.14.17, promptfoo 0.121.20
and trulens-core 2.16.0."""

from __future__ import annotations

import getpass
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
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


@contextmanager
def serve(handle: Callable[[str, str, bytes], Any]) -> Iterator[str]:
    """A platform's server on loopback: `handle(method, path, body)` gives the JSON that it answers with."""

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            data = json.dumps(handle(self.command, self.path.partition("?")[0], body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = respond

        def log_message(self, *given: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write_langsmith_export(folder: Path) -> None:
    """Runs as the client fetches them from a server that keeps what the client sent, and the table of an experiment."""
    from langsmith import Client, evaluate, traceable
    from langsmith.run_helpers import tracing_context
    from langsmith.schemas import Example

    kept: dict[str, dict[str, Any]] = {}

    def handle(method: str, path: str, body: bytes) -> Any:
        if path == "/info":
            return {"version": "0.16.0"}
        if path == "/runs" or (path.startswith("/runs/") and method == "PATCH"):
            run = json.loads(body)
            name = run.get("id") or path.rpartition("/")[2]
            kept.setdefault(name, {}).update({k: v for k, v in run.items() if v is not None})
            kept[name].pop("attachments", None)  # a server answers with addresses of them
            kept[name]["extra"] = {"metadata": {"channel": "web"}}  # not this machine's versions
            return {}
        if path == "/runs/query":
            return {"runs": list(kept.values()), "cursors": {}}
        if path == "/api/v2/runs/query":
            return {"items": [with_ancestors(run) for run in kept.values()]}
        return {}

    def with_ancestors(run: dict[str, Any]) -> dict[str, Any]:
        """The second version of the API names all ancestors, from the root down, instead of the parent."""
        above = [part[-36:] for part in run["dotted_order"].split(".")[:-1]]
        return {**{k: v for k, v in run.items() if k != "parent_run_id"}, "parent_run_ids": above}

    @traceable(run_type="retriever")
    def retrieve(question: str) -> list[dict[str, Any]]:
        return [{"page_content": TEXT, "type": "Document", "metadata": {"id": "fr.md"}}]

    @traceable
    def rag(question: str) -> dict[str, str]:
        retrieve(question)
        return {"answer": ANSWER}

    with serve(handle) as url:
        client = Client(api_url=url, api_key="k", auto_batch_tracing=False)
        with tracing_context(enabled=True, client=client):
            rag(QUESTION)
        rows = [run.model_dump_json() for run in client.list_runs(project_id=PROJECT)]
        (folder / "langsmith_runs.jsonl").write_text("".join(f"{row}\n" for row in rows))
        page = client._get_langsmith_api_sync().runs.query_v2(project_ids=[PROJECT])
        rows = [run.to_json(indent=None) for run in page]
        (folder / "langsmith_runs2.jsonl").write_text("".join(f"{row}\n" for row in rows))
        example = Example(
            id=PROJECT, inputs={"question": QUESTION}, outputs={"answer": "Paris"}, dataset_id=PROJECT
        )  # fmt: skip

        def target(inputs: dict[str, Any]) -> dict[str, Any]:
            return {"answer": ANSWER, "contexts": [TEXT]}

        def is_short(outputs: dict[str, Any]) -> bool:
            return len(outputs["answer"]) < 20

        results = evaluate(
            target, data=[example], evaluators=[is_short], client=client, upload_results=False
        )
        results.to_pandas().to_csv(folder / "langsmith_experiment.csv", index=False)


PROJECT = "00000000-0000-4000-8000-000000000001"


def write_langfuse(folder: Path) -> None:
    """Observations as the SDK fetches them from a server that keeps the spans which the SDK sent, in the SDK's own types."""
    from langfuse import Langfuse, propagate_attributes
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans: list[Any] = []

    def handle(method: str, path: str, body: bytes) -> Any:
        if path == "/api/public/otel/v1/traces":
            request = ExportTraceServiceRequest.FromString(body)
            spans.extend(
                span
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            )
        if path == "/api/public/v2/observations":
            return {"data": [to_observation(span) for span in spans], "meta": {}}
        return {}

    def to_observation(span: Any) -> dict[str, Any]:
        own = {item.key: item.value.string_value for item in span.attributes}
        prefix = "langfuse.observation."

        def get_time(nanoseconds: int) -> str:
            return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()

        metadata = f"{prefix}metadata."
        return {
            "id": span.span_id.hex(), "traceId": span.trace_id.hex(), "projectId": "p",
            "parentObservationId": span.parent_span_id.hex() or None, "name": span.name,
            "type": own.get(f"{prefix}type", "span").upper(), "level": own.get(f"{prefix}level", "DEFAULT"),
            "statusMessage": own.get(f"{prefix}status_message"),
            "startTime": get_time(span.start_time_unix_nano), "endTime": get_time(span.end_time_unix_nano),
            "latency": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            "input": own.get(f"{prefix}input"), "output": own.get(f"{prefix}output"),
            "model": own.get(f"{prefix}model.name"), "sessionId": own.get("session.id"), "userId": own.get("user.id"),
            "usageDetails": json.loads(own.get(f"{prefix}usage_details") or "{}"),
            "costDetails": json.loads(own.get(f"{prefix}cost_details") or "{}"),
            "metadata": {k.removeprefix(metadata): json.loads(v) for k, v in own.items() if k.startswith(metadata)},
        }  # fmt: skip

    with serve(handle) as url:
        client = Langfuse(public_key="pk", secret_key="sk", base_url=url)
        with (
            propagate_attributes(user_id="u1", session_id="s1"),
            client.start_as_current_observation(
                name="rag", as_type="chain", input={"question": QUESTION}, metadata={"channel": "web"}
            ) as root,
        ):  # fmt: skip
            found = [{"id": "fr.md", "page_content": TEXT}]
            with client.start_as_current_observation(
                name="search", as_type="retriever", input=QUESTION, output=found
            ):
                pass
            with client.start_as_current_observation(
                name="lookup", as_type="tool", input={"country": "France"},
                level="ERROR", status_message="timed out",
            ):  # fmt: skip
                pass
            messages = [{"role": "system", "content": TEXT}, {"role": "user", "content": QUESTION}]
            with client.start_as_current_observation(
                name="llm", as_type="generation", model="gpt-x", input=messages,
                output={"role": "assistant", "content": ANSWER},
                usage_details={"input": 10, "output": 2, "total": 12}, cost_details={"total": 0.002},
            ):  # fmt: skip
                pass
            root.update(output=ANSWER)
        client.flush()
        fields = "core,basic,io,metadata,model,usage"
        found = client.api.observations.get_many(fields=fields).data
        client.shutdown()
    rows = "".join(f"{item.json()}\n" for item in found)
    (folder / "langfuse_observations.jsonl").write_text(rows)


def write_promptfoo(folder: Path) -> None:
    """What promptfoo writes of a provider that retrieves and of its own `echo`; needs `npx`, which fetches promptfoo."""
    provider = f"""module.exports = class {{
      id() {{ return "rag"; }}
      async callApi(prompt, {{ vars }}) {{
        if (vars.question.includes("Spain")) return {{ error: "503 overloaded" }};
        return {{ output: "{ANSWER}", tokenUsage: {{ total: 12, prompt: 10, completion: 2 }}, cost: 0.001,
                 metadata: {{ context: [vars.context] }} }};
      }}
    }};"""
    spain = "What is the capital of Spain?"
    tests = [
        {"description": "France", "metadata": {"topic": "geography"},
         "vars": {"question": QUESTION, "context": TEXT, "reference": "Paris"}},
        {"vars": {"question": spain, "context": "Madrid is the capital of Spain.", "reference": "Madrid"}},
    ]  # fmt: skip
    config = {
        "description": "capitals", "prompts": ["Answer from the context: {{question}} {{context}}"],
        "providers": [{"id": "file://rag.js", "label": "rag"}, "echo"],
        "defaultTest": {"assert": [{"type": "icontains", "value": "{{reference}}", "metric": "has it"}]},
        "tests": tests,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        Path(place, "rag.js").write_text(provider)
        Path(place, "promptfooconfig.json").write_text(json.dumps(config))
        command = [*find_promptfoo(), "eval", "--no-cache", "--no-table"]
        for ending in ("json", "csv", "jsonl"):
            command += ["-o", f"promptfoo.{ending}"]
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": place}  # fmt: skip
        # exit code 100: a test failed or had an error, as one here is meant to
        done = subprocess.run(
            command, cwd=place, env={**os.environ, **quiet}, capture_output=True, text=True
        )
        assert done.returncode in (0, 100), done.stderr
        for ending in ("json", "csv", "jsonl"):
            shutil.copy(Path(place, f"promptfoo.{ending}"), folder)


def find_promptfoo() -> list[str]:
    """The command of promptfoo where it is installed, e.g. by `npm install -g promptfoo`; else an empty list."""
    found = shutil.which(os.environ.get("PROMPTFOO", "promptfoo"))
    return [found] if found else []


def write_trulens(folder: Path) -> None:
    from trulens.apps.app import TruApp
    from trulens.core import Metric, Selector, TruSession
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

    def is_about(question: str, context: str) -> float:
        return float("capital" in context)

    question, context = Selector.select_record_input(), Selector.select_context(collect_list=False)
    metric = Metric(
        implementation=is_about,
        name="Context Relevance",
        selectors={"question": question, "context": context},
    )
    place = tempfile.mkdtemp()
    session = TruSession(database_url=f"sqlite:///{place}/trulens.sqlite")
    rag = Rag()
    app = TruApp(
        rag, app_name="capitals", app_version="1", main_method=rag.query, feedbacks=[metric]
    )
    with app:
        rag.query(QUESTION)
    session.force_flush()
    app.compute_feedbacks()
    session.force_flush()
    records, _ = session.get_records_and_feedback(app_name="capitals")
    records.to_json(folder / "trulens_feedback.jsonl", orient="records", lines=True)
    records.to_csv(folder / "trulens_feedback.csv", index=False)
    events = session.get_events(app_name="capitals", app_version="1")
    events.to_json(folder / "trulens_events.jsonl", orient="records", lines=True)
    events.to_csv(folder / "trulens_events.csv", index=False)
    shutil.rmtree(place)


WRITERS = {
    "mlflow": write_mlflow, "inspect": write_inspect, "datasets": write_datasets,
    "llamaindex": write_llamaindex, "langchain": write_langchain, "haystack": write_haystack,
    "ragas": write_ragas, "deepeval": write_deepeval, "langsmith": write_langsmith,
    "trulens": write_trulens, "langsmith_export": write_langsmith_export, "langfuse": write_langfuse,
    "promptfoo": write_promptfoo,
}  # fmt: skip

if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    for name in sys.argv[2:] or WRITERS:
        WRITERS[name](target)
