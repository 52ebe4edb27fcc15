"""Our metrics inside other platforms, run by those platforms."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from foreign_files import serve
from ragstone.integrations import scorers
from ragstone.integrations.scorers import MetricScorer, build_sample

GOOD = {"answer": "The shop opens at nine.", "contexts": ["The shop opens at nine."]}
BAD = {"answer": "The shop opens at ten.", "contexts": ["The shop opens at nine."]}
REFUSAL = {"answer": "I don't know.", "contexts": ["The shop opens at nine."]}


def test_usual_names_of_fields_are_understood() -> None:
    sample = build_sample(
        {"query": "When?"},
        {"response": "At nine.", "documents": ["nine"]},
        {"expected_output": "9"},
    )
    assert (sample.question, sample.answer, sample.reference) == ("When?", "At nine.", "9")
    assert [chunk.text for chunk in sample.contexts or ()] == ["nine"]
    assert build_sample("When?", "At nine.", "9").reference == "9"


def test_a_scorer_gives_the_value_of_a_run_and_says_why() -> None:
    ours = MetricScorer("faithfulness")
    good, bad, refusal = (ours.score(build_sample("When?", out)) for out in (GOOD, BAD, REFUSAL))
    assert good.value is not None
    assert bad.value is not None
    assert good.value > 0.5 > bad.value
    assert scorers.explain(bad).startswith("contradicted: The shop opens at ten.")
    assert (refusal.value, refusal.outcome) == (None, "not_applicable")
    assert scorers.explain(refusal) == "the answer declines"


def test_mlflow_evaluates_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow.genai", reason="mlflow is not installed (make test-all)")
    import mlflow

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    data = [{"inputs": {"question": "When?"}, "outputs": out} for out in (GOOD, BAD, REFUSAL)]
    result = mlflow.genai.evaluate(data=data, scorers=[scorers.mlflow_scorer("faithfulness")])
    means = [value for name, value in result.metrics.items() if name.startswith("faithfulness")]
    assert means
    assert 0 < means[0] < 1


def test_inspect_scores_with_it(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed (make test-all)")
    from inspect_ai import Task
    from inspect_ai import eval as run_inspect
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def answered() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = ModelOutput.from_content("none", state.metadata["answer"])
            return state

        return solve

    rows = [Sample(input="When?", target="At nine.", metadata=out) for out in (GOOD, BAD)]
    task = Task(dataset=rows, solver=answered(), scorer=scorers.inspect_scorer("faithfulness"))
    (log,) = run_inspect(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    values = [next(iter(sample.scores.values())).value for sample in log.samples]
    assert values[0] > 0.5 > values[1]


def test_langfuse_gets_an_evaluation() -> None:
    pytest.importorskip("langfuse", reason="langfuse is not installed (make test-all)")
    evaluate = scorers.langfuse_evaluator("faithfulness")
    found = evaluate(input={"question": "When?"}, output=BAD)
    assert found.name == "faithfulness"
    assert found.value < 0.5
    assert "ten" in found.comment
    with pytest.raises(scorers.NotScored, match="declines"):
        evaluate(input="When?", output=REFUSAL)


@pytest.mark.parametrize("make", [scorers.phoenix_evaluator, scorers.langsmith_evaluator])
def test_phoenix_and_langsmith_get_a_score_or_a_reason(make: Any) -> None:
    evaluate = make("faithfulness")
    names = ("input", "output") if make is scorers.phoenix_evaluator else ("inputs", "outputs")
    bad = evaluate(**dict(zip(names, ({"question": "When?"}, BAD), strict=True)))
    refusal = evaluate(**dict(zip(names, ({"question": "When?"}, REFUSAL), strict=True)))
    assert bad["score"] < 0.5
    assert "score" not in refusal
    assert "declines" in refusal.get("explanation", refusal.get("comment", ""))


def test_langsmith_takes_it_as_an_evaluator() -> None:
    pytest.importorskip("langsmith", reason="langsmith is not installed (make test-all)")
    from langsmith.evaluation.evaluator import run_evaluator
    from langsmith.schemas import Example, Run

    now, asked = datetime.now(UTC), {"question": "When?"}
    run = Run(
        id=uuid4(),
        name="r",
        start_time=now,
        run_type="chain",
        inputs=asked,
        outputs=BAD,
        trace_id=uuid4(),
    )
    example = Example(
        id=uuid4(), inputs=asked, outputs={"answer": "At nine."}, dataset_id=uuid4(), created_at=now
    )
    found = run_evaluator(scorers.langsmith_evaluator("faithfulness")).evaluate_run(run, example)
    assert found.key == "faithfulness"
    assert found.score < 0.5


@pytest.mark.filterwarnings("ignore:'upload_results':UserWarning")
def test_langsmith_evaluates_with_it() -> None:
    pytest.importorskip("langsmith", reason="langsmith is not installed (make test-all)")
    from langsmith import Client, evaluate
    from langsmith.schemas import Example

    example = Example(id=uuid4(), inputs={"question": "When?"}, outputs={}, dataset_id=uuid4())
    with serve(lambda *_: {}) as url:
        client = Client(api_url=url, api_key="k", auto_batch_tracing=False)
        results = evaluate(
            lambda inputs: BAD, data=[example], client=client, upload_results=False,
            evaluators=[scorers.langsmith_evaluator("faithfulness")],
        )  # fmt: skip
        (row,) = results
    (found,) = row["evaluation_results"]["results"]
    assert found.key == "faithfulness"
    assert found.score < 0.5
    assert "ten" in found.comment


def test_langfuse_runs_an_experiment_with_it() -> None:
    pytest.importorskip("langfuse", reason="langfuse is not installed (make test-all)")
    from langfuse import Langfuse

    sent: list[str] = []

    def handle(method: str, path: str, body: bytes) -> Any:
        sent.append(path)
        return {}

    with serve(handle) as url:
        client = Langfuse(public_key="pk-e", secret_key="sk-e", base_url=url)
        result = client.run_experiment(
            name="shop", data=[{"input": {"question": "When?"}, "expected_output": "At nine."}],
            task=lambda *, item, **more: BAD, evaluators=[scorers.langfuse_evaluator("faithfulness")],
        )  # fmt: skip
        client.shutdown()
    ((found,),) = [item.evaluations for item in result.item_results]
    assert found.name == "faithfulness"
    assert found.value < 0.5
    assert any("otel" in path for path in sent)
