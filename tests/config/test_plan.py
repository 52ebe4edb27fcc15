"""A Plan as JSON: an exact round trip, no secrets, and paths that any folder can use."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.config import Data, Plan, Secret, Slurm, SystemPlan, load
from ragstone.config.metric_specs import NoSpec, from_spec, resolve_metrics, to_spec
from ragstone.config.paths import anchor_plan, anchor_system
from ragstone.config.storable import SECRET_NAMES
from ragstone.errors import ConfigError, RagstoneError
from ragstone.metrics import REGISTERED
from ragstone.registry import resolve

words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
keys = words.filter(lambda word: word not in (*SECRET_NAMES, "headers", "header", "base_url"))
numbers = st.integers(1, 10**9) | st.floats(0, 1e9, allow_nan=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
models = st.none() | words | st.dictionaries(keys, plain, min_size=1, max_size=4)
texts = st.none() | words
counts = st.none() | st.integers(1, 10**6)
lists = st.lists(words, max_size=3).map(tuple)

plans = st.builds(
    Plan,
    name=texts,
    data=st.builds(
        Data,
        path=texts,
        format=texts,
        fields=st.dictionaries(words, words, max_size=2),
        limit=counts,
        skip_bad_rows=st.booleans(),
    ),
    system=st.none()
    | st.builds(
        SystemPlan,
        spec=words | st.dictionaries(keys, plain, min_size=1, max_size=3),
        settings=st.dictionaries(keys, plain, max_size=3),
    ),
    metrics=st.lists(words | st.dictionaries(keys, st.dictionaries(keys, plain), min_size=1, max_size=1)).map(tuple),
    judge=models,
    embeddings=models,
    language=texts,
    prompts=texts,
    gates=st.dictionaries(words, words, max_size=2),
    floor=st.floats(0, 1),
    store=texts | words.map(lambda name: Secret(reference=f"${{{name}}}")),
    output=lists,
    concurrency=counts,
    resume=st.booleans(),
    retry_errors=st.booleans(),
    max_usd=st.none() | st.floats(0, 1e6),
    max_calls=counts,
    on=texts,
    slurm=st.none() | st.builds(Slurm, partition=texts, nodes=st.integers(1, 9), setup=lists, options=lists),
    run_id=texts,
    code_folders=lists,
)  # fmt: skip


@given(plans)
def test_a_plan_survives_its_json(plan: Plan) -> None:
    text = json.dumps(plan.to_json(), allow_nan=False)
    again = Plan.from_json(json.loads(text))
    assert again == plan
    assert json.dumps(again.to_json()) == text


def test_defaults_are_not_written() -> None:
    assert Plan().to_json() == {"version": 1}
    with pytest.raises(RagstoneError, match="install the ragstone that wrote it"):
        Plan.from_json({"version": 99})


def test_a_secret_is_stored_as_its_variable_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(
        store=Secret("postgresql://me:s3cret@db/runs", "postgresql://me:${PW}@db/runs"),
        judge={"jury": [{"model": "openai:m", "api_key": Secret("s3cret", "${KEY}")},
                        {"model": "openai:m", "base_url": "https://me:s3cret@host/v1?key=s3cret"}]},
        embeddings={"model": "openai:e", "api_key": "s3cret"},
        system=SystemPlan({"url": "https://me:s3cret@host/ask", "headers": {"A": "Bearer s3cret", "B": "${TOKEN}"}}),
    )  # fmt: skip
    lost: list[str] = []
    stored = plan.to_json(lost)
    assert "s3cret" not in json.dumps(stored)
    assert sorted(lost) == ["api_key", "base_url", "header", "url"]
    again = Plan.from_json(stored)
    assert isinstance(again.store, Secret)
    with pytest.raises(ConfigError, match="'PW' is not set; export PW="):
        again.store.reveal()
    monkeypatch.setenv("PW", "other")
    assert again.store.reveal() == "postgresql://me:other@db/runs"
    assert again.judge["jury"][0]["api_key"] == Secret(reference="${KEY}")
    assert again.system is not None
    assert again.system.spec["headers"] == {"B": "${TOKEN}"}


def test_a_written_password_of_the_store_is_left_out() -> None:
    lost: list[str] = []
    assert Plan(store=Secret("postgresql://me:s3cret@db/r")).to_json(lost)["store"] is None
    assert Plan(store="postgresql://me:s3cret@db/r").to_json(lost)["store"] is None
    assert lost == ["store", "store"]


OURS = sorted(
    family
    for family, metric in REGISTERED.items()
    if metric.function.__module__.startswith("ragstone.")  # other tests register their own
)


@pytest.mark.parametrize("family", OURS)
def test_every_metric_has_a_spec(family: str) -> None:
    metric = REGISTERED[family]
    if metric.check is not None and metric.check(metric.options):
        pytest.skip("has no default")
    assert from_spec(json.loads(json.dumps(to_spec(metric)))) == metric


def test_options_that_the_name_does_not_show_are_in_the_spec() -> None:
    metric = resolve({"rubric": {"name": "tone", "question": "Is it kind?"}})
    spec = json.loads(json.dumps(to_spec(metric)))
    assert resolve_metrics([spec]) == [metric]
    assert to_spec(resolve("recall@5")) == "recall@5"


def test_a_file_of_metrics_is_named_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "my own@metrics.py"
    file.write_text(
        'def plain_brevity(answer: str, *, most: int = 5) -> float:\n    "Short."\n    return 1.0\n'
    )
    (tmp_path / "config.yaml").write_text(
        "metrics: [{'my own@metrics.py:plain_brevity': {most: 3}}]\n"
    )
    spec = {f"{file}:plain_brevity": {"most": 3}}
    assert from_spec(spec).name == "plain_brevity(most=3)"
    assert to_spec(from_spec(spec)) == spec


def test_a_metric_of_this_process_only_has_no_spec() -> None:
    def local_only(answer: str) -> float:
        "Nobody else has it."
        return 1.0

    with pytest.raises(NoSpec, match="put it into a file of its own"):
        to_spec(resolve(local_only))


def test_paths_become_absolute(tmp_path: Path) -> None:
    for name in ("docs", "weights"):
        (tmp_path / name).mkdir()
    for name in ("judge.py", "rag.py", "run.trec", "qrels.txt"):
        (tmp_path / name).touch()
    plan = Plan(
        data=Data("run.trec+qrels.txt"), prompts="docs", store="runs.db", output=("a.html",),
        judge={"jury": ["hf:weights", "python:judge.py:ask", "openai:m"]},
        system=SystemPlan("rag.py:ask", {"documents": "docs", "top_k": 3}), on="scheduler.json",
    )  # fmt: skip
    there = anchor_plan(plan, tmp_path)
    assert there.data.path == f"{tmp_path}/run.trec+{tmp_path}/qrels.txt"
    assert there.judge == {
        "jury": [f"hf:{tmp_path}/weights", f"python:{tmp_path}/judge.py:ask", "openai:m"]
    }
    assert there.system == SystemPlan(
        f"{tmp_path}/rag.py:ask", {"documents": f"{tmp_path}/docs", "top_k": 3}
    )
    assert (there.prompts, there.store, there.on) == tuple(
        f"{tmp_path}/{name}" for name in ("docs", "runs.db", "scheduler.json")
    )
    assert there.code_folders == ()
    assert anchor_plan(there, Path("/elsewhere")) == there
    modules = anchor_plan(replace(plan, system=SystemPlan("my.rag:ask")), tmp_path)
    assert modules.code_folders == (str(tmp_path),)
    for kept in ("-", None):
        assert anchor_plan(Plan(data=Data(kept)), tmp_path).data.path == kept
    assert anchor_plan(Plan(store="postgresql://db/x"), tmp_path).store == "postgresql://db/x"


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("system: pipeline:docs", "pipeline:{}/docs"),
        ("system: {pipeline: docs, top_k: 5}", {"pipeline": "{}/docs", "top_k": 5}),
        ("system: {url: 'https://host/ask', headers: {Authorization: 'Bearer ${TOKEN}'}}",
         {"url": "https://host/ask", "headers": {"Authorization": "Bearer ${TOKEN}"}}),
    ],
)  # fmt: skip
def test_every_config_may_name_a_system(tmp_path: Path, text: str, spec: Any) -> None:
    (tmp_path / "docs").mkdir()
    file = tmp_path / "config.yaml"
    file.write_text(text + "\n", encoding="utf-8")
    wanted = json.loads(json.dumps(spec).replace("{}/", f"{tmp_path}/"))
    assert load(file).system == SystemPlan(wanted)


def test_a_system_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("system: 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="'system' is 3; give a text"):
        load(file)


def test_names_of_files_that_exist_become_paths(tmp_path: Path) -> None:
    (tmp_path / "app.py").touch()
    here = str(tmp_path / "app.py")
    assert anchor_system({"python": "app.py:answer", "x": "app.py"}, tmp_path) == {"python": f"{here}:answer", "x": "app.py"}  # fmt: skip
    assert anchor_system("app.py:answer", tmp_path) == f"{here}:answer"
    assert anchor_system("command:python app.py", tmp_path) == f"command:python {here}"
    for same in ("pipeline:demo", "app:answer", f"{here}:answer", 7, {"command": None}):
        assert anchor_system(same, tmp_path) == same
