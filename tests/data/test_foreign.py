"""Files of other tools, most written by their own serialisers (`foreign_files.py`): nothing they hold is dropped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from foreign_files import WRITERS, find_promptfoo
from ragstone.data import Dataset, read
from ragstone.errors import DataError

FILES = Path(__file__).parent / "files" / "foreign"
QUESTION, ANSWER, TEXT = (
    "What is the capital of France?",
    "Paris.",
    "Paris is the capital of France.",
)


def samples(name: str, **options: Any) -> tuple[Dataset, list[Any]]:
    dataset = read(FILES / name, **options)
    return dataset, [record.sample for record in dataset]


@pytest.mark.parametrize(
    ("name", "title", "texts", "reference"),
    [
        ("mlflow_traces.csv", "MLflow traces", [TEXT], "Paris"),
        ("mlflow_traces.jsonl", "MLflow traces", [TEXT], "Paris"),
        ("mlflow_trace.json", "MLflow traces", [TEXT], "Paris"),
        ("langchain_spans.json", "OpenTelemetry traces", [TEXT], None),
        ("phoenix_spans.jsonl", "Phoenix spans", [TEXT], None),
        ("openai_evals.jsonl", "an OpenAI-evals log", None, "Paris"),
        ("openai_items.jsonl", "OpenAI eval items", [TEXT], "Paris"),
        ("phoenix_qa.csv", "Phoenix questions with their retrieved reference", [TEXT], None),
        ("inspect.json", "Inspect samples", [TEXT], "Paris"),
        ("haystack_results.jsonl", "Haystack results", [TEXT], None),
        ("trulens_records.jsonl", "TruLens records", [TEXT], None),
        ("trulens_events.jsonl", "TruLens events", [TEXT], None),
        ("trulens_events.csv", "TruLens events", [TEXT], None),
        ("langfuse_traces.jsonl", "Langfuse traces", [TEXT], None),
        ("langsmith_tree.jsonl", "LangSmith runs", [TEXT], None),
        ("langsmith_runs.jsonl", "LangSmith runs", [TEXT], None),
        ("langsmith_runs2.jsonl", "LangSmith runs", [TEXT], None),
        ("langsmith_experiment.csv", "LangSmith runs", [TEXT], "Paris"),
        ("langfuse_observations.jsonl", "Langfuse observations", [TEXT], None),
        ("trulens_feedback.jsonl", "TruLens records", [TEXT], None),
        ("trulens_feedback.csv", "TruLens records", [TEXT], None),
    ],
)
def test_question_answer_contexts_and_reference_are_read(
    name: str, title: str, texts: list[str] | None, reference: str | None
) -> None:
    dataset, found = samples(name)
    assert dataset.format == title
    assert found
    for sample in found:
        assert (sample.question, sample.answer) == (QUESTION, ANSWER)
        assert (sample.contexts and sample.contexts.texts) == texts
        assert sample.reference == reference


def test_langfuse_keeps_tools_scores_and_cost() -> None:
    _, (sample,) = samples("langfuse_traces.jsonl")
    assert [(step.tool, step.arguments, step.error) for step in sample.steps] == [
        ("lookup", {"country": "France"}, "timed out")
    ]
    assert sample.meta == {"channel": "web", "helpful": 1, "latency": 1.5, "cost": 0.002}


def test_observations_of_langfuse_are_one_sample_a_trace() -> None:
    _, (sample,) = samples("langfuse_observations.jsonl")
    (step,) = sample.steps
    assert (step.tool, step.arguments, step.error) == (
        "lookup",
        {"country": "France"},
        "timed out",
    )
    assert sample.contexts.ids == ["fr.md"]
    assert sample.group == "s1"
    meta = {name: sample.meta[name] for name in ("channel", "user", "model", "tokens", "cost")}
    assert meta == {"channel": "web", "user": "u1", "model": "gpt-x", "tokens": 12, "cost": 0.002}


def test_the_question_of_a_function_that_langfuse_observes_is_its_argument() -> None:
    row = {
        "id": "o1", "traceId": "t1", "type": "SPAN", "startTime": "2026-01-01T00:00:00Z", "name": "rag",
        "input": {"args": [QUESTION], "kwargs": {}}, "output": json.dumps({"answer": ANSWER}),
    }  # fmt: skip
    (record,) = read([row])
    assert (record.sample.question, record.sample.answer) == (QUESTION, ANSWER)


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_every_provider_of_promptfoo_is_a_sample(ending: str) -> None:
    dataset, found = samples(f"promptfoo.{ending}")
    assert dataset.format == "promptfoo results"
    prompt = f"Answer from the context: {QUESTION} {TEXT}"
    answers = [
        (s.meta["provider"], s.answer) for s in found if s.question == QUESTION
    ]  # fmt: skip
    assert sorted(answers) == [("echo", prompt), ("rag", ANSWER)]
    for sample in found:
        assert sample.contexts.texts in ([TEXT], ["Madrid is the capital of Spain."])
        assert sample.reference in ("Paris", "Madrid")
    (failed,) = [sample for sample in found if sample.error is not None]
    assert (failed.answer, failed.meta["provider"]) == (None, "rag")


def test_a_table_of_promptfoo_keeps_outputs_that_look_like_lists() -> None:
    header = "question,[rag] {{question}},Status,Score,Named Scores,Grader Reason,Comment"
    for output in ('{"answer": "Paris."}', "[1] Paris.", '["Paris."]'):
        line = [QUESTION, output, "PASS", "1.00", "", "All assertions passed", ""]
        row = dict(zip(header.split(","), line, strict=True))
        (record,) = read([row])
        assert record.sample.answer == output


def test_mlflow_keeps_ids_and_time() -> None:
    _, (sample,) = samples("mlflow_traces.jsonl")
    assert sample.contexts.ids == ["d1"]
    assert sample.id.startswith("tr-")
    assert 0 <= sample.meta["latency"] < 60


def test_the_retriever_span_with_documents_is_taken_and_index_building_is_passed_over() -> None:
    for name in ("llamaindex_spans.json", "llamaindex_spans.pb"):
        if name.endswith(".pb"):
            pytest.importorskip("opentelemetry.proto")
        dataset, (sample,) = samples(name)
        assert sample.question == QUESTION
        assert sample.answer == "text text text"
        assert sample.contexts.texts == [TEXT]
        assert dataset.notes == [
            "passed over 2 of 3 traces: no question or answer in them, as when an index is built"
        ]


def test_documents_of_spans_are_known_by_their_metadata() -> None:
    _, (sample,) = samples("langchain_spans.json")
    assert sample.contexts.ids == ["fr.md"]


def test_epochs_and_scores_of_inspect_are_kept() -> None:
    _, found = samples("inspect.json")
    assert [sample.id for sample in found] == ["a", "a (epoch 2)"]
    assert found[0].meta == {"topic": "geography", "includes": "C", "latency": 1.5}


def test_a_packed_inspect_log_is_read(tmp_path: Path) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for sample in log["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample, indent=2))
    assert [record.sample.answer for record in read(path)] == [ANSWER, ANSWER]


@pytest.mark.skipif(
    sys.version_info >= (3, 14) or find_spec("zipfile_zstd"), reason="this Python unpacks zstandard"
)
def test_a_packing_that_python_cannot_read_says_how_to_convert_it() -> None:
    with pytest.raises(DataError, match="inspect log convert --to json"):
        read(FILES / "inspect.eval")


@pytest.mark.parametrize("name", ["saved_dataset", "saved_splits/test"])
def test_saved_datasets_and_squad_rows(name: str) -> None:
    pytest.importorskip("pyarrow")
    dataset, (sample,) = samples(name)
    assert dataset.format == "SQuAD rows (question, context, answers)"
    assert (sample.question, sample.reference, sample.group) == (QUESTION, "Paris", "France")
    assert sample.contexts.texts == [TEXT]


def test_several_splits_are_an_error_that_names_one() -> None:
    with pytest.raises(
        DataError, match=r"has the splits train, test; name one: .*saved_splits/test"
    ):
        read(FILES / "saved_splits")


def test_samples_of_openai_evals_have_no_answer_yet() -> None:
    _, (sample,) = samples("openai_samples.jsonl")
    assert (sample.question, sample.answer, sample.reference) == (QUESTION, None, "Paris")


def test_squad_as_published() -> None:
    _, (answered, impossible) = samples("squad.json")
    assert (answered.reference, answered.group) == ("Paris", "France")
    assert impossible.reference is None
    assert impossible.meta["answerable"] is False


def test_what_a_log_holds_beside_samples_is_counted() -> None:
    dataset, (sample,) = samples("openai_evals.jsonl")
    assert sample.meta["correct"] is False
    assert dataset.notes == ["passed over 2 lines that are about no sample: spec and final report"]


def test_the_answer_of_a_conversation_is_the_last_one() -> None:
    turns = [
        {"content": "Hello", "type": "human"},
        {"content": "Hello, how can I help?", "type": "ai"},
        {"content": QUESTION, "type": "human"},
        {"content": TEXT, "type": "tool"},
        {"content": ANSWER, "type": "ai"},
    ]
    for given in (turns, json.dumps(turns)):
        (record,) = read([{"user_input": given, "reference": "Paris"}])
        sample = record.sample
        assert (sample.question, sample.answer, sample.reference) == (QUESTION, ANSWER, "Paris")
        assert sample.contexts is not None
        assert sample.contexts.texts == [TEXT]
        assert sample.meta["turns"] == 2
    (record,) = read([{"user_input": QUESTION, "response": ANSWER}])
    assert (record.sample.question, record.sample.answer) == (QUESTION, ANSWER)


@pytest.mark.parametrize("ending", ["json", "csv", "jsonl"])
def test_whatever_deepeval_saves(ending: str) -> None:
    _, (sample,) = samples(f"deepeval_cases.{ending}")
    assert (sample.question, sample.answer, sample.reference) == (QUESTION, ANSWER, "Paris")
    assert sample.contexts.texts == [TEXT, "France is in Europe."]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_whatever_ragas_saves_of_several_turns(ending: str) -> None:
    _, (sample,) = samples(f"ragas_turns.{ending}")
    assert (sample.question, sample.answer, sample.reference) == (QUESTION, ANSWER, "Paris")
    assert sample.contexts.texts == [TEXT]


def test_contexts_that_deepeval_joins_are_split() -> None:
    row = {"input": QUESTION, "actual_output": ANSWER, "retrieval_context": f"{TEXT}|Another."}
    (record,) = read([row])
    assert record.sample.contexts is not None
    assert record.sample.contexts.texts == [TEXT, "Another."]


def test_columns_that_no_field_reads_are_named() -> None:
    rows = [
        {"question": QUESTION, "answer": ANSWER, "topic": "geography", "latency": 1, "none": None}
    ]
    assert read(rows).left_over == ("topic",)
    assert read([{"question": QUESTION}]).left_over == ()
    dataset, _ = samples("trulens_records.jsonl")
    assert "Answer Relevance" in dataset.left_over


def test_traces_of_mlflow_2() -> None:
    """Its columns as documented for `mlflow.search_traces` of MLflow 2: texts of JSON, and other names."""
    span = {
        "span_id": "1",
        "parent_id": None,
        "attributes": {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": json.dumps([{"page_content": TEXT, "metadata": {"doc_uri": "fr.md"}}])},
    }  # fmt: skip
    empty = {"span_id": "2", "parent_id": "1", "attributes": {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanOutputs": "[]"}}  # fmt: skip
    row = {
        "request_id": "r1", "timestamp_ms": 1, "status": "OK", "execution_time_ms": 1500,
        "request": json.dumps({"question": QUESTION}), "response": json.dumps(ANSWER),
        "request_metadata": {}, "spans": [span, empty], "tags": {},
        "assessments": [
            {"name": "expected_facts", "expectation": {"value": ["Paris", "France"]}},
            {"name": "relevance", "feedback": {"value": "yes"}},
        ],
    }  # fmt: skip
    (record,) = read([row])
    sample = record.sample
    assert (sample.id, sample.question, sample.answer) == ("r1", QUESTION, ANSWER)
    assert sample.contexts is not None
    assert sample.contexts.texts == [TEXT]
    assert sample.reference == "Paris"
    assert sample.meta == {"relevance": "yes", "latency": 1.5}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "packages", "files"),
    [
        ("mlflow", ["mlflow", "pandas"], ["mlflow_traces.csv", "mlflow_traces.jsonl", "mlflow_trace.json"]),
        ("inspect", ["inspect_ai"], ["inspect.json"]),
        ("datasets", ["datasets"], ["saved_dataset"]),
        ("llamaindex", ["openinference.instrumentation.llama_index"], ["llamaindex_spans.json", "llamaindex_spans.pb"]),
        ("langchain", ["openinference.instrumentation.langchain"], ["langchain_spans.json", "langchain_spans.pb"]),
        ("haystack", ["haystack"], ["haystack_results.jsonl"]),
        ("deepeval", ["deepeval"], ["deepeval_cases.json", "deepeval_cases.csv", "deepeval_cases.jsonl"]),
        ("ragas", ["ragas"], ["ragas_turns.csv", "ragas_turns.jsonl"]),
        ("langsmith", ["langchain_core"], ["langsmith_tree.jsonl"]),
        ("trulens", [], ["trulens_events.jsonl", "trulens_events.csv", "trulens_feedback.jsonl", "trulens_feedback.csv"]),
        ("langsmith_export", ["langsmith", "pandas"], ["langsmith_runs.jsonl", "langsmith_runs2.jsonl", "langsmith_experiment.csv"]),
        ("langfuse", ["langfuse"], ["langfuse_observations.jsonl"]),
        ("promptfoo", [], ["promptfoo.json", "promptfoo.csv", "promptfoo.jsonl"]),
    ],
)  # fmt: skip
def test_what_the_packages_write_today_is_read_as_the_committed_files(
    name: str, packages: list[str], files: list[str], tmp_path: Path
) -> None:
    for package in packages:
        pytest.importorskip(package, exc_type=ImportError)
    if name == "promptfoo" and not find_promptfoo():
        pytest.skip("promptfoo is not installed (npm install -g promptfoo)")
    if name == "trulens":  # it wants an older rich: in an environment of its own
        if not os.environ.get("TRULENS_PYTHON"):
            pytest.skip("TRULENS_PYTHON names no Python with trulens-core")
        script = Path(__file__).parents[1] / "foreign_files.py"
        command = [os.environ["TRULENS_PYTHON"], str(script), str(tmp_path), "trulens"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    else:
        WRITERS[name](tmp_path)
    for file in files:
        today = [record.sample for record in read(tmp_path / file)]
        committed = [record.sample for record in read(FILES / file)]
        fields, committed_fields = (
            sorted(
                repr((s.question, s.answer, s.reference, s.contexts and s.contexts.texts))
                for s in found  # promptfoo writes in the order of completion
            )
            for found in (today, committed)
        )
        assert fields == committed_fields
