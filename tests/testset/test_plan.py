"""A TestsetPlan as JSON, and the unfinished file that keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.cli import run
from ragstone.errors import RagstoneError
from ragstone.testset.journal import Journal
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


@pytest.fixture
def unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, bytes, bytes]:
    """A whole test set, and the file of one that was stopped on the way."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for n in range(12):
        text = f"# The bridge of Town{n}\n\n## Arches\n\nThe arches were built in {1800 + n} and are {n + 3} metres wide."
        (docs / f"{n}.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    kept: list[bytes] = []
    close = Journal.close

    def keep(self: Journal) -> None:
        close(self)
        kept.append(part_file(Path("whole.jsonl")).read_bytes())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Journal, "close", keep)
        assert len(generate("docs", 6, kinds="conceptual", seed=3, out="whole.jsonl"))
    head, *steps = kept[0].splitlines(keepends=True)
    return tmp_path / "set.jsonl", Path("whole.jsonl").read_bytes(), b"".join([head, *steps[:3]])


def test_the_unfinished_file_is_enough_to_resume_from_anywhere(
    unfinished: tuple[Path, bytes, bytes], tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    out, whole, part = unfinished
    part_file(out).write_bytes(part.replace(b"whole.jsonl", b"set.jsonl"))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    plan = load_unfinished(out)
    assert plan is not None
    assert (plan.documents, plan.n, plan.resume) == ((str(out.parent / "docs"),), 6, True)
    assert run(["generate", "--resume", "-o", str(out), "-q"]) == 0
    assert out.read_bytes() == whole


def test_an_unfinished_file_of_an_older_version_is_resumed(
    unfinished: tuple[Path, bytes, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    out, whole, part = unfinished
    head, rest = part.split(b"\n", 1)
    old = {"plan": json.loads(head)["plan"]}
    part_file(out).write_bytes(json.dumps(old, separators=(",", ":")).encode() + b"\n" + rest)
    assert load_unfinished(out) is None
    assert run(["generate", "--resume", "-o", str(out)]) == 2
    assert "no documents" in capsys.readouterr().err
    command = [
        "generate",
        "docs",
        "-n",
        "6",
        "--kinds",
        "conceptual",
        "--seed",
        "3",
        "-o",
        str(out),
    ]
    assert run([*command, "--resume", "-q"]) == 0
    assert out.read_bytes() == whole
