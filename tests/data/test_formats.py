"""Each known format, read from a small file of its real shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data import FORMATS, pair_predictions, read, to_sample
from ragstone.data.formats import detect_format
from ragstone.data.formats.langfuse import convert_langfuse_trace
from ragstone.data.formats.mlflow import convert_mlflow_trace
from ragstone.errors import BadRows, DataError, UnknownFormat
from ragstone.types import Sample

FILES = Path(__file__).parent / "files"
ROWS = sorted(p.name for p in FILES.iterdir() if p.suffix in (".jsonl", ".json", ".csv"))


def samples(name: str, **options: object) -> tuple[str, list[Sample]]:
    reading = read(f"{FILES}/{name}", **options)  # type: ignore[arg-type]
    return reading.format, [record.sample for record in reading]


def test_own_columns_fill_every_field() -> None:
    title, (first, second) = samples("ragstone.jsonl")
    assert title == "ragstone columns"
    assert (first.id, first.question, first.answer) == (
        "q1",
        "Where do penguins live?",
        "In Antarctica.",
    )
    assert first.contexts is not None
    assert first.contexts.ids == ["d1", "d2"]
    assert [chunk.score for chunk in first.contexts] == [None, 0.4]
    assert (first.reference, first.language, first.group) == ("Antarctica", "en", "birds")
    assert first.relevant == {"d1": 2, "d3": 1}
    assert first.meta == {"type": "plain", "latency": 0.8}
    assert second.contexts == ()
    assert second.relevant == {"d4": 1}
    assert second.error == "timeout after 30 s"


def test_ragas_columns_join_texts_and_ids() -> None:
    title, (first, second) = samples("ragas.jsonl")
    assert title == "ragas columns"
    assert first.contexts is not None
    assert first.contexts.ids == ["sb-1", "7"]
    assert first.contexts.texts[1] == "The game was played in Los Angeles."
    assert first.relevant == {"sb-1": 1}
    assert first.meta["synthesizer_name"] == "single_hop"
    assert second.question == "Who won?"
    assert second.contexts == ()


def test_ragas_ids_alone_make_chunks_without_text() -> None:
    _, (only,) = samples("ragas_ids.jsonl")
    assert only.contexts is not None
    assert only.contexts.ids == ["x", "y"]
    assert only.contexts.texts == ["", ""]


def test_old_ragas_takes_the_first_ground_truth() -> None:
    title, (first, second) = samples("ragas_old.json")
    assert title == "ragas columns (before 0.2)"
    assert first.reference == "14 March 1879"
    assert second.reference is None


def test_a_search_set_inside_an_object() -> None:
    _, (first, second) = samples("search_set.json")
    assert (first.question, first.reference) == ("opening hours", "9 to 17")
    assert first.relevant == {"hours": 1, "visit": 1}
    assert first.meta == {"type": "fact", "difficulty": 2}
    assert first.contexts is None
    assert second.relevant == {"fees": 2, "rules": 1}


def test_a_search_run_keeps_its_latency() -> None:
    _, (first, second) = samples("search_run.jsonl")
    assert first.contexts is not None
    assert (first.contexts[0].id, first.contexts[0].text) == ("hours", "Open 9 to 17.")
    assert (first.answer, first.meta["latency"]) == ("From 9 to 17.", 1.25)
    assert second.contexts == ()


def test_a_context_may_be_one_text_where_the_format_says_so() -> None:
    _, (first, second) = samples("query_context.csv")
    assert first.contexts is not None
    assert first.contexts.texts == ["Retrieval-augmented generation, in short RAG."]
    assert second.contexts is not None
    assert second.contexts.texts == ["One text.", "Another."]
    assert second.reference is None


def test_answers_keep_their_type_and_document() -> None:
    _, (first, second, third) = samples("answers_refs.json")
    assert (first.id, first.group, first.meta["type"]) == ("1", "2501.1", "simple")
    assert second.meta["type"] == "impossible"
    assert third.answer == "12"


@pytest.mark.parametrize("name", ["deepeval.json", "deepeval.csv"])
def test_deepeval(name: str) -> None:
    title, (only,) = samples(name)
    assert title == "deepeval test cases"
    assert only.contexts is not None
    assert only.contexts.texts[0] in ("Only shoes can be refunded.", "Only shoes.")
    assert only.reference is not None
    assert only.meta["name"] == "refund"


def test_deepeval_csv_splits_its_joined_contexts() -> None:
    _, (only,) = samples("deepeval.csv")
    assert only.contexts is not None
    assert only.contexts.texts == ["Only shoes.", "Not socks."]


def test_deepeval_cost_and_time_get_their_common_names() -> None:
    _, (only,) = samples("deepeval.json")
    assert (only.meta["cost"], only.meta["latency"], only.meta["case"]) == (0.002, 1.5, "A")


def test_langsmith_runs_answer_and_fail() -> None:
    title, (first, second) = samples("langsmith_runs.jsonl")
    assert title == "LangSmith runs"
    assert (first.id, first.question, first.answer) == ("5b2f", "What is LangSmith?", "A platform.")
    assert first.reference == "A platform for LLM apps."
    assert first.contexts is not None
    assert (first.contexts[0].id, first.contexts[0].text) == (
        "docs/a.md",
        "LangSmith is a platform.",
    )
    assert (first.meta["tokens"], first.meta["cost"]) == (210, 0.0031)
    assert (second.question, second.answer) == ("And MLflow?", None)
    assert second.error == "RateLimitError()"


def test_langsmith_examples_hold_references() -> None:
    title, (only,) = samples("langsmith_examples.jsonl")
    assert title == "LangSmith examples"
    assert (only.answer, only.reference) == (None, "A platform for LLM apps.")


def test_langsmith_tables_have_dotted_columns() -> None:
    title, (only,) = samples("langsmith_results.csv")
    assert title == "LangSmith runs"
    assert (only.question, only.answer, only.reference, only.error) == (
        "What is LangSmith?",
        "A platform.",
        "A platform for LLM apps.",
        None,
    )
    assert only.meta["latency"] == 0.52


def test_mlflow_inputs_may_be_objects_or_texts() -> None:
    _, (first, second) = samples("mlflow.json")
    assert (first.question, first.answer) == ("What is MLflow?", "A platform.")
    assert first.contexts is not None
    assert first.contexts.ids == ["docs/index.md"]
    assert first.relevant == {"docs/index.md": 1}
    assert first.reference == "An ML platform."
    assert (second.question, second.answer) == ("What is Spark?", "An engine.")
    assert second.reference == "It is an engine.\nIt is distributed."


def test_mlflow2_requests_are_messages() -> None:
    _, (first, second) = samples("mlflow2.jsonl")
    assert (first.id, first.question, first.answer) == ("r-1", "What is RAG", "A method.")
    assert first.contexts is not None
    assert first.contexts.ids == ["b.md", "a.md"]
    assert first.relevant == {"a.md": 1}
    assert (second.question, second.contexts) == ("And Spark?", ())


def test_trulens_records() -> None:
    _, (first, second) = samples("trulens.jsonl")
    assert (first.id, first.question, first.answer) == (
        "record_hash_1",
        "What is TruLens?",
        "A tool.",
    )
    assert second.error == "TimeoutError()"


def test_trulens_tables_quote_their_texts() -> None:
    _, (only,) = samples("trulens_records.csv")
    assert (only.question, only.answer) == ("What is TruLens?", "A tool.")
    assert (only.meta["latency"], only.meta["tokens"], only.meta["cost"]) == (2, 310, 0.0004)


def test_promptfoo_results_tell_failed_checks_from_errors() -> None:
    title, (first, second) = samples("promptfoo_results.json")
    assert title == "promptfoo results"
    assert (first.id, first.question, first.answer, first.reference) == (
        "r-1",
        "Who?",
        "Ana",
        "Ana",
    )
    assert first.error is None
    assert first.contexts is not None
    assert first.contexts.texts == ["Ana did it."]
    assert first.meta["latency"] == pytest.approx(0.83)
    assert (first.meta["tokens"], first.meta["cost"]) == (40, 0.001)
    assert second.error == "429 too many requests"
    assert second.contexts is not None
    assert len(second.contexts) == 2


def test_promptfoo_tests() -> None:
    _, (only,) = samples("promptfoo_tests.json")
    assert (only.question, only.reference) == ("Who?", "Ana")


def test_a_trec_run_is_ordered_by_score_then_by_id_backwards() -> None:
    title, found = samples(f"run.trec+{FILES}/qrels.txt")
    assert title == "a TREC run with qrels"
    by_id = {sample.id: sample for sample in found}
    assert list(by_id) == ["q1", "q3", "q2"]
    assert by_id["q1"].contexts is not None
    assert by_id["q1"].contexts.ids == ["d2", "d3", "d1"]
    assert by_id["q1"].relevant == {"d1": 3, "d2": 0, "d8": -2}
    assert by_id["q2"].contexts == ()
    assert by_id["q3"].relevant is None


def test_lines_may_be_named_as_a_format_where_there_are_lines() -> None:
    assert read(f"{FILES}/run.trec+{FILES}/qrels.txt", format="trec").check() == 3
    with pytest.raises(UnknownFormat, match="is not trec"):
        read(FILES / "ragas.jsonl", format="trec")


def test_a_run_without_qrels_says_what_to_add() -> None:
    with pytest.raises(DataError, match=r"run without judgements; add them: .*\+qrels.txt"):
        read(FILES / "run.trec")
    with pytest.raises(DataError, match="judgements only; add the run"):
        read(FILES / "qrels.txt")


def test_malformed_trec_lines_are_bad_rows(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 0.5 x\nq1 d2 0.4\nq1 Q0 d3 3 nan x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d1 2\nq1 0 d2 good\n")
    source = f"{tmp_path}/run.trec+{tmp_path}/qrels.txt"
    with pytest.raises(BadRows) as refused:
        list(read(source))
    places = [row.split(": ")[0].rsplit("/", 1)[1] for row in refused.value.rows]
    assert places == ["qrels.txt:2", "qrels.txt:3", "run.trec:2", "run.trec:3"]
    (only,) = read(source, skip_bad_rows=True)
    assert only.sample.relevant == {"d1": 1}


def test_beir_folder_with_a_run_has_titles_and_texts() -> None:
    title, (first, second) = samples("beir")
    assert title == "a BEIR folder"
    assert first.question == "Where do penguins live?"
    assert first.contexts is not None
    assert [(chunk.id, chunk.text) for chunk in first.contexts] == [
        ("d2", "Bears live in the Arctic."),
        ("d1", "Penguins\nThey live in Antarctica."),
    ]
    assert (second.contexts, second.relevant) == ((), {"d2": 2})


def test_beir_split_by_name() -> None:
    _, found = samples(f"beir/qrels/train.tsv+{FILES}/beir")
    assert {sample.id for sample in found} == {"q1", "q-train"}


@pytest.mark.parametrize("name", [*ROWS, "beir", f"run.trec+{FILES}/qrels.txt"])
def test_a_stored_row_gives_the_same_sample(name: str) -> None:
    reading = read(f"{FILES}/{name}")
    records = list(reading)
    assert records
    for position, record in enumerate(records, 1):
        assert to_sample(record.row, reading.shape, position) == record.sample


def test_every_format_has_a_file() -> None:
    foreign = [
        f"foreign/{name}"
        for name in (
            "squad_rows.jsonl", "mlflow_traces.csv", "inspect.json", "openai_samples.jsonl",
            "openai_items.jsonl", "phoenix_qa.csv", "haystack_results.jsonl", "langfuse_traces.jsonl",
        )
    ]  # fmt: skip
    read_as = {read(FILES / name).shape["format"] for name in (*ROWS, *foreign)}
    assert read_as == set(FORMATS)


@pytest.mark.parametrize("name", ["mlflow_traces.csv", "inspect.json", "haystack_results.jsonl"])
def test_a_stored_row_of_another_tool_gives_the_same_sample(name: str) -> None:
    reading = read(FILES / "foreign" / name)
    for position, record in enumerate(reading, 1):
        assert to_sample(record.row, reading.shape, position) == record.sample


def test_inputs_and_outputs_alone_are_ambiguous() -> None:
    with pytest.raises(UnknownFormat, match=r"langsmith-runs or langsmith-examples or mlflow; say"):
        detect_format({"inputs", "outputs"}, "x.jsonl")
    (record,) = read([{"inputs": {"question": "a?"}, "outputs": {"answer": "b"}}], format="mlflow")
    assert (record.sample.question, record.sample.answer) == ("a?", "b")


def test_unknown_columns_name_the_nearest_format_and_the_remedy() -> None:
    with pytest.raises(
        UnknownFormat, match=r"columns \(ask, ground_truth\) fit no known format; nearest"
    ) as refused:
        read([{"ask": "a?", "ground_truth": "b"}])
    assert "--format" in str(refused.value)
    assert "fields: {question: …" in str(refused.value)


def test_an_unknown_format_name_has_a_suggestion() -> None:
    with pytest.raises(UnknownFormat, match="did you mean 'ragas'"):
        read([{"question": "a?"}], format="raga")


def test_fields_map_own_columns_also_nested_and_over_lists() -> None:
    row = {
        "ask": {"text": "a?"},
        "said": "b",
        "hits": [{"body": "one", "ref": 1}, {"body": "two", "ref": 2}],
        "kind": "impossible",
    }
    fields = {
        "question": "ask.text",
        "answer": "said",
        "contexts": "hits.body",
        "context_ids": "hits.ref",
    }
    reading = read([row], fields=fields)
    (record,) = reading
    assert reading.format == "your own columns"
    assert (record.sample.question, record.sample.answer) == ("a?", "b")
    assert record.sample.contexts is not None
    assert record.sample.contexts.ids == ["1", "2"]
    assert record.sample.contexts.texts == ["one", "two"]
    assert record.sample.meta == {"kind": "impossible"}
    assert to_sample(record.row, reading.shape, 1) == record.sample


def test_fields_with_a_missing_column_or_field_say_so() -> None:
    with pytest.raises(DataError, match="which the first 1 rows of 1 sample lack; did you mean"):
        read([{"question": "a?", "replyy": "b"}], fields={"answer": "reply"})
    with pytest.raises(DataError, match="'anwser' is not a field of a sample; did you mean"):
        read([{"question": "a?"}], fields={"anwser": "question"})


def test_pair_matches_by_id_and_counts_what_is_missing() -> None:
    reading = pair_predictions(FILES / "answers_refs.json", FILES / "answers_preds.json")
    first, second, third = (record.sample for record in reading)
    assert (first.reference, first.answer) == ("SparseSwaps", "SparseSwaps algorithm")
    assert (second.meta["type"], second.answer) == (
        "impossible",
        "It is not mentioned in the document.",
    )
    assert third.answer is None
    assert third.error is not None
    assert "no prediction in" in third.error
    for position, record in enumerate(reading, 1):
        assert to_sample(record.row, reading.shape, position) == record.sample


def test_pair_without_ids_goes_by_position() -> None:
    reading = pair_predictions(
        [{"question": "a?", "answer": "x"}], [{"question": "a?", "answer": "y"}]
    )
    (record,) = reading
    assert (record.sample.reference, record.sample.answer) == ("x", "y")


def test_pair_refuses_a_prediction_nobody_asked_for() -> None:
    refs = [{"question_id": 1, "question": "a?", "answer": "x"}]
    preds = [*refs, {"question_id": 9, "question": "b?", "answer": "z"}]
    with pytest.raises(BadRows, match="question_id '9' has no reference"):
        list(pair_predictions(refs, preds))
    assert len(list(pair_predictions(refs, preds, skip_bad_rows=True))) == 1


def test_pair_of_strangers_is_one_error() -> None:
    with pytest.raises(DataError, match=r"no prediction of .* belongs to a reference"):
        list(
            pair_predictions(
                [{"question_id": 1, "question": "a?", "answer": "x"}],
                [{"question_id": 2, "question": "a?", "answer": "x"}],
            )
        )


def test_the_last_retriever_by_time_counts_and_a_failed_tool_has_no_result() -> None:
    def observe(kind: str, start: str, output: object, **more: object) -> dict[str, object]:
        return {"type": kind, "name": kind, "startTime": start, "output": output, **more}

    row = {"id": "t", "observations": [
        observe("RETRIEVER", "2026-01-02", ["new"]),
        observe("RETRIEVER", "2026-01-01", ["old"]),
        observe("TOOL", "2026-01-03", "half", level="ERROR"),
        observe("TOOL", "2026-01-04", "whole"),
    ]}  # fmt: skip
    converted = convert_langfuse_trace(row)
    assert converted["contexts"] == ["new"]
    failed, done = converted["steps"]
    assert (failed.get("result"), failed["error"]) == (None, "the call failed")
    assert (done["result"], "error" in done) == ("whole", False)


@pytest.mark.parametrize(("state", "error"), [("OK", None), ("ERROR", "the trace failed")])
def test_a_trace_of_mlflow_that_failed_says_so(state: str, error: str | None) -> None:
    assert convert_mlflow_trace({"trace_id": "t", "state": state}).get("error") == error
