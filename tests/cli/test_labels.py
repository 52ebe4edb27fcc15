"""`ragstone label` and `ragstone label`, from the keyboard and from files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click
import pytest

from labelled import make_claims, make_run
from ragstone.labels import load_labels
from ragstone.store import Store


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Type keys into the next command."""

    def type_keys(text: str) -> None:
        waiting: Iterator[str] = iter(text)
        monkeypatch.setattr(click, "getchar", lambda: next(waiting, "\x04"))

    return type_keys


def open_store(folder) -> Store:
    return Store.open(folder / "store.db")


def test_labels_are_given_with_keys_and_resumed(call, keys, tmp_path) -> None:
    make_run(open_store(tmp_path), [make_claims("supported", "not_found") for _ in range(5)])
    keys("sxcu")
    result = call("label", "r1", "--next", "4", "--author", "ana")
    assert result.code == 0
    assert "Do the contexts support the claim?" in result.out
    assert "1 label by ana" in result.err
    keys("nk\x03")
    result = call("label", "r1", "--next", "4", "--author", "ana")
    assert "2 labels by ana, 1 skipped, of 10 in the run" in result.err
    labels = load_labels(open_store(tmp_path))
    assert [label.word for label in labels] == ["supported", "not_found", "skip"]
    assert [label.sampling_probability for label in labels] == [0.2, 0.2, None]


def test_files_go_in_once_and_come_out(call, write, tmp_path) -> None:
    make_run(open_store(tmp_path), [make_claims("supported")] * 2)
    rows = [{"sample": f"s{n}", "on": "support", "value": "yes", "author": "ana"} for n in range(3)]
    write("people.jsonl", rows)
    result = call("labels", "import", "people.jsonl", "--run", "r1")
    assert "read 3 labels as labels" in result.err
    assert "left out 1 label of samples that the run does not have, such as 's2'" in result.err
    result = call("labels", "import", "people.jsonl", "--run", "r1")
    assert "stored 0 labels, 2 were there already" in result.err
    assert call("labels", "export", "out.jsonl").code == 0
    written = [
        json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    ]
    assert [(row["sample"], row["value"], row["run"]) for row in written] == [
        ("s0", 1.0, "r1"),
        ("s1", 1.0, "r1"),
    ]
    pytest.importorskip("pyarrow")
    assert call("labels", "export", "out.parquet").code == 0
    assert "0 labels" in call("labels", "import", "out.parquet").err


def test_people_disagree_and_somebody_decides(call, keys, write) -> None:
    rows = [
        {"sample": f"s{n}", "on": "correctness", "value": value, "author": author}
        for author, values in {"ana": "yes yes no yes", "luis": "yes no no yes"}.items()
        for n, value in enumerate(values.split())
    ]
    write("people.jsonl", rows)
    call("labels", "import", "people.jsonl")
    result = call("labels", "agreement")
    assert "Krippendorff's alpha" in result.out
    assert "Cohen's kappa, 75% the same" in result.out
    assert "s1: correctness: ana 1, luis 0" in result.out
    keys("n")
    assert "decided 1 of 1 disagreement" in call("labels", "adjudicate", "--author", "eva").err
    assert "decided 0 of 0" in call("labels", "adjudicate").err


def test_a_mistake_is_one_sentence(call, write) -> None:
    write("people.jsonl", [{"sample": "s0", "on": "support", "value": 7}])
    assert call("labels", "import", "people.jsonl").err.count("\n") == 1
    assert call("labels", "import", "people.jsonl", "--scale", "5").code == 2
    assert call("labels", "export", "out.txt").code == 2
    assert "no run" in call("label", "nothing").err


def test_a_file_about_another_run_is_refused_and_nothing_is_stored(call, write, tmp_path) -> None:
    make_run(open_store(tmp_path), [make_claims("supported")] * 2)
    write("others.jsonl", [{"sample": "x1", "on": "support", "value": "yes"}])
    result = call("labels", "import", "others.jsonl", "--run", "r1")
    assert result.code == 2
    assert "the run r1 has none of the labelled samples, such as 'x1'" in result.err
    assert "--field sample=COLUMN" in result.err
    assert load_labels(open_store(tmp_path)) == []


def test_agreement_fits_a_terminal(call, write, tmp_path, monkeypatch) -> None:
    make_run(open_store(tmp_path), [make_claims("supported")] * 4)
    given = {"ana": "yes yes no no", "": "yes no no no"}
    rows = [
        {"sample": f"s{n}", "on": "support", "value": value, "author": author}
        for author, values in given.items()
        for n, value in enumerate(values.split())
    ]
    write("people.jsonl", rows)
    call("labels", "import", "people.jsonl", "--run", "r1")
    monkeypatch.setenv("COLUMNS", "80")
    result = call("labels", "agreement")
    assert "Agreement of people" in result.out
    assert "0.500" in result.out  # Cohen's kappa: 3 of 4 the same, 2 of 4 by chance
    assert "unnamed" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_eval_report_and_compare_show_the_corrected_mean(call, write, tmp_path) -> None:
    rows = [
        {"id": f"q{n}", "question": "When was the mill built?", "answer": f"It was built in {1850 + n % 2}.",
         "contexts": ["The mill was built in 1850."], "reference": "It was built in 1850."}
        for n in range(40)
    ]  # fmt: skip
    write("data.jsonl", rows)
    write(
        "people.jsonl",
        [{"sample": f"q{n}", "on": "support", "value": "yes", "chance": 0.5} for n in range(20)],
    )
    result = call(
        "eval",
        "data.jsonl",
        "-m",
        "faithfulness",
        "--labels",
        "people.jsonl",
        "-o",
        "r.html",
        "--name",
        "a",
    )
    assert result.code == 0, result.err
    assert "Corrected by 20 labels (answers supported throughout): 1.000" in " ".join(
        result.out.split()
    )
    assert "Corrected by labels" in (tmp_path / "r.html").read_text("utf-8")
    result = call("report", "a", "--lang", "es")
    assert "Corregida con 20 etiquetas" in " ".join(result.out.split())
    call("eval", "data.jsonl", "-m", "faithfulness", "--name", "b")
    result = call("compare", "a", "b")
    assert "Corrected by 20 questions labelled in both runs" in " ".join(result.out.split())
    assert call("report", "a", "--labels", "none.jsonl").code == 2


def write_labelled(write, target: str = "support") -> None:
    """Forty answers with labels in the same file; the judge is right on all but those that people mistake."""
    rows = []
    for n in range(40):
        right = n % 2 == 0
        row = {
            "id": f"q{n}",
            "question": "When was the mill built?",
            "language": "en",
            "contexts": [f"Mill {n} was built in 1850."],
        }
        text = f"Mill {n} was built in {1850 if right else 1860}."
        said = right if n else not right
        row |= (
            {"answer": text, "support": said}
            if target == "support"
            else {"claim": text, "label": "supported" if said else "contradicted", "answer": text}
        )
        rows.append(row)
    write("people.jsonl", rows)


@pytest.mark.parametrize("target", ["support", "claim"])
def test_judges_are_measured_on_labels(call, write, tmp_path, target) -> None:
    write_labelled(write, target)
    result = call(
        "judge", "measure", "--labels", "people.jsonl", "--judge", "offline", "--judge", "offline", "-o", "judges.html",
        "-o", "judges.json", "--save-scale",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "fit to gate on" in result.out
    found = json.loads((tmp_path / "judges.json").read_text("utf-8"))
    assert [judge["items"] for judge in found["judges"]] == [40, 40]
    assert [item["sample"] for item in found["judges"][0]["wrong"]] == ["q0"]
    assert found["pairs"][0]["difference"] == 0
    assert len(found["scales"]) == 2
    page = (tmp_path / "judges.html").read_text("utf-8")
    assert "What offline" in page
    assert call("runs").out.count("measured on") == 0


def test_the_judge_of_a_labelled_run_is_measured_without_asking_again(call, write) -> None:
    write_labelled(write)
    call("eval", "people.jsonl", "-m", "faithfulness", "--labels", "people.jsonl", "--name", "a")
    result = call("judge", "measure", "--labels", "a", "--lang", "es")
    assert result.code == 0, result.err
    assert "sirve para poner umbrales" in result.out
    assert (
        "no label on correctness"
        in call("judge", "measure", "--labels", "a", "--on", "correctness").err
    )
