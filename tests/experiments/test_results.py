"""Results of bench and compare in Python: tables, notebooks and reports."""

from __future__ import annotations

import re

import pytest

from ragstone import RagstoneError, Store, bench, evaluate, plot, report
from ragstone.experiments.compare import build_league_frame, compare

QUESTIONS = [
    {"id": f"q{n}", "question": f"How much is item {n}?", "reference": f"{n} euros"}
    for n in range(40)
]


class Clerk:
    """Knows the price of so many of ten items."""

    def __init__(self, *, knows: int = 5) -> None:
        self.knows = knows

    def answer(self, question: str) -> dict:
        n = int(question.rstrip("?").split()[-1])
        known = n % 10 < self.knows
        return {"answer": f"{n} euros" if known else "no idea", "tokens": 10 * self.knows}


@pytest.fixture
def benched(tmp_path):
    configurations = {"base": {}, "poor": {"knows": 1}, "good": {"knows": 9}}
    return bench(QUESTIONS, configurations, ["exact_match"], system=Clerk, store=tmp_path / "s.db")


def test_a_benchmark_opens_with_the_league_and_what_to_choose(benched) -> None:
    text = " ".join(str(benched).split())
    assert text.startswith("Choose good: exact_match +0.400 (")
    # on a busy machine a difference in latency may stand before the tokens
    assert re.search(r"against base, for .*?1\.80 × the tokens", text)
    assert text.index("★") < text.index("ragstone compare")
    assert "good" in benched.result.recommendation.choice


def test_a_plot_names_its_target(benched, tmp_path) -> None:
    picture = plot(benched, target=0.8).write(tmp_path / "b.svg").read_text("utf-8")
    assert picture.count("target 0.8") == 3
    assert all(name in picture for name in ("base", "poor", "good"))
    assert "target 0" not in plot(benched.runs["base"])._repr_svg_()


def test_a_benchmark_is_a_table_of_configurations(benched) -> None:
    pandas = pytest.importorskip("pandas")
    frame = benched.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.index) == ["base", "poor", "good"]
    assert frame.loc["good", "exact_match"] == pytest.approx(0.9)
    standings = build_league_frame(benched.result.league).set_index("configuration")[
        "exact_match standing"
    ]
    assert standings["good"] == "best"


def test_a_benchmark_shows_itself_in_a_notebook(benched) -> None:
    shown = benched._repr_html_()
    assert "Choose good" in shown
    assert shown.count("<table") == 3  # the league, and one for each run but the baseline
    assert "<script" not in shown


def test_stored_runs_are_compared_by_name_or_as_runs(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    store = Store.open(tmp_path / "s.db")
    runs = [
        evaluate(QUESTIONS, ["exact_match"], system=Clerk, settings={"knows": n}, name=name, store=store)
        for name, n in (("old", 3), ("new", 9))
    ]  # fmt: skip
    result = compare(runs)
    assert runs[1].compare_with("old").to_frame().equals(result.to_frame())
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    row = frame[frame["metric"] == "exact_match"].iloc[0]
    assert (row["run"], row["baseline"], row["verdict"]) == ("new", "old", "better")
    assert row["low"] <= row["difference"] <= row["high"]
    assert "new is better than old" in result._repr_html_()
    assert report.write(result, tmp_path / "c.html").is_file()
    assert result.league is None
    with pytest.raises(RagstoneError, match="no run 'nobody'"):
        compare(["old", "nobody"], store=store)
    store.close()


def test_what_has_no_chart_is_said_in_a_sentence(benched, tmp_path) -> None:
    with pytest.raises(RagstoneError, match="a list has no chart"):
        plot([{"answer": "a"}])
    with pytest.raises(RagstoneError, match="the target is 'a'; give a number"):
        plot(benched, target="a")
    with pytest.raises(RagstoneError, match=r"end it in .svg or .png"):
        plot(benched).write(tmp_path / "b.xyz")
