"""A TestsetPlan as JSON, and the unfinished file that keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.cli import run
from ragstone.errors import RagstoneError
from ragstone.testset.plan import TestsetPlan
from ragstone.testset.sets import generate, load_unfinished, part_file

words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
texts = st.none() | words
counts = st.none() | st.integers(1, 10**6)
lists = st.lists(words, max_size=3).map(tuple)

plans = st.builds(
    TestsetPlan,
    documents=lists,
    n=counts,
    kinds=texts | st.dictionaries(words, st.floats(0, 9), max_size=3),
    languages=lists,
    log=texts,
    from_monitor=st.booleans(),
    redact=words,
    checker=texts,
    judge=texts | st.fixed_dictionaries({"model": words, "temperature": st.floats(0, 1)}),
    seed=st.integers(0, 99),
    styles=lists,
    out=texts,
    format=words,
    resume=st.booleans(),
    store=texts,
    concurrency=counts,
    max_usd=st.none() | st.floats(0, 1e6),
    max_calls=counts,
)


@given(plans)
def test_a_plan_survives_its_json(plan: TestsetPlan) -> None:
    text = json.dumps(plan.to_json(), allow_nan=False)
    assert TestsetPlan.from_json(json.loads(text)) == plan


def test_no_key_is_stored_and_a_number_below_one_is_refused() -> None:
    judge = {"model": "openai:m", "api_key": "s3cret"}
    assert "s3cret" not in json.dumps(TestsetPlan(judge=judge).to_json())
    with pytest.raises(RagstoneError, match="give 1 or more"):
        _ = TestsetPlan(n=0).item_count


def test_the_unfinished_file_is_enough_to_resume_from_anywhere(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, out = tmp_path / "docs", tmp_path / "set.jsonl"
    docs.mkdir()
    for n in range(12):
        text = f"# Town{n}\n\n## Who built the bridge of Town{n}?\n\nMason{n} did, in {1800 + n}.\n"
        (docs / f"{n}.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    unlink = Path.unlink
    with pytest.MonkeyPatch.context() as patched:  # as if killed before its last line
        patched.setattr(
            Path,
            "unlink",
            lambda path, **options: (
                None if path == part_file(Path("set.jsonl")) else unlink(path, **options)
            ),
        )
        assert len(generate("docs", 6, seed=3, out="set.jsonl"))
    whole = out.read_bytes()
    out.unlink()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    plan = load_unfinished(out)
    assert plan is not None
    assert (plan.documents, plan.n, plan.resume) == ((str(docs),), 6, True)
    assert run(["generate", "--resume", "-o", str(out), "-q"]) == 0
    assert out.read_bytes() == whole
    assert not part_file(out).exists()
