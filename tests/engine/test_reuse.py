"""A second run takes the scores of the first over, as far as nothing that could change them has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from faults.server import Call, FaultServer, honestly
from ragstone import Run, Sample, evaluate, report
from ragstone.engine import broker, identity
from ragstone.metrics import resolve
from ragstone.store import Store
from ragstone.types import Usage
from scripted import ScriptedJudge, rated

TONE = resolve({"rubric": {"name": "tone", "question": "Is it polite?"}})
PROMPTS = Path(identity.__file__).parents[1] / "prompts"
RUDE = resolve({"rubric": {"name": "tone", "question": "Is it rude?"}})


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def build_samples(count: int = 6) -> list[Sample]:
    return [Sample(f"s{n}", question="Why?", answer=f"answer {n}") for n in range(count)]


def run_judged(server: FaultServer, samples: Sequence[Any], **options: Any) -> Run:
    settings = {"model": "openai:m", "base_url": server.url, **options.pop("settings", {})}
    return evaluate(samples, options.pop("metrics", [TONE]), judge=settings, **options)


def export(run: Run, folder: Path) -> bytes:
    path = folder / f"{run.id}.jsonl"
    report.write(run, path)
    return path.read_bytes()


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many questions each look-up in the store was about: none where scores were taken over."""
    found: list[int] = []
    real = broker.AskBroker.answer

    async def watch(self: Any, asks: Any) -> Any:
        found.append(len(asks))
        return await real(self, asks)

    monkeypatch.setattr(broker.AskBroker, "answer", watch)
    return found


def test_a_second_run_has_the_scores_of_the_first_and_asks_nothing(
    tmp_path: Path, server: FaultServer, looked_up: list[int]
) -> None:
    first = run_judged(server, build_samples())
    asked = len(looked_up)
    second = run_judged(server, build_samples())
    assert len(looked_up) == asked == len(server.calls) == 6
    assert export(second, tmp_path) == export(first, tmp_path)
    assert second.info.status == "done"
    assert second.summary().usage == Usage(hits=6)
    assert first.summary().usage.calls == 6


def test_a_third_run_finds_as_many_replies_as_the_second(server: FaultServer) -> None:
    runs = [run_judged(server, build_samples()) for _ in range(3)]
    assert runs[2].summary().usage == Usage(hits=6)


def test_rows_added_at_the_end_are_scored_and_the_others_taken_over(
    server: FaultServer, looked_up: list[int]
) -> None:
    run_judged(server, build_samples(6))
    looked_up.clear()
    longer = run_judged(server, build_samples(8))
    assert len(looked_up) == 2
    assert len(server.calls) == 8
    assert list(longer.scores()) == [f"s{n}" for n in range(8)]


def test_samples_before_a_change_are_taken_over(server: FaultServer, looked_up: list[int]) -> None:
    run_judged(server, build_samples())
    looked_up.clear()
    changed = Sample("s3", question="Why?", answer="else")
    run = run_judged(server, [*build_samples()[:3], changed, *build_samples()[4:]])
    assert len(looked_up) == 3
    assert len(server.calls) == 7
    assert [row.position for row in run.rows()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"temperature": 0.9}},
        {"settings": {"language": "es"}},
        {"language": "es"},
        {"metrics": [RUDE]},
        {"metrics": [TONE, resolve("token_f1")]},
        {"fields": {"answer": "question"}},
    ],
    ids=["parameter", "language of the judge", "language", "options", "metrics", "fields"],
)
def test_nothing_is_taken_over_when_something_else_scores(
    change: dict[str, Any], server: FaultServer, looked_up: list[int]
) -> None:
    rows = [{"id": f"s{n}", "question": "Why?", "answer": f"answer {n}"} for n in range(6)]
    run_judged(server, rows)
    looked_up.clear()
    run_judged(server, rows, **change)
    assert len(looked_up) == 6


@pytest.mark.parametrize("edited", ["en/rate.md", "en/useful_2.md", "de/rate.md"])
def test_an_edited_prompt_of_any_kind_and_language_scores_again(
    edited: str, server: FaultServer, looked_up: list[int], tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    for language in ("en", "de"):
        (folder / language).mkdir(parents=True)
        for name in ("rate", "useful_2"):
            text = (PROMPTS / "en" / f"{name}.md").read_text("utf-8")
            (folder / language / f"{name}.md").write_text(text, "utf-8")
    settings = {"prompts": str(folder)}
    run_judged(server, build_samples(), settings=settings)
    looked_up.clear()
    run_judged(server, build_samples(), settings=settings)
    assert looked_up == []
    with (folder / edited).open("a", encoding="utf-8") as prompt:
        prompt.write("\nBe strict.\n")
    run_judged(server, build_samples(), settings=settings)
    assert len(looked_up) == 6


def test_edited_code_scores_again(
    monkeypatch: pytest.MonkeyPatch, server: FaultServer, looked_up: list[int]
) -> None:
    run_judged(server, build_samples())
    looked_up.clear()
    monkeypatch.setattr(identity, "_hash_code", lambda: "edited")
    run_judged(server, build_samples())
    assert len(looked_up) == 6


def test_a_metric_of_the_user_may_have_been_edited_and_is_scored_again(
    server: FaultServer, looked_up: list[int]
) -> None:
    own = rated("own_metric")
    run_judged(server, build_samples(), metrics=[own])
    looked_up.clear()
    run_judged(server, build_samples(), metrics=[own])
    assert len(looked_up) == 6


def test_a_judge_that_is_an_object_is_asked_or_looked_up_again(looked_up: list[int]) -> None:
    evaluate(build_samples(), [TONE], judge=ScriptedJudge())
    looked_up.clear()
    evaluate(build_samples(), [TONE], judge=ScriptedJudge())
    assert len(looked_up) == 6


def test_failures_are_judged_again(server: FaultServer) -> None:
    async def refuse(call: Call) -> None:
        await call.send(400, b'{"error": "no"}')

    server.behave = refuse
    run_judged(server, build_samples())
    server.behave = honestly
    run = run_judged(server, build_samples())
    assert all(score.ok for scores in run.scores().values() for score in scores.values())


def test_an_unfinished_run_and_a_deleted_one_are_not_taken_over(
    server: FaultServer, looked_up: list[int]
) -> None:
    first = run_judged(server, build_samples())
    store = Store.open()
    with_status = "UPDATE runs SET status = 'running' WHERE id = ?"
    store.write(lambda db: db.execute_many(with_status, [(first.id,)])).result()
    looked_up.clear()
    second = run_judged(server, build_samples())
    assert len(looked_up) == 6
    second.delete()
    looked_up.clear()
    run_judged(server, build_samples())
    assert len(looked_up) == 6


def test_a_damaged_earlier_run_is_left_alone(server: FaultServer, looked_up: list[int]) -> None:
    run_judged(server, build_samples())
    store = Store.open()
    damage = "UPDATE scores SET details = ?"
    store.write(lambda db: db.execute_many(damage, [("{",)])).result()
    looked_up.clear()
    run = run_judged(server, build_samples())
    assert len(looked_up) == 6
    assert len(server.calls) == 6
    assert len(run.scores()) == 6


def test_progress_counts_what_was_taken_over(server: FaultServer) -> None:
    run_judged(server, build_samples())
    seen: list[tuple[int, int]] = []
    run_judged(server, build_samples(), watch=lambda at: seen.append((at.done, at.usage.hits)))
    assert seen[-1] == (6, 6)
