"""Config files: strict, every complaint at once, secrets only from the environment."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.config import Plan, load, mask_password, reveal, split_gate
from ragstone.config.checks import SCALAR_CHECKS
from ragstone.config.gates import Figure, parse_gate
from ragstone.config.metric_specs import resolve_metrics
from ragstone.config.plan import DATA_KEYS, PLAN_KEYS, SLURM_KEYS
from ragstone.errors import ConfigError


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "config.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def complaints(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path)
    return [line.replace(str(path), path.name) for line in caught.value.complaints]


def test_a_full_plan_is_read(write, tmp_path):
    (tmp_path / "prompts").mkdir()
    plan = load(
        write(
            """
name: nightly
data: {path: data.jsonl, format: ragas, fields: {answer: output.text}, limit: 10, skip_bad_rows: true}
metrics: [recall@5, {exact_match: {normalize: squad}}]
judge: offline
language: es
prompts: prompts
gates: {recall@5: ">= 0.8", exact_match(normalize=squad): mean >= 0.5}
floor: 0.9
store: runs.db
output: [out.jsonl, report.html]
concurrency: 4
resume: true
retry_errors: true
max_usd: 2
max_calls: 100
"""
        )
    )
    assert plan.name == "nightly"
    assert plan.data.path == str(tmp_path / "data.jsonl")
    assert (plan.data.format, plan.data.limit, plan.data.skip_bad_rows) == ("ragas", 10, True)
    assert plan.data.fields == {"answer": "output.text"}
    assert [metric.name for metric in resolve_metrics(plan.metrics)] == [
        "recall@5",
        "exact_match(normalize=squad)",
    ]
    assert plan.gates == {"recall@5": ">= 0.8", "exact_match(normalize=squad)": "mean >= 0.5"}
    assert plan.store == str(tmp_path / "runs.db")
    assert plan.output == (str(tmp_path / "out.jsonl"), str(tmp_path / "report.html"))
    assert (plan.floor, plan.concurrency, plan.max_usd, plan.max_calls) == (0.9, 4, 2, 100)
    assert plan.resume
    assert plan.retry_errors


def test_an_empty_file_is_the_default_plan(write):
    assert load(write("")) == Plan()
    assert load(write("# nothing yet\n")) == Plan()


def test_every_complaint_comes_at_once_with_its_line(write):
    path = write(
        """nam: x
metrics:
  - recal@5
  - token_f1
floor: 2
concurrency: zero
data: {pth: x}
language: no
gates:
  ndcg@10: ">= 0.8"
  token_f1: about a half
"""
    )
    found = complaints(path)
    assert [line.split(": ")[0] for line in found] == [
        f"config.yaml:{n}" for n in (1, 3, 5, 6, 7, 7, 8, 10, 11)
    ]
    text = "\n".join(found)
    for said in (
        "unknown key 'nam'; did you mean 'name'?",
        "no metric 'recal'; did you mean 'recall'?",
        "'floor' is 2; give a number from 0 to 1",
        "'concurrency' is 'zero'; give a whole number from 1",
        "unknown key 'pth'; did you mean 'path'?",
        "'language' is False; give a text (in quotes)",
        "a gate on 'ndcg@10', which is not among the metrics",
        "the gate on 'token_f1'",
    ):
        assert said in text


def test_a_key_given_twice_is_refused_with_both_lines(write):
    assert complaints(write("name: a\nfloor: 0.5\nname: b\n")) == [
        "config.yaml:3: the key 'name' stands twice (first in line 1); keep one"
    ]


def test_a_metric_given_twice_is_refused(write):
    (said,) = complaints(write("metrics: [recall@5, 'recall(k=5)']\n"))
    assert "'recall@5' stands twice" in said


def test_metrics_may_stand_on_one_line(write):
    plan = load(write("metrics: recall@5, exact_match(normalize=squad), token_f1\n"))
    assert [m.name for m in resolve_metrics(plan.metrics)] == [
        "recall@5",
        "exact_match(normalize=squad)",
        "token_f1",
    ]


def test_paths_are_seen_from_the_config_file(write, tmp_path, monkeypatch):
    path = write("data: rows.jsonl\nstore: sub/runs.db\noutput: out.csv\n")
    monkeypatch.chdir("/")
    plan = load(path)
    assert plan.data.path == str(tmp_path / "rows.jsonl")
    assert plan.store == str(tmp_path / "sub" / "runs.db")
    assert plan.output == (str(tmp_path / "out.csv"),)
    assert load(write("data: '-'\n")).data.path == "-"


def test_a_users_own_metric_is_found_beside_the_config(tmp_path, monkeypatch):
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "own_checks.py").write_text(
        "def own_brevity(answer: str, *, most: int = 10) -> float:\n"
        '    """1 when short."""\n'
        "    return float(len(answer) <= most)\n"
    )
    config = folder / "c.yaml"
    config.write_text("metrics: ['own_checks.py:own_brevity(most=3)', token_f1]\n")
    monkeypatch.chdir("/")
    try:
        assert [m.name for m in resolve_metrics(load(config).metrics)] == [
            "own_brevity(most=3)",
            "token_f1",
        ]
        config.write_text("metrics: [{'own_checks.py:own_brevity': {most: 4}}]\n")
        assert [m.name for m in resolve_metrics(load(config).metrics)] == ["own_brevity(most=4)"]
    finally:
        from ragstone.registry import REGISTERED

        REGISTERED.pop("own_brevity", None)


def test_secrets_come_from_the_environment_and_never_show(write, monkeypatch):
    monkeypatch.setenv("STONE_KEY", "s3cret-value")
    plan = load(
        write(
            "judge: {model: 'openai:m', api_key: '${STONE_KEY}'}\n"
            "store: postgresql://me:${STONE_KEY}@db/runs\n"
        )
    )
    assert reveal(plan.judge) == {"model": "openai:m", "api_key": "s3cret-value"}
    assert reveal(plan.store) == "postgresql://me:s3cret-value@db/runs"
    for shown in (repr(plan), str(plan.judge), f"{plan.store}", str(asdict(plan))):
        assert "s3cret" not in shown
    with pytest.raises(TypeError):
        json.dumps(plan.judge)


def test_a_list_of_judges_is_a_jury(write, monkeypatch):
    monkeypatch.setenv("STONE_KEY", "s3cret-value")
    plan = load(write("judge: [offline, {model: 'openai:m', api_key: '${STONE_KEY}'}]\n"))
    assert "s3cret" not in repr(plan)
    assert reveal(plan.judge) == {
        "jury": ["offline", {"model": "openai:m", "api_key": "s3cret-value"}]
    }


def test_passwords_in_urls_are_masked():
    assert mask_password("a postgresql://me:hun@ter2@db/r b") == "a postgresql://me:***@db/r b"
    assert mask_password("http://host:80/x@y data.jsonl") == "http://host:80/x@y data.jsonl"


def test_a_secret_in_the_store_url_is_hidden_even_when_written_out(write):
    assert "hunter2" not in repr(load(write("store: postgresql://me:hunter2@db/runs\n")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: ${USER_NAME}", "variables are for secrets only"),
        ("data: {path: '${HOME}/x.jsonl'}", "variables are for secrets only"),
        ("judge: {model: '${MODEL}'}", "variables are for secrets only"),
        ("judge: {model: m, api_key: '${STONE_UNSET}'}", "'STONE_UNSET' is not set"),
        ("judge: {model: m, api_key: '${STONE_EMPTY}'}", "'STONE_EMPTY' is empty"),
        ("store: postgresql://me:${STONE_UNSET}@db/runs", "'STONE_UNSET' is not set"),
        ("judge: {model: m, api_key: sk-live-123}", "'api_key' is written out"),
    ],
)
def test_variables_stand_only_for_secrets(write, monkeypatch, text, said):
    monkeypatch.delenv("STONE_UNSET", raising=False)
    monkeypatch.setenv("STONE_EMPTY", "")
    (found,) = complaints(write(text + "\n"))
    assert found.startswith("config.yaml:1: ")
    assert said in found
    assert "sk-live" not in found


def test_an_alias_bomb_is_refused_at_once(write):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (said,) = complaints(write("\n".join(lines)))
    assert "aliases repeat too much" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: &a [*a]\n", "an alias that contains itself"),
        ("name: !!python/object/apply:os.system [ls]\n", "write plain YAML"),
        ("name: !!python/name:os.system ''\n", "write plain YAML"),
        ("name: !secret x\n", "write plain YAML"),
        ("floor: !!int x\n", "cannot be read as int"),
        ("resume: !!bool x\n", "cannot be read as bool"),
        ("name: [1, 2\n", "correct the YAML"),
        ("name: a\n\tb: c\n", "correct the YAML"),
        ("- a\n- b\n", "give key: value lines"),
        ("just words\n", "give key: value lines"),
        ("? [a, b]\n: c\n", "not a plain word"),
        ("floor: .nan\n", "not a finite number"),
        ("max_usd: .inf\n", "not a finite number"),
        ("name: !!binary aGk=\n", "write text"),
        ("name: a\n---\nname: b\n", "correct the YAML"),
        ("metrics: [3]\n", "is not a metric"),
        ("metrics: [{recall: {k: 3}, map: {}}]\n", "does not name one metric"),
        ("metrics: [{recall: 3}]\n", "write {option: value}"),
        ("gates: '>= 0.8'\n", "'gates' is"),
        ("data: {format: ragas}\n", "'data' has no path"),
        ("data: {path: x, fields: {anser: y}}\n", "did you mean 'answer'?"),
        ("output: 3\n", "'output' is 3"),
        ("judge: []\n", "is not a model"),
        (
            "judge: {model: offline, base_ulr: x}\n",
            "unknown key 'base_ulr'; did you mean 'base_url'?",
        ),
        ("judge: [offline, {model: offline, sed: 1}]\n", "unknown key 'sed'; did you mean 'seed'?"),
        ("prompts: nowhere\n", "there is no folder"),
        ("limit: 3\n", "unknown key 'limit'"),
        ("max_calls: true\n", "give a whole number from 1"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(write, text, said):
    found = complaints(write(text))
    assert any(said in line for line in found)
    assert all(line.startswith("config.yaml") and "\n" not in line for line in found)


def test_files_that_cannot_be_read(write, tmp_path):
    assert "there is no config file" in complaints(tmp_path / "none.yaml")[0]
    assert "cannot read" in complaints(tmp_path)[0]
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"floor: 1\nname: caf\xe9\n")
    assert complaints(latin) == ["latin.yaml:2: not UTF-8 text; save it as UTF-8"]
    large = write("# " + "x" * 1_000_001)
    assert "larger than 1 MB" in complaints(large)[0]


def test_a_date_is_a_text(write):
    assert load(write("name: 2026-01-02\n")).name == "2026-01-02"


def test_every_key_has_one_reader():
    special = {"data", "system", "metrics", "judge", "embeddings", "prompts", "gates", "store", "output",
               "monitor", "slurm"}  # fmt: skip
    assert set(PLAN_KEYS) == special | (set(SCALAR_CHECKS) & set(PLAN_KEYS))
    assert set(DATA_KEYS) == {"path", "fields"} | (set(SCALAR_CHECKS) & set(DATA_KEYS))
    lists = {"modules", "setup", "options", "folder"}
    assert set(SLURM_KEYS) == lists | (set(SCALAR_CHECKS) & set(SLURM_KEYS))
    assert set(SCALAR_CHECKS) <= set(PLAN_KEYS) | set(DATA_KEYS) | set(SLURM_KEYS)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("recall@5 >= 0.8", ("recall@5", ">= 0.8")),
        ("recall@5>=0.8", ("recall@5", ">=0.8")),
        ("recall@5 mean >= 0.8", ("recall@5", "mean >= 0.8")),
        ("recall@5: mean >= 0.8", ("recall@5", "mean >= 0.8")),
        ("exact_match(normalize=squad) > 0.8", ("exact_match(normalize=squad)", "> 0.8")),
        ("recall@5 coverage ≥ 99%", ("recall@5", "coverage ≥ 99%")),
        ("hallucination_rate <= 0.1", ("hallucination_rate", "<= 0.1")),
        ("faithfulness corrected >= 0.7", ("faithfulness", "corrected >= 0.7")),
    ],
)
def test_a_gate_on_the_command_line(text, parts):
    assert split_gate(text) == parts


@pytest.mark.parametrize("figure", [name for name in get_args(Figure) if name != "interval"])
def test_every_figure_of_a_gate_is_known_on_the_command_line(figure):
    metric, rule = split_gate(f"recall@5 {figure} >= 0.8")
    assert metric == "recall@5"
    assert parse_gate(rule).figure == figure


@pytest.mark.parametrize("text", ["recall@5", ">= 0.8", "", "0.8 <= recall@5 <= 0.9"])
def test_a_gate_that_cannot_be_read(text):
    with pytest.raises(ConfigError, match="is not a gate"):
        split_gate(text)


def refusal(path: Path) -> tuple[str, ...] | None:
    """The complaints about a file; None when it is a plan."""
    try:
        load(path)
    except ConfigError as refused:
        return refused.complaints
    return None


KEYS = st.sampled_from([*PLAN_KEYS, *DATA_KEYS, "nmae", "<<", "", "é"])
SCALAR = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12),
    st.sampled_from(["recall@5", ">= 0.8", "${X}", "offline", "-", "a.py:f", "no", "{"]),
)  # fmt: skip
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=st.dictionaries(KEYS, VALUE, max_size=5))
def test_any_tree_is_a_plan_or_a_list_of_complaints(write, tree):
    path = write(yaml.safe_dump(tree, allow_unicode=True))
    said = refusal(path)
    assert said is None or (said and all(line.startswith(str(path)) for line in said))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60) | st.text("{}[]&*!|>:-#?'\"a1 \n\t", max_size=40).map(str.encode))
def test_any_bytes_are_a_plan_or_a_list_of_complaints(tmp_path, raw):
    path = tmp_path / "c.yaml"
    path.write_bytes(raw)
    said = refusal(path)
    assert said is None or (said and all(line.startswith(str(path)) for line in said))
