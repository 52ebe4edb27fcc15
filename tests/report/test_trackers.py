"""Runs in trackers: what is sent, by the real client of each, to a server on loopback or to files."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragstone import Run, evaluate
from ragstone.errors import RagstoneError
from ragstone.report.trackers import TRACKERS, send
from ragstone.report.trackers.contents import RunContents, to_safe_name

CLAIM = "Items can be returned within 60 days."
QUOTE = "Items can be returned within 30 days."
SAMPLES = [
    {"id": "q1", "question": "How long can I return a lamp?", "answer": CLAIM, "contexts": [QUOTE], "reference": "30 days"},
    {"id": "q2", "question": "What does shipping cost?", "answer": "Shipping is free.", "contexts": ["Shipping is free."]},
]  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Run:
    return evaluate(SAMPLES, ["faithfulness", "token_f1"], store=":memory:", name="shop")


class Recorder:
    """Takes every request, and answers it as `answer` says."""

    def __init__(self, answer: Callable[[str, str, bytes], tuple[int, Any]]) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                recorder.requests.append((self.command, self.path, body))
                status, reply = answer(self.command, self.path, body)
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Tests print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def bodies(self, ending: str) -> list[bytes]:
        return [body for _, path, body in self.requests if path.endswith(ending)]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def record() -> Iterator[Callable[..., Recorder]]:
    opened: list[Recorder] = []

    def start(answer: Callable[[str, str, bytes], tuple[int, Any]]) -> Recorder:
        opened.append(Recorder(answer))
        return opened[-1]

    yield start
    for recorder in opened:
        recorder.close()


def test_figures_have_interval_and_counts(run: Run) -> None:
    figures = RunContents(run.stored, run.summary()).collect_figures()
    metric = run.summary()["faithfulness"]
    assert figures["faithfulness"] == metric.mean == pytest.approx(0.52, abs=0.03)
    assert (figures["faithfulness.low"], figures["faithfulness.high"]) == (metric.low, metric.high)
    assert figures["token_f1.scored"] == 1
    assert figures["token_f1.applicable"] == 1


def test_the_table_has_texts_scores_and_evidence(run: Run) -> None:
    head, rows = RunContents(run.stored, run.summary()).build_table()
    first = dict(zip(head, rows[0], strict=True))
    assert (first["id"], first["faithfulness"]) == ("q1", 0.2)
    assert CLAIM in first["faithfulness.evidence"]
    assert QUOTE in first["faithfulness.evidence"]
    assert rows[1][head.index("token_f1")] is None


def test_metric_names_suit_every_tracker() -> None:
    assert to_safe_name("recall@5") == "recall_at_5"
    assert set(to_safe_name("rubric(näme=x y)")) <= set("rubic.n_mexy")


def test_a_missing_client_names_the_extra(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def refuse(name: str, *more: Any) -> Any:
        if name.partition(".")[0] in ("mlflow", "wandb", "langfuse", "phoenix", "opentelemetry"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for tracker in TRACKERS:
        with pytest.raises(RagstoneError, match=rf"pip install 'ragstone\[{tracker}\]'"):
            send(run, tracker)


def test_an_unknown_tracker_is_refused_with_the_nearest(run: Run) -> None:
    with pytest.raises(RagstoneError, match="did you mean 'mlflow'"):
        send(run, "mlflo")


def test_otel_gets_a_span_for_each_sample_with_its_scores(
    run: Run, record: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    server = record(lambda *_: (200, b""))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
    assert "3 spans" in send(run, "otel", project="shop")
    (body,) = server.bodies("/v1/traces")
    request = ExportTraceServiceRequest.FromString(body)
    (resource,) = request.resource_spans
    assert any(pair.value.string_value == "shop" for pair in resource.resource.attributes)
    spans = [span for scope in resource.scope_spans for span in scope.spans]
    assert len({span.trace_id for span in spans}) == 1
    sample = next(span for span in spans if read_attributes(span).get("ragstone.sample") == "q1")
    events = {read_attributes(event)["gen_ai.evaluation.name"]: event for event in sample.events}
    found = read_attributes(events["faithfulness"])
    assert found["gen_ai.evaluation.score.value"] == 0.2
    assert CLAIM in found["gen_ai.evaluation.explanation"]
    root = read_attributes(next(span for span in spans if not span.parent_span_id))
    assert root["ragstone.faithfulness"] == pytest.approx(0.52, abs=0.03)
    assert "ragstone.faithfulness.low" in root


def read_attributes(part: Any) -> dict[str, Any]:
    return {
        pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in part.attributes
    }  # fmt: skip


def test_a_collector_that_cannot_be_used_is_an_error(
    run: Run, record: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = record(lambda *_: (404, b"no"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
    with pytest.raises(RagstoneError, match="OTEL_EXPORTER_OTLP_ENDPOINT"):
        send(run, "otel")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "sqlite"])
def test_mlflow_keeps_figures_table_and_evidence(
    run: Run, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    if kind == "sqlite":
        pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = f"file://{tmp_path}/mlruns" if kind == "file" else f"sqlite:///{tmp_path}/mlflow.db"
    for _ in range(2):  # a run that is logged again replaces itself
        send(run, "mlflow", project="shop", tracking_uri=uri)
    client = mlflow.MlflowClient(tracking_uri=uri)
    (kept,) = client.search_runs([client.get_experiment_by_name("shop").experiment_id])
    assert kept.data.metrics["faithfulness"] == pytest.approx(0.52, abs=0.03)
    assert kept.data.metrics["faithfulness.low"] == run.summary()["faithfulness"].low
    assert kept.data.params["judge"] == run.info.judge
    assert kept.info.status == "FINISHED"
    folder = Path(client.download_artifacts(kept.info.run_id, "", str(tmp_path)))
    table = json.loads((folder / "samples.json").read_text())
    assert CLAIM in table["data"][0][table["columns"].index("faithfulness.evidence")]
    assert QUOTE in (folder / "samples.jsonl").read_text()
    assert CLAIM in (folder / "report.html").read_text()


@pytest.mark.slow
def test_langfuse_gets_a_trace_and_scores_for_each_sample(
    run: Run, record: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langfuse")

    def answer(method: str, path: str, body: bytes) -> tuple[int, Any]:
        if path.endswith("/scores"):
            scores = json.loads(body)
            return 207, {"accepted": len(scores), "rejected": 0, "errors": []}
        if path.startswith("/api/public/projects"):
            return 200, {"data": [{"id": "p", "name": "shop", "metadata": {}, "organization": {"id": "o", "name": "o"}}]}  # fmt: skip
        return 200, b""

    server = record(answer)
    for name, value in {"PUBLIC_KEY": "pk-x", "SECRET_KEY": "sk-x", "BASE_URL": server.url}.items():
        monkeypatch.setenv(f"LANGFUSE_{name}", value)
    assert "2 traces" in send(run, "langfuse")
    assert server.bodies("/otel/v1/traces")
    scores = [score for body in server.bodies("/scores") for score in json.loads(body)]
    found = next(s for s in scores if s["name"] == "faithfulness" and s["value"] == 0.2)
    assert CLAIM in found["comment"]
    assert {s["name"] for s in scores} == {"faithfulness", "token_f1", "token_f1 outcome", "faithfulness mean", "token_f1 mean"}  # fmt: skip
    assert len({s["id"] for s in scores}) == len(scores)


@pytest.mark.slow
def test_langfuse_keys_that_are_refused_are_an_error(
    run: Run, record: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langfuse")
    server = record(lambda *_: (401, {"message": "Invalid credentials"}))
    for name, value in {"PUBLIC_KEY": "pk-y", "SECRET_KEY": "sk-y", "BASE_URL": server.url}.items():
        monkeypatch.setenv(f"LANGFUSE_{name}", value)
    with pytest.raises(RagstoneError, match="angfuse"):
        send(run, "langfuse")


@pytest.mark.slow
def test_phoenix_gets_spans_and_annotations(
    run: Run, record: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("phoenix.client")
    known: set[str] = set()

    def answer(method: str, path: str, body: bytes) -> tuple[int, Any]:
        if not path.endswith("/spans"):
            return 200, {"data": []}
        spans = [span["context"] for span in json.loads(body)["data"]]
        twice = [span for span in spans if span["span_id"] in known]
        if twice:
            detail = {"error": "duplicates", "total_received": len(spans), "total_queued": 0, "total_invalid": 0,
                      "total_duplicates": len(twice), "invalid_spans": [], "duplicate_spans": twice}  # fmt: skip
            return 400, {"detail": json.dumps(detail)}
        known.update(span["span_id"] for span in spans)
        return 202, {"total_received": len(spans), "total_queued": len(spans)}

    server = record(answer)
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", server.url)
    for _ in range(2):  # the second time the spans are known, and the annotations are renewed
        assert "2 spans" in send(run, "phoenix", project="shop")
    assert any(path == "/v1/projects/shop/spans" for _, path, _ in server.requests)
    first, again = (json.loads(body)["data"] for body in server.bodies("/span_annotations"))
    assert first == again
    found = next(row for row in first if row["name"] == "faithfulness" and row["result"]["score"] == 0.2)  # fmt: skip
    assert found["annotator_kind"] == "LLM"
    assert CLAIM in found["result"]["explanation"]


@pytest.mark.slow
def test_wandb_writes_config_summary_table_and_artifact(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server speaks a protocol of its own: the real client writes the files that it would send."""
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "more"))
    send(run, "wandb", project="shop")
    (log,) = tmp_path.rglob(f"run-{run.id}.wandb")
    kept = log.read_bytes()
    for text in (b"faithfulness.low", b"offline", b"samples", b"ragstone-" + run.id.encode()):
        assert text in kept
    tables = [path.read_text() for path in tmp_path.rglob("*.table.json")]
    assert any(CLAIM in table and QUOTE in table for table in tables)
