"""Benchmarks: one run a configuration, nothing asked twice, mistakes before any cost."""

from __future__ import annotations

import asyncio
import json

import pytest

from ragstone import RagstoneError, Run, evaluate
from ragstone.errors import ConfigError
from ragstone.experiments.ablate import ablate
from ragstone.experiments.bench import bench
from ragstone.experiments.blame import blame
from ragstone.store import Store
from scripted import ScriptedJudge, rated

QUESTIONS = [
    {
        "id": f"q{n}",
        "question": f"How much is item {n}?",
        "reference": f"{n} euros",
        "relevant": {f"d{n}": 1},
        "group": f"g{n // 4}",
    }
    for n in range(48)
]


class Shop:
    """Finds the right document unless told not to, and answers from the first that it gets."""

    asked: list[str] = []  # noqa: RUF012 - counted over all systems of a test

    def __init__(self, *, k: int = 3, blind: bool = False) -> None:
        self.k, self.blind = k, blind

    def answer(self, question: str) -> dict:
        Shop.asked.append(question)
        n = int(question.rstrip("?").rsplit(" ", 1)[1])
        first = n if not self.blind or n % 4 else n + 1
        ids = [first, *(n + 50 + i for i in range(self.k - 1))]
        contexts = [{"id": f"d{i}", "text": f"Item {i} costs {i} euros."} for i in ids]
        return {**self.answer_with(question, contexts), "contexts": contexts, "tokens": 10 * self.k}

    def answer_with(self, question: str, contexts) -> dict:
        n = question.rstrip("?").rsplit(" ", 1)[1]
        texts = [c["text"] if isinstance(c, dict) else c.text for c in contexts]
        hit = [text for text in texts if f"Item {n} " in text]
        return {"answer": f"{n} euros" if hit else "I do not know"}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Shop.asked.clear()


def test_each_configuration_gets_a_run_and_the_worse_one_is_called_so(tmp_path) -> None:
    benchmark = bench(
        QUESTIONS,
        {"good": Shop(), "blind": Shop(blind=True)},
        ["recall", "exact_match"],
        store=tmp_path / "s.db",
    )
    assert list(benchmark.runs) == ["good", "blind"]
    assert benchmark.comparison is not None
    verdicts = {
        difference.metric: difference.verdict
        for difference in benchmark.comparison.versus[0].differences
    }
    assert verdicts["recall"] == verdicts["exact_match"] == "worse"
    assert {"latency", "tokens"} <= set(verdicts)


@pytest.mark.parametrize("named", [True, False])
def test_an_interrupted_benchmark_keeps_its_finished_runs(tmp_path, named: bool) -> None:
    place = tmp_path / "s.db"
    options = {"metrics": ["exact_match"], "store": place}
    systems = {"a": {}, "b": {"k": 1}}

    def call(watch=None):
        if named:
            return ablate(QUESTIONS, Shop, {"k": [3, 1, 2]}, watch=watch, **options).runs
        return bench(QUESTIONS, systems, system=Shop, watch=watch, **options).runs

    def stop(name: str, progress: object) -> None:
        if any(info.status == "done" for info in Store.open(place).runs()):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(stop)
    kept = [info.id for info in Store.open(place).runs() if info.status == "done"]
    asked = len(Shop.asked)
    runs = call()
    assert len(kept) == 1
    assert kept[0] in {run.id for run in runs.values()}
    assert len(Store.open(place).runs()) == len(runs)
    assert len(Shop.asked) - asked <= 8  # those under way when it broke, and warm-ups
    # once compared it is over: the same call is a new benchmark
    assert {run.id for run in call().values()}.isdisjoint({run.id for run in runs.values()})


def test_rows_that_changed_are_not_taken_from_an_interrupted_benchmark(tmp_path) -> None:
    place = tmp_path / "s.db"

    def stop(name: str, progress: object) -> None:
        if any(info.status == "done" for info in Store.open(place).runs()):
            raise KeyboardInterrupt

    systems, options = {"a": {}, "b": {"k": 1}}, {"system": Shop, "store": place}
    with pytest.raises(KeyboardInterrupt):
        bench(QUESTIONS, systems, ["exact_match"], watch=stop, **options)
    changed = [{**QUESTIONS[0], "reference": "nothing"}, *QUESTIONS[1:]]
    runs = bench(changed, systems, ["exact_match"], **options).runs
    assert runs["a"].scores()["q0"]["exact_match"].value == 0


def test_settings_are_those_of_the_system_and_are_remembered_with_the_run(tmp_path) -> None:
    benchmark = bench(
        QUESTIONS,
        {"few": {"k": 1}, "many": {"k": 9}},
        ["recall"],
        system=Shop,
        store=tmp_path / "s.db",
    )
    assert benchmark.runs["many"].info.plan.system.settings == {"k": 9}
    means = {name: run.summary()["tokens"].mean for name, run in benchmark.runs.items()}
    assert means == {"few": 10, "many": 90}


def test_eight_configurations_ask_the_judge_no_question_twice(tmp_path) -> None:
    judge = ScriptedJudge()
    judged = rated("bench_level")
    configurations = {f"k{k}": {"k": k} for k in range(1, 9)}
    benchmark = bench(
        QUESTIONS, configurations, [judged], system=Shop, judge=judge, store=tmp_path / "s.db"
    )
    distinct = {
        json.dumps([one.kind, dict(one.values)], sort_keys=True, default=str) for one in judge.asked
    }
    assert len(judge.asked) == len(distinct) == len(QUESTIONS)
    assert sum(run.info.usage.calls for run in benchmark.runs.values()) == len(QUESTIONS)


def test_a_second_benchmark_asks_the_systems_again(tmp_path) -> None:
    for _ in range(2):
        bench(
            QUESTIONS,
            {"a": {"k": 1}, "b": {"k": 2}},
            ["recall"],
            system=Shop,
            store=tmp_path / "s.db",
        )
    # each of two systems in each benchmark, and once more to warm up
    assert len(Shop.asked) == 4 * (len(QUESTIONS) + 1)


def test_a_benchmark_that_was_stopped_while_systems_answered_asks_only_the_rest(tmp_path) -> None:
    def stop(_: str, progress: object) -> None:
        if len(Shop.asked) > 60:
            raise KeyboardInterrupt

    def run(**options: object) -> None:
        configurations = {"a": {"k": 1}, "b": {"k": 2}}
        bench(
            QUESTIONS, configurations, ["recall"], system=Shop, store=tmp_path / "s.db", **options
        )

    with pytest.raises(KeyboardInterrupt):
        run(watch=stop)
    run()
    # those in flight when it stopped are asked twice, and each system warms up twice
    assert 2 * len(QUESTIONS) <= len(Shop.asked) <= 2 * len(QUESTIONS) + 20


def test_a_mistake_in_the_last_configuration_shows_before_the_first_is_run(tmp_path) -> None:
    with pytest.raises(RagstoneError):
        bench(
            QUESTIONS,
            {"a": {"k": 1}, "b": {"nonsense": 2}},
            ["recall"],
            system=Shop,
            store=tmp_path / "s.db",
        )
    assert Shop.asked == []
    with pytest.raises(RagstoneError, match="'a' names no system"):
        bench(QUESTIONS, {"a": {"k": 1}}, ["recall"], store=tmp_path / "s.db")
    with pytest.raises(RagstoneError, match="the baseline 'z' is not among a"):
        bench(QUESTIONS, {"a": Shop()}, baseline="z", store=tmp_path / "s.db")


def test_the_ablation_finds_what_the_setting_does(tmp_path) -> None:
    ablation = ablate(
        QUESTIONS, Shop, {"blind": [False, True], "k": [1, 2]}, ["recall"], store=tmp_path / "s.db"
    )
    assert list(ablation.runs) == ["current settings", "blind=true", "k=2"]
    recall = next(effect for effect in ablation.effects if effect.metric == "recall")
    blind, k = recall.factors
    assert blind.levels[1].verdict == "worse"
    assert blind.levels[1].difference == pytest.approx(-0.25)
    assert k.levels[1].verdict == "identical"


def test_blame_falls_on_the_retriever_that_missed(tmp_path) -> None:
    run = evaluate(
        QUESTIONS, ["exact_match"], system=Shop, settings={"blind": True}, store=tmp_path / "s.db"
    )
    blame_report = blame(
        run,
        Shop,
        "exact_match",
        documents={f"d{n}": f"Item {n} costs {n} euros." for n in range(48)},
    )
    assert blame_report.samples == 12
    assert {part.name: part.loss for part in blame_report.parts} == {
        "retrieval": 1.0, "ordering": 0.0, "noise": 0.0, "generation": 0.0,
    }  # fmt: skip
    assert blame_report.prior == 0


def test_blame_needs_a_system_that_takes_contexts(tmp_path) -> None:
    run = evaluate(QUESTIONS, ["exact_match"], system=Shop, store=tmp_path / "s.db")
    with pytest.raises(RagstoneError, match="cannot be given contexts"):
        blame(run, lambda question: {"answer": "x"}, "exact_match")


def test_a_failing_system_makes_failing_samples_not_a_dead_run(tmp_path) -> None:
    def broken(question: str) -> dict:
        raise ValueError("out of order")

    run = evaluate(QUESTIONS, ["exact_match"], system=broken, store=tmp_path / "s.db")
    assert run.summary()["exact_match"].outcomes == {"system_error": len(QUESTIONS)}


def test_a_run_with_another_system_is_not_resumed(tmp_path) -> None:
    store = tmp_path / "s.db"
    one = evaluate(QUESTIONS, ["recall"], system=Shop, store=store, run_id="mine")
    assert isinstance(one, Run)
    with pytest.raises(RagstoneError, match="system_identity has changed"):
        evaluate(QUESTIONS, ["recall"], system=Shop, settings={"k": 1}, store=store, run_id="mine")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("data: q.jsonl", "no configurations"),
        ("configurations: {a: {}}", "'a' has no system"),
        ("system: pipeline\nconfigurations: {a: 3}", "'a' is 3; give its settings"),
        ("system: pipeline\nconfiguration: {a: {}}", "unknown key 'configuration'; did you mean 'configurations'"),
        ("system: pipeline\nbaseline: b\nconfigurations: {a: {}}", "the baseline 'b' is no configuration"),
    ],
)  # fmt: skip
def test_mistakes_in_a_benchmark_file_are_explained(tmp_path, text: str, complaint: str) -> None:
    from ragstone.config.benchmark import load_benchmark

    file = tmp_path / "bench.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_benchmark(file)
    assert any(complaint in one for one in raised.value.complaints), raised.value.complaints


def test_files_are_looked_for_beside_the_config(tmp_path) -> None:
    from ragstone.config.benchmark import load_benchmark

    (tmp_path / "docs").mkdir()
    (tmp_path / "rag.py").write_text("", encoding="utf-8")
    file = tmp_path / "bench.yaml"
    file.write_text(
        "system: pipeline:docs\nconfigurations: {a: {}, b: {system: 'rag.py:ask'}}\n",
        encoding="utf-8",
    )
    benchmark = load_benchmark(file)
    assert benchmark.plan.system.spec == f"pipeline:{tmp_path / 'docs'}"
    assert benchmark.configurations["b"]["system"] == f"{tmp_path / 'rag.py'}:ask"


def test_it_runs_inside_a_running_event_loop(tmp_path) -> None:
    async def notebook():
        return bench(QUESTIONS, {"a": Shop()}, ["recall"], store=tmp_path / "s.db")

    assert list(asyncio.run(notebook()).runs) == ["a"]


def test_it_can_be_awaited(tmp_path) -> None:
    from ragstone.experiments.bench import abench

    result = asyncio.run(abench(QUESTIONS, {"a": Shop()}, ["recall"], store=tmp_path / "s.db"))
    assert result.comparison is None
