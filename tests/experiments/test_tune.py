"""Tuning on the built-in corpus and on a small shop: nothing paid twice, nobody sold noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragstone import RagstoneError, evaluate
from ragstone.analysis.columns import read_columns
from ragstone.data import corpora, read
from ragstone.experiments.race import MAX_GRID_SHARE, Race
from ragstone.experiments.records import describe_search
from ragstone.experiments.search import (
    compute_quality,
    draw_candidates,
    parse_objective,
    split_samples,
)
from ragstone.experiments.trials import Trial, TuningBudget, order_trials
from ragstone.experiments.tune import HELD_OUT_SHARE, tune
from ragstone.report.pages.tuning import SearchView
from ragstone.report.translator import load_translator

QUESTIONS = [
    {"id": f"q{n}", "question": f"How much is item {n}?", "reference": f"{n} euros"}
    for n in range(80)
]


class Till:
    """Knows one item in so many; the larger `knows`, the more of them, and the dearer each answer."""

    asked: list[str] = []  # noqa: RUF012 - counted over all systems of a test

    def __init__(self, *, knows: int = 2, polite: bool = False) -> None:
        self.knows, self.polite = knows, polite

    def answer(self, question: str) -> dict:
        Till.asked.append(f"{self.knows} {self.polite} {question}")
        n = int(question.rstrip("?").rsplit(" ", 1)[1])
        answer = f"{n} euros" if n % 10 < self.knows else "I do not know"
        return {"answer": answer, "tokens": 10 * self.knows, "cost": 0.01}


VARY = {"knows": [2, 5, 8, 9], "polite": [False, True]}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Till.asked.clear()


def test_the_best_wins_with_few_questions_and_is_better_on_held_out_ones(tmp_path) -> None:
    result = tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "s.db")
    assert result.winner.settings["knows"] >= 8
    assert result.evaluations < 0.4 * result.full_grid
    assert result.comparison is not None
    (difference,) = result.comparison.versus[0].differences
    assert difference.verdict == "better"
    held_out = set(result.run.scores())
    assert result.winner.run is not None
    assert not held_out & set(result.winner.run.scores())


@pytest.mark.slow
def test_no_question_is_asked_twice_and_a_second_search_asks_none(tmp_path) -> None:
    result = tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "s.db")
    needed = result.evaluations + 2 * len(result.run.scores())
    assert len(set(Till.asked)) == needed
    # the two runs whose latency is shown are warmed up with one question each
    assert len(Till.asked) == needed + 2
    again = tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "s.db")
    assert len(Till.asked) == needed + 2
    assert (again.run.id, again.winner.settings) == (result.run.id, result.winner.settings)


@pytest.mark.slow
def test_an_interrupted_search_goes_on_to_the_same_end(tmp_path) -> None:
    whole = tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "a.db")
    asked = set(Till.asked)
    Till.asked.clear()

    def stop(name: str, progress: object) -> None:
        if len(Till.asked) >= 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "b.db", watch=stop)
    assert 50 <= len(Till.asked) < len(asked)
    rest = tune(QUESTIONS, Till, VARY, "exact_match", store=tmp_path / "b.db")
    assert rest.winner.settings == whole.winner.settings
    assert rest.evaluations == whole.evaluations
    assert set(Till.asked) == asked
    assert len(Till.asked) <= len(asked) + 8  # those under way when it broke


def test_noise_is_not_sold_as_better(tmp_path) -> None:
    result = tune(
        QUESTIONS, Till, {"polite": [True, False]}, "exact_match", store=tmp_path / "s.db"
    )
    assert result.comparison is not None
    assert result.comparison.versus[0].differences[0].verdict in (
        "equivalent",
        "identical",
        "unclear",
    )


def test_the_system_as_it_was_may_win(tmp_path) -> None:
    result = tune(QUESTIONS, Till, {"knows": [2, 1]}, "exact_match", settings={"knows": 2}, store=tmp_path / "s.db")  # fmt: skip
    assert result.comparison is None
    assert result.run.id == result.baseline.id


def test_among_equal_answers_the_cheaper_is_chosen_with_its_saving(tmp_path) -> None:
    class Cheap(Till):
        def __init__(self, *, tier: str = "large") -> None:
            super().__init__(knows=8)
            self.tier = tier

        def answer(self, question: str) -> dict:
            return super().answer(question) | {"cost": 0.005 if self.tier == "large" else 0.003}

    result = tune(
        QUESTIONS, Cheap, {"tier": ["large", "small"]}, "exact_match", against=["cost"], store=tmp_path / "s.db"
    )  # fmt: skip
    (said,) = SearchView.from_record(describe_search(result)).describe(load_translator("en"))
    assert said.text.startswith("Choose tier=small: it gives the same answers")
    assert said.text.endswith("and takes less: cost 0.003 instead of 0.005.")


def test_against_tokens_there_is_a_front(tmp_path) -> None:
    result = tune(
        QUESTIONS, Till, {"knows": [2, 5, 8]}, "exact_match", against=["tokens"],
        store=tmp_path / "s.db",
    )  # fmt: skip
    assert {trial.settings["knows"]: trial.front for trial in result.trials} == {
        2: True,
        5: True,
        8: True,
    }
    dear = tune(
        QUESTIONS, Till, {"knows": [2, 12, 11]}, "exact_match", against=["tokens"],
        store=tmp_path / "s.db",
    )  # fmt: skip
    assert {trial.settings["knows"]: trial.front for trial in dear.trials} == {2: True, 11: True, 12: False}  # fmt: skip


@pytest.mark.parametrize(
    ("budget", "name", "most"),
    [
        (TuningBudget(calls=60), "calls", 80),
        (TuningBudget(usd=0.6), "usd", 80),
        (TuningBudget(trials=2), "", 112),
    ],
)
def test_a_budget_ends_the_search(tmp_path, budget: TuningBudget, name: str, most: int) -> None:
    result = tune(QUESTIONS, Till, VARY, "exact_match", budget=budget, store=tmp_path / "s.db")
    assert result.stopped == name
    assert result.evaluations <= most
    assert len([trial for trial in result.trials if trial.questions]) <= (budget.trials or 8)


def test_a_mistake_shows_before_anything_is_asked(tmp_path) -> None:
    with pytest.raises(RagstoneError):
        tune(QUESTIONS, Till, {"nonsense": [1, 2]}, "exact_match", store=tmp_path / "s.db")
    with pytest.raises(RagstoneError, match="exact_mach"):
        tune(QUESTIONS, Till, VARY, "exact_mach", store=tmp_path / "s.db")
    assert Till.asked == []


def test_it_finds_the_best_of_the_full_grid_with_two_fifths_of_its_answers(tmp_path: Path) -> None:
    result = tune(QUESTIONS, Till, VARY, "exact_match", seed=0, store=tmp_path / "s.db")
    assert result.winner.settings["knows"] == max(VARY["knows"])
    assert result.evaluations <= 0.4 * result.full_grid


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_race_finds_the_best_of_the_full_grid_on_nine_of_ten_splits(tmp_path: Path) -> None:
    """A hundred splits of one measured grid: ten would fail by chance a race that is right in nine of ten."""
    vary = {"top_k": [1, 3, 8], "titles": [True, False], "retriever": ["bm25", "dense"]}
    combinations = draw_candidates(vary, None, 0)
    samples = [record.sample for record in read(corpora.questions())]
    place_of = {sample.id: at for at, sample in enumerate(samples)}
    tables = [
        read_columns(
            evaluate(
                samples, ["recall", "token_f1"], system="pipeline", store=tmp_path / "s.db",
                settings={"warmup": 0, **settings},
            ).stored
        )
        for settings in combinations
    ]  # fmt: skip
    for text in ("recall", "0.5*recall + 0.5*token_f1"):
        objective = parse_objective(text)
        quality = np.array([compute_quality(table, list(place_of), objective) for table in tables])
        best = 0
        for seed in range(100):
            tuning, _ = split_samples(samples, HELD_OUT_SHARE, seed)
            values = quality[:, [place_of[sample.id] for sample in tuning]]
            race = Race(combinations, len(tuning), best_value=1.0)
            while (step := race.choose_next()) is not None:
                which, places = step
                race.add_scores(which, places, values[which, places])
            means = np.nanmean(
                values, axis=1
            )  # questions without relevant documents have no recall
            assert race.leader is not None
            best += bool(means[race.leader] >= means.max() - 1e-9)
            assert race.asked.mean() <= MAX_GRID_SHARE
        assert best >= 90, text


def test_an_estimate_of_zero_is_an_estimate() -> None:
    below, unknown, zero, above = (
        Trial({"k": at}, estimate=estimate) for at, estimate in enumerate([-0.5, None, 0.0, 0.3])
    )
    assert order_trials([below, unknown, zero, above], None) == [above, zero, below, unknown]
    assert order_trials([below, unknown, zero, above], below) == [below, above, zero, unknown]
