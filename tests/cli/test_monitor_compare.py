"""`ragstone monitor compare`: windows and slices as independent sets, in the words of `compare`."""

from __future__ import annotations

import json
import random

import pytest

from ragstone.cli import run
from ragstone.monitor import Archive, ScoredInteraction
from ragstone.store import Store
from ragstone.types import Score

DAY = 86_400_000_000
END = 1_780_012_800_000_000
"""2026-05-29, midnight UTC."""
COMMAND = ("monitor", "compare", "--until", "2026-05-29", "--window", "7d")


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """Two weeks of interactions, the second worse and slower; and one model worse than the other."""
    folder = tmp_path_factory.mktemp("logged")
    dice = random.Random(4)
    rows, scores = [], []
    for n in range(400):
        week = n % 2
        model = "large" if n % 4 < 2 else "small"
        at = END - (14 - 7 * week) * DAY + dice.randrange(7 * DAY)
        latency = (1.0 + week) * dice.lognormvariate(0, 0.3)
        rows.append({"id": f"i{n}", "question": "q", "answer": "a", "timestamp": at // 1000, "latency": latency, "model": model, "session": f"s{week}{n // 8}"})  # fmt: skip
        value = 0.9 - 0.2 * week - 0.2 * (model == "small") - 0.1 * dice.random()
        scores.append(ScoredInteraction(f"i{n}", {"faithfulness": Score(value)}, True, 10.0))
    # judged for their bad feedback only: they must not count
    for n in range(60):
        rows.append({"id": f"bad{n}", "question": "q", "answer": "a", "timestamp": (END - 10 * DAY) // 1000, "model": "large"})  # fmt: skip
        scores.append(ScoredInteraction(f"bad{n}", {"faithfulness": Score(0.0)}, False, 1.0))
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGSTONE_STORE", str(folder / "store.db"))
        assert run(["monitor", "import", str(path)]) == 0
    Archive(Store.open(folder / "store.db")).save_scores(scores).result()
    return folder / "store.db"


@pytest.fixture
def logged(call, shared_store, monkeypatch):
    """The command line with those two weeks, which these commands only read."""
    monkeypatch.setenv("RAGSTONE_STORE", str(shared_store))
    return call


def test_a_week_is_compared_with_the_week_before(logged, tmp_path) -> None:
    done = logged(*COMMAND, "-o", "c.html", "--fail-on-regression", "--details")
    assert done.code == 1, done.err
    said = " ".join(done.out.split())
    assert "2026-05-22 – 2026-05-29 against 2026-05-15 – 2026-05-22" in said
    assert "200 samples in 2026-05-15 – 2026-05-22 and 200 in" in said
    assert "is worse than 2026-05-15 – 2026-05-22 in faithfulness −0.2" in said
    assert "latency × 1.9" in said or "latency × 2." in said
    assert "1 regression: faithfulness" in said
    assert (tmp_path / "c.html").is_file()


def test_two_slices_are_compared_in_the_same_window(logged) -> None:
    done = logged(*COMMAND, "--slice", "model=large", "--slice", "model=small", "--json")
    parsed = json.loads(done.out)
    assert [parsed["baseline"]["name"], parsed["versus"][0]["run"]["name"]] == ["model=large", "model=small"]  # fmt: skip
    found = parsed["versus"][0]["differences"][0]
    assert found["verdict"] == "worse"
    assert found["difference"] == pytest.approx(-0.2, abs=0.03)
    assert found["pairs"] == 200


def test_sessions_count_as_one_piece_each(logged) -> None:
    plain, grouped = (
        json.loads(logged(*COMMAND, "--json", *more).out)["versus"][0]["differences"][0]
        for more in ((), ("--group", "session"))
    )
    assert plain["clusters"] is None
    assert grouped["clusters"] == 100


def test_one_slice_is_compared_with_its_window_before_in_spanish(logged) -> None:
    done = logged(*COMMAND, "--slice", "model=small", "--lang", "es", "--details")
    assert "comparadas como conjuntos independientes" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--slice", "model"), "write FIELD=VALUE"),
        (("--slice", "a=1", "--slice", "a=1"), "two different ones"),
        (("--slice", "model=none"), "was drawn and judged"),
        (("--primary", "recall"), "not all runs have a metric 'recall'"),
        (("-o", "c.doc"), "names no format"),
    ],
)
def test_mistakes_are_one_sentence(logged, more, said) -> None:
    done = logged(*COMMAND, *more)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
