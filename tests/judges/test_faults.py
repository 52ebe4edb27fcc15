"""32 faults × every judged metric: the honest score or a typed outcome, and never any other number."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable

import pytest

import ragstone
from faults.catalogue import FAULTS, HARMLESS, NEVER_DONE, TRANSPORT, only_first
from faults.scoring import HASTY, JUDGED, SAMPLE, scored, settings
from faults.server import FaultServer
from ragstone.judges import http
from ragstone.types import Score
from sampling import sample_every

Serve = Callable[..., FaultServer]

HONEST = {
    "faithfulness": 0.25,
    "hallucination_rate": 0.75,
    "context_recall": 0.5,
    "answer_correctness": 2 / 3,
    "citation_precision": 0.5,
    "citation_recall": 0.25,
    "citation_accuracy": 1 / 3,
    "completeness": 0.5,
    "context_precision": 1.0,
    "noise_sensitivity": 0.0,
}
BAD_REPLIES = [(fault, metric) for fault in FAULTS if fault not in TRANSPORT for metric in JUDGED]
OTHER_DIALECTS = [
    (fault, model)
    for fault in FAULTS
    if fault not in NEVER_DONE
    for model in ("anthropic:m", "gemini:m")
]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jitter in hundredths of its length; what servers ask for with Retry-After is left alone."""
    monkeypatch.setattr(http.random, "uniform", lambda low, high: high if low else high / 100)


@pytest.fixture(scope="module")
def honest() -> dict[str, Score]:
    """The scores when nothing goes wrong."""
    with FaultServer() as server:
        return scored(server)


def test_the_honest_scores_are_the_true_ones(honest: dict[str, Score]) -> None:
    assert set(honest) == set(JUDGED)
    assert all(score.ok for score in honest.values())
    for name, value in HONEST.items():
        assert honest[name].value == pytest.approx(value), name


def test_there_are_32_faults() -> None:
    assert len(FAULTS) == 32


def _true_or_typed(scores: dict[str, Score], honest: dict[str, Score]) -> None:
    assert set(scores) == set(honest)
    for name, score in scores.items():
        if score.ok:
            assert score.value == pytest.approx(honest[name].value), f"{name} lies"
        else:
            assert score.outcome in ("judge_error", "not_applicable"), f"{name}: {score}"
            assert score.reason


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lasting_fault_never_makes_a_number(
    fault: str, honest: dict[str, Score], serve: Serve
) -> None:
    server = serve(FAULTS[fault])
    if fault == "refused":
        server.close()
    scores = scored(server, **(HASTY if fault in NEVER_DONE else {}))
    _true_or_typed(scores, honest)
    judged = [score for name, score in scores.items() if name != "answer_similarity"]
    if fault in HARMLESS:
        assert all(score.ok for score in judged)
    elif fault in TRANSPORT:
        assert {score.kind for score in judged if score.outcome == "judge_error"} == {"transport"}
        assert not any(score.ok for score in judged)
    else:
        assert not scores["faithfulness"].ok
    put = Counter(call.raw for call in server.calls)
    assert all(times <= 1 + 2 for times in put.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_leaves_the_score_as_it_is(
    fault: str, honest: dict[str, Score], serve: Serve
) -> None:
    if fault in ("401", "429, absurd", "refused", "refusal"):
        pytest.skip("does not pass by itself")
    # the first attempt must be given up soon; the honest second one must not be hurried
    hasty = {"timeout": 15.0} if fault in NEVER_DONE else {}
    scores = scored(serve(only_first(FAULTS[fault])), **hasty)
    for name, score in scores.items():
        assert score.ok, f"{name}: {score.reason}"
        assert score.value == pytest.approx(honest[name].value)


@pytest.mark.parametrize(("fault", "metric"), sample_every(7, BAD_REPLIES))
def test_each_metric_alone_survives_each_bad_reply(
    fault: str, metric: str, honest: dict[str, Score], serve: Serve
) -> None:
    scores = scored(serve(FAULTS[fault]), [JUDGED[metric]])
    _true_or_typed(scores, {metric: honest[metric]})


@pytest.mark.parametrize(("fault", "model"), sample_every(3, OTHER_DIALECTS))
def test_the_other_dialects_are_as_strict(
    fault: str, model: str, honest: dict[str, Score], serve: Serve
) -> None:
    server = serve(FAULTS[fault])
    scores = scored(server, ["faithfulness", "completeness"], model=model)
    _true_or_typed(scores, {name: honest[name] for name in scores})
    assert scores["faithfulness"].ok == (fault in HARMLESS)


@pytest.mark.parametrize(
    "fault", ["500", "503", "429, seconds", "reset before headers", "cut chunk"]
)
@pytest.mark.parametrize("retries", [0, 2])
def test_no_question_is_put_more_than_once_and_its_retries(
    fault: str, retries: int, serve: Serve
) -> None:
    server = serve(FAULTS[fault])
    scored(server, ["coherence"], max_retries=retries)
    assert len(server.calls) == 1 + retries


@pytest.mark.parametrize(
    "fault", ["wrong schema", "two documents", "NaN", "wrong nonce", "empty lists"]
)
def test_a_bad_reply_is_asked_for_once_more_and_the_fault_is_named(
    fault: str, serve: Serve
) -> None:
    server = serve(FAULTS[fault])
    score = scored(server, ["completeness"])["completeness"]
    asked = [call for call in server.calls if "aspects" in call.prompt[1]]
    assert not score.ok
    if asked:
        assert "could not be used" not in asked[0].prompt[1]
    repeated = [call for call in server.calls if "could not be used: " in call.prompt[1]]
    assert len(repeated) >= 1
    assert len(server.calls) <= 2 * len(repeated)


@pytest.mark.parametrize("fault", ["hang", "drip", "503", "429, seconds"])
def test_the_deadline_holds(fault: str, serve: Serve) -> None:
    server = serve(FAULTS[fault])
    # without the deadline, a reply that never ends would outlast what pytest allows a test
    score = scored(server, ["coherence"], deadline=1.0, timeout=3600.0, max_retries=100)[
        "coherence"
    ]
    assert score.kind == "transport"
    assert len(server.calls) <= 100  # and not every retry was made


def test_five_percent_of_faults_cost_nothing_but_patience(serve: Serve) -> None:
    """At 5 % malformed replies and 5 % 429 or 500, every sample is scored as if nothing had been."""
    samples = [
        SAMPLE | {"id": str(n), "question": f"{SAMPLE['question']} ({n})"} for n in range(60)
    ]
    metrics = ["faithfulness", "context_precision", "answer_correctness", "completeness"]

    def run(server: FaultServer) -> list[dict[str, float | None]]:
        done = ragstone.evaluate(samples, metrics, judge=settings(server, max_retries=5))
        return [{k: v.value for k, v in row.scores.items()} for row in done.rows()]

    truth = run(serve())
    bad = [FAULTS[name] for name in ("wrong schema", "missing ids", "429, no header", "500")]

    async def sometimes(call: object) -> None:
        number = call.number  # type: ignore[attr-defined]
        again = "could not be used" in call.prompt[1]  # type: ignore[attr-defined]
        if number % 10 == 3 and not again:
            await bad[number // 10 % 4](call)  # type: ignore[arg-type]
        else:
            await call.answer()  # type: ignore[attr-defined]

    assert run(serve(sometimes)) == truth
    assert all(value is not None for row in truth for value in row.values())


def test_no_connection_is_made_but_to_the_judge(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    seen: set[object] = set()
    real = socket.socket.connect

    def connect(sock: socket.socket, address: object) -> None:
        seen.add(address)
        real(sock, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)
    looked_up: list[object] = []
    resolve = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *a, **k: looked_up.append(a[0]) or resolve(*a, **k)
    )
    assert all(score.ok for score in scored(server).values())
    assert seen <= {("127.0.0.1", server.port)}
    assert set(looked_up) <= {"127.0.0.1"}
