"""Our metrics as scorers of other platforms: MLflow, Phoenix, Langfuse, Inspect and LangSmith.

Each is a function that scores one sample; what differs is how a platform names the fields and wants the result. A metric that
could not be scored is an error of the platform's own kind, never a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.engine.sample_scoring import score_sample
from ragstone.engine.sync import run_sync
from ragstone.errors import MissingExtra, RagstoneError
from ragstone.integrations.answers import JudgeAnswers
from ragstone.judges.factory import make_judge
from ragstone.locale.messages import render
from ragstone.metrics.scoring import build_starter
from ragstone.registry import resolve
from ragstone.systems.replies import parse_answer, parse_contexts
from ragstone.types import Finding, Sample, Score

MAX_EXPLAINED_CLAIMS = 5

QUESTION_NAMES = ("question", "query", "input", "user_input", "inputs", "prompt", "messages")
ANSWER_NAMES = ("answer", "response", "output", "outputs", "result", "actual_output")
CONTEXT_NAMES = (
    "contexts",
    "context",
    "retrieved_contexts",
    "documents",
    "retrieval_context",
    "source_documents",
)
REFERENCE_NAMES = (
    "reference",
    "expected_response",
    "expected_output",
    "ground_truth",
    "expected",
    "target",
    "answer",
)


class MetricScorer:
    """One metric with one judge, asked sample by sample."""

    def __init__(self, metric: Any, judge: Any = None) -> None:
        self.metric = resolve(metric)
        self.name = self.metric.name
        self._judge = make_judge(judge)
        self._start = {self.name: build_starter(self.metric)}

    async def ascore(self, sample: Sample) -> Score:
        """The score of a sample; failures are outcomes of the score."""
        metrics = {self.name: self.metric}
        return (await score_sample(sample, metrics, self._start, JudgeAnswers(self._judge)))[
            self.name
        ]

    def score(self, sample: Sample) -> Score:
        """The same from synchronous code."""
        return run_sync(lambda: self.ascore(sample))


def build_sample(inputs: Any, outputs: Any, expected: Any = None) -> Sample:
    """A sample of what a platform calls inputs, outputs and expectations: texts, or mappings with usual names."""
    contexts = None
    for place in (outputs, inputs, expected):
        if isinstance(place, Mapping) and contexts is None:
            contexts = _find(place, CONTEXT_NAMES)
    return Sample(
        id="1",
        question=_to_text(_find(inputs, QUESTION_NAMES)),
        answer=_to_text(_find(outputs, ANSWER_NAMES)),
        reference=_to_text(_find(expected, REFERENCE_NAMES)),
        contexts=None if contexts is None else parse_contexts(contexts, None, None),
    )


def _to_text(value: Any) -> str | None:
    return None if value is None else parse_answer(value)


def _find(place: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(place, Mapping):
        return place
    return next((place[name] for name in names if place.get(name) is not None), None)


def explain(score: Score) -> str:
    """Why a score is what it is: the claims that count against it, with the text that decides."""
    if score.value is None:
        return render(score.reason, "en")
    against = [f for f in score.findings if f.verdict not in ("supported", "covered", "match")]
    return "; ".join(map(_explain_claim, against[:MAX_EXPLAINED_CLAIMS])) or "nothing against it"


def _explain_claim(claim: Finding) -> str:
    quote = f" (“{claim.quote}”)" if claim.quote else ""
    return f"{claim.verdict}: {claim.text}{quote}"


class NotScored(RagstoneError):
    """A metric that has no value for this sample."""


def _take_value(score: Score, name: str) -> float:
    if score.value is None:
        raise NotScored(f"{name}: {score.outcome}: {render(score.reason, 'en')}")
    return score.value


# ── one function a platform ──────────────────────────────────────────────────


def mlflow_scorer(metric: Any, judge: Any = None) -> Any:
    """For `mlflow.genai.evaluate(scorers=[…])`."""
    try:
        from mlflow.entities import Feedback
        from mlflow.genai.scorers import scorer
    except ImportError:
        raise MissingExtra("a scorer for MLflow", "mlflow") from None
    ours = MetricScorer(metric, judge)

    def score(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
        result = ours.score(build_sample(inputs, outputs, expectations))
        if result.value is None:
            return Feedback(name=ours.name, error=NotScored(explain(result)))
        return Feedback(name=ours.name, value=result.value, rationale=explain(result))

    return scorer(name=ours.name)(score)


def phoenix_evaluator(metric: Any, judge: Any = None) -> Callable[..., Any]:
    """For `client.experiments.run_experiment(evaluators=[…])`: score, label and explanation."""
    ours = MetricScorer(metric, judge)

    def evaluate(input: Any = None, output: Any = None, expected: Any = None) -> dict[str, Any]:
        result = ours.score(build_sample(input, output, expected))
        found = {"label": result.label or result.outcome, "explanation": explain(result)}
        return found if result.value is None else {"score": result.value, **found}

    evaluate.__name__ = ours.name
    return evaluate


def langfuse_evaluator(metric: Any, judge: Any = None) -> Callable[..., Any]:
    """For `dataset.run_experiment(evaluators=[…])` and for traces that you fetched."""
    try:
        from langfuse import Evaluation
    except ImportError:
        raise MissingExtra("an evaluator for Langfuse", "langfuse") from None
    ours = MetricScorer(metric, judge)

    def evaluate(*, input: Any, output: Any, expected_output: Any = None, **more: Any) -> Any:
        result = ours.score(build_sample(input, output, expected_output))
        return Evaluation(
            name=ours.name, value=_take_value(result, ours.name), comment=explain(result)
        )

    return evaluate


def langsmith_evaluator(metric: Any, judge: Any = None) -> Callable[..., Any]:
    """For `client.evaluate(evaluators=[…])`."""
    ours = MetricScorer(metric, judge)

    def evaluate(inputs: Any, outputs: Any, reference_outputs: Any = None) -> dict[str, Any]:
        result = ours.score(build_sample(inputs, outputs, reference_outputs))
        found = {"key": ours.name, "comment": explain(result)}
        return found if result.value is None else {**found, "score": result.value}

    evaluate.__name__ = ours.name
    return evaluate


def inspect_scorer(metric: Any, judge: Any = None) -> Any:
    """A scorer for Inspect: `Task(scorer=ragstone.integrations.scorers.inspect_scorer("faithfulness"))`.

    Contexts are those of the sample's metadata (`contexts`)."""
    try:
        from inspect_ai.scorer import Score as InspectScore
        from inspect_ai.scorer import mean, scorer, stderr
    except ImportError:
        raise RagstoneError("a scorer for Inspect needs it: pip install inspect-ai") from None
    ours = MetricScorer(metric, judge)

    def build() -> Any:
        async def score(state: Any, target: Any) -> Any:
            contexts = (state.metadata or {}).get("contexts")
            outputs = {"answer": state.output.completion, "contexts": contexts}
            sample = build_sample(state.input_text, outputs, target.text or None)
            result = await ours.ascore(sample)
            if result.value is None:  # Inspect leaves it out of its means and shows the reason
                return InspectScore.unscored(explanation=explain(result))
            return InspectScore(
                value=result.value, answer=sample.answer, explanation=explain(result)
            )

        return score

    return scorer(metrics=[mean(), stderr()], name=f"ragstone/{ours.name}")(build)()
