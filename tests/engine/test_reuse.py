"""A second run takes the scores of the first over, as far as nothing that could change them has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import Run, Sample, evaluate
from ragstone.engine import broker, reuse
from ragstone.errors import JudgeFailed
from ragstone.metrics import resolve
from ragstone.store import Store, blocks
from ragstone.types import Usage
from scripted import ScriptedJudge, level_by_hash, rated

TONE = resolve({"rubric": {"name": "tone", "question": "Is it polite?"}})


def build_samples(count: int = 6) -> list[Sample]:
    return [Sample(f"s{n}", question="Why?", answer=f"answer {n}") for n in range(count)]


def run_scripted(samples: Sequence[Sample], **options: Any) -> tuple[Run, ScriptedJudge]:
    judge = options.pop("judge", None) or ScriptedJudge()
    return evaluate(samples, options.pop("metrics", [TONE]), judge=judge, **options), judge


def export(run: Run, folder: Path) -> bytes:
    path = folder / f"{run.id}.jsonl"
    run.write(path)
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
    tmp_path: Path, looked_up: list[int]
) -> None:
    first, _ = run_scripted(build_samples())
    asked = len(looked_up)
    second, judge = run_scripted(build_samples())
    assert len(looked_up) == asked == 6
    assert judge.asked == []
    assert export(second, tmp_path) == export(first, tmp_path)
    assert second.info.status == "done"
    assert second.summary().usage == Usage(hits=6)
    assert first.summary().usage.calls == 6


def test_a_third_run_finds_as_many_replies_as_the_second() -> None:
    run_scripted(build_samples())
    run_scripted(build_samples())
    third, _ = run_scripted(build_samples())
    assert third.summary().usage == Usage(hits=6)


def test_rows_added_at_the_end_are_scored_and_the_others_taken_over(looked_up: list[int]) -> None:
    run_scripted(build_samples(6))
    looked_up.clear()
    longer, judge = run_scripted(build_samples(8))
    assert len(looked_up) == len(judge.asked) == 2
    assert list(longer.scores()) == [f"s{n}" for n in range(8)]


def test_a_changed_row_is_scored_with_the_rest_of_its_block(looked_up: list[int]) -> None:
    run_scripted(build_samples())
    looked_up.clear()
    changed = [*build_samples()[:5], Sample("s5", question="Why?", answer="another")]
    run, judge = run_scripted(changed)
    assert len(looked_up) == 6
    assert len(judge.asked) == 1
    assert len(run.scores()) == 6


def test_blocks_before_a_change_are_taken_over(
    monkeypatch: pytest.MonkeyPatch, looked_up: list[int]
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_SAMPLES", 2)
    run_scripted(build_samples())
    looked_up.clear()
    changed = [*build_samples()[:5], Sample("s5", question="Why?", answer="another")]
    run, _ = run_scripted(changed)
    assert len(looked_up) == 2
    assert [row.position for row in run.rows()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "change",
    [
        {"judge": ScriptedJudge(name="another")},
        {"language": "es"},
        {"metrics": [resolve({"rubric": {"name": "tone", "question": "Is it rude?"}})]},
        {"metrics": [TONE, resolve("token_f1")]},
        {"fields": {"answer": "question"}},
    ],
    ids=["judge", "language", "options", "metrics", "fields"],
)
def test_nothing_is_taken_over_when_something_else_scores(
    change: dict[str, Any], looked_up: list[int]
) -> None:
    rows = [{"id": f"s{n}", "question": "Why?", "answer": f"answer {n}"} for n in range(6)]
    run_scripted(rows)  # type: ignore[arg-type]
    looked_up.clear()
    run_scripted(rows, **change)  # type: ignore[arg-type]
    assert len(looked_up) == 6


def test_edited_code_scores_again(monkeypatch: pytest.MonkeyPatch, looked_up: list[int]) -> None:
    run_scripted(build_samples())
    looked_up.clear()
    monkeypatch.setattr(reuse, "_stamp_code", lambda: "edited")
    run_scripted(build_samples())
    assert len(looked_up) == 6


def test_a_metric_of_the_user_may_have_been_edited_and_is_scored_again(
    looked_up: list[int],
) -> None:
    own = rated("own_metric")
    run_scripted(build_samples(), metrics=[own])
    looked_up.clear()
    run_scripted(build_samples(), metrics=[own])
    assert len(looked_up) == 6


def test_a_judge_whose_replies_are_not_stored_is_asked_again() -> None:
    run_scripted(build_samples(), judge=ScriptedJudge(local=True))
    _, judge = run_scripted(build_samples(), judge=ScriptedJudge(local=True))
    assert len(judge.asked) == 6


def test_failures_are_judged_again() -> None:
    def fail_once(ask: Any) -> Any:
        return JudgeFailed("transport", "judge_raised", error="x", text="y")

    run_scripted(build_samples(), judge=ScriptedJudge(fail_once))
    run, judge = run_scripted(build_samples(), judge=ScriptedJudge(level_by_hash))
    assert len(judge.asked) == 6
    assert all(score.ok for scores in run.scores().values() for score in scores.values())


def test_an_unfinished_run_and_one_in_the_bin_are_not_taken_over(looked_up: list[int]) -> None:
    first, _ = run_scripted(build_samples())
    store = Store.open()
    with_status = "UPDATE runs SET status = 'running' WHERE id = ?"
    store.write(lambda db: db.execute_many(with_status, [(first.id,)])).result()
    looked_up.clear()
    second, _ = run_scripted(build_samples())
    assert len(looked_up) == 6
    second.delete()
    looked_up.clear()
    run_scripted(build_samples())
    assert len(looked_up) == 6


def test_progress_counts_what_was_taken_over() -> None:
    run_scripted(build_samples())
    seen: list[tuple[int, int]] = []
    run_scripted(build_samples(), watch=lambda at: seen.append((at.done, at.usage.hits)))
    assert seen[-1] == (6, 6)
