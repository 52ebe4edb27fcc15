"""Experiments in the viewer: what bench, ablate and tune leave in the store, and the pages made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from live import Server, in_thread
from ragstone.experiments.ablate import Ablation, ablate
from ragstone.experiments.bench import Bench, bench
from ragstone.experiments.tune import TuningResult, tune
from ragstone.server import ServerSettings
from ragstone.store import Store
from ragstone.store.experiments import load_experiments, save_experiment
from viewed import fetch_whole

QUESTIONS = [
    {"id": f"q{n}", "question": f"How much is item {n}?", "reference": f"{n} euros"}
    for n in range(40)
]


class Till:
    """Knows the price of some items in ten; the more of them, the dearer each answer."""

    def __init__(self, *, knows: int = 2) -> None:
        self.knows = knows

    def answer(self, question: str) -> dict[str, Any]:
        number = int(question.rstrip("?").rsplit(" ", 1)[1])
        answer = f"{number} euros" if number % 10 < self.knows else "I do not know"
        return {"answer": answer, "cost": 0.01 * self.knows}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store.open(tmp_path_factory.mktemp("experiments") / "runs.db")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def benched(store: Store) -> Bench:
    return bench(QUESTIONS, {"few": {"knows": 1}, "some": {"knows": 5}, "most": {"knows": 9}}, ["exact_match"], system=Till, store=store, baseline="some")  # fmt: skip


@pytest.fixture(scope="module")
def ablated(store: Store, benched: Bench) -> Ablation:
    return ablate(QUESTIONS, Till, {"knows": [3, 8]}, ["exact_match"], store=store)


@pytest.fixture(scope="module")
def tuned(store: Store, ablated: Ablation) -> TuningResult:
    return tune(QUESTIONS, Till, {"knows": [2, 4, 9]}, "exact_match", against=("cost",), store=store)  # fmt: skip


@pytest.fixture(scope="module")
def server(store: Store, tuned: TuningResult) -> Iterator[Server]:
    with in_thread(ServerSettings(home="runs", ingest=False, editing=True), store) as running:
        yield running


def read_experiment(server: Server, store: Store, kind: str) -> str:
    (kept,) = [each for each in load_experiments(store) if each.kind == kind]
    answer = server.get(f"/experiment?id={kept.id}")
    assert answer.status == 200
    return answer.body.decode()


def test_each_experiment_is_listed_once(server: Server, store: Store) -> None:
    kinds = sorted(kept.kind for kept in load_experiments(store))
    assert kinds == ["ablation", "bench", "tuning"]  # the runs of an ablation are no benchmark too
    text = server.get("/experiments").body.decode()
    assert len(re.findall(r'<a href="experiment\?id=\w+">', text)) == 3


def test_a_benchmark_is_shown_as_it_was_reported(
    server: Server, store: Store, benched: Bench
) -> None:
    text = read_experiment(server, store, "bench")
    assert "most against some" in text  # the baseline is the one that was named
    assert "exact_match against cost" in text
    assert 'class="drawing' in text
    for name, run in benched.runs.items():
        assert f'<a href="review?run={run.id}">{name}</a>' in text
    shown = fetch_whole(server, f"/review?run={benched.runs['most'].id}").body.decode()
    assert re.search(r'Part of: <a href="experiment\?id=\w+">Benchmark</a>', shown)


def test_an_ablation_shows_what_each_setting_does(
    server: Server, store: Store, ablated: Ablation
) -> None:
    text = read_experiment(server, store, "ablation")
    (level,) = [each for each in ablated.effects[0].factors[0].levels if not each.base]
    assert level.verdict == "better"
    assert f"+{level.difference:.3f}" in text
    assert "No metric is named" not in text


def test_a_search_shows_its_front_and_leads_to_every_trial(
    server: Server, store: Store, tuned: TuningResult
) -> None:
    text = read_experiment(server, store, "tuning")
    front = re.search(r'id="h-front0".*?</section>', text, re.DOTALL)
    assert front is not None
    assert (
        front[0].count('class="d-good"') == 2 * 3
    )  # drawn wide and narrow: none dominates another
    for trial in tuned.trials:
        assert trial.run is not None
        assert f'<a href="review?run={trial.run.id}">knows={trial.settings["knows"]}</a>' in text
    assert "Choose knows=9" in text


def test_runs_of_a_search_are_listed_with_it_and_on_request(
    server: Server, tuned: TuningResult
) -> None:
    text = fetch_whole(server, "/runs").body.decode()
    assert tuned.run.id not in text
    assert "runs of searches for settings are not listed" in text
    assert tuned.run.id in fetch_whole(server, "/runs?trials=1").body.decode()


def test_a_deleted_run_leaves_the_others(store: Store, server: Server) -> None:
    made = bench(QUESTIONS[:12], {"a": {"knows": 1}, "b": {"knows": 5}, "c": {"knows": 9}}, ["exact_match"], system=Till, store=store)  # fmt: skip
    kept = next(each for each in load_experiments(store) if made.runs["a"].id in each.runs)
    store.delete(made.runs["a"].id)
    text = server.get(f"/experiment?id={kept.id}").body.decode()
    assert "1 run of this experiment was deleted" in text
    assert "c against b" in text
    store.delete(made.runs["b"].id)
    assert server.get(f"/experiment?id={kept.id}").status == 200
    assert server.get("/experiment?id=nothing").status == 404


def test_experiments_are_kept_on_every_store(place: str) -> None:
    with_store = Store.open(place)
    body = {"settings": [{"k": 1}], "é": None}
    id = save_experiment(with_store, "ablation", "a.jsonl", ["r1", "r2"], {"old": 1})
    assert save_experiment(with_store, "ablation", "b.jsonl", ["r1", "r2"], body) == id
    (kept,) = load_experiments(with_store)
    assert (kept.name, kept.runs, json.loads(json.dumps(kept.body))) == ("b.jsonl", ("r1", "r2"), body)  # fmt: skip
    with_store.close()
