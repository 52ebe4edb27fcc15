"""`failures` and `diagnose` on the command line: thresholds, slices, advice of one's own, and files."""

from __future__ import annotations

import json

import pytest

LOW = ("--threshold", "token_f1=0.6")
"""Half of the answers have half of the words: with this threshold they fail."""
OWN_ADVICE = """
- symptom: colours
  title: {en: "Colours are mixed up"}
  when: [{class: generation_failure, above: 0}]
  causes:
    - cause: {en: "The catalogue is old"}
      advice: {en: "Load the new catalogue"}
"""


@pytest.fixture
def lamps(call, write):
    """Run `lamps`: every second answer names the wrong colour, and these are of the topic `odd`."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"What is {n}?",
            "answer": "green lamp" if n % 2 else "blue lamp",
            "reference": "blue lamp",
            "topic": "odd" if n % 2 else "even",
        }
        for n in range(40)
    ]
    path = write("lamps.jsonl", rows)
    assert call("eval", str(path), "-m", "token_f1", "-q").code == 0
    return call


def test_a_threshold_decides_what_is_a_failure(lamps) -> None:
    assert "No failures" in lamps("failures", "lamps").out
    assert "Nothing to advise" in lamps("diagnose", "lamps").out
    done = lamps("failures", "lamps", *LOW)
    assert done.code == 0
    assert any(line.split()[:4] == ["generation", "failure", "20", "50%"] for line in done.out.splitlines())  # fmt: skip
    by_class = lamps("failures", "lamps", "--threshold", " generation_failure =0.6").out
    assert "generation failure" in by_class
    advised = lamps("diagnose", "lamps", *LOW, "--lang", "es").out
    assert "Las respuestas son erróneas" in advised


def test_failures_are_broken_down_by_the_fields_named(lamps) -> None:
    assert "odd" in lamps("failures", "lamps", *LOW).out
    assert "odd" in lamps("failures", "lamps", *LOW, "--by", "topic").out
    assert "odd" not in lamps("failures", "lamps", *LOW, "--by", "language").out


def test_symptoms_of_ones_own_are_advised_on(lamps, write) -> None:
    write("own.yaml", OWN_ADVICE)
    assert "Load the new catalogue" not in lamps("diagnose", "lamps", *LOW).out
    assert "Load the new catalogue" in lamps("diagnose", "lamps", *LOW, "--advice", "own.yaml").out


@pytest.mark.parametrize("command", ["failures", "diagnose"])
def test_files_are_written_and_named_instead_of_printed(lamps, tmp_path, command: str) -> None:
    done = lamps(command, "lamps", *LOW, "-o", "f.json", "-o", "f.md")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == ["wrote f.json", "wrote f.md"]
    written = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert bool(written.get("diagnosis")) == (command == "diagnose")


@pytest.mark.parametrize("command", ["failures", "diagnose"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run_is_looked_for(call, command) -> None:  # fmt: skip
    done = call(command, "nobody", "-o", "f.docx")
    assert done.code == 2
    assert "names no format of this report" in done.err


@pytest.mark.parametrize("text", ["rubbish", "=0.5", " =0.5", "token_f1=nan", "token_f1="])
def test_a_threshold_is_a_name_and_a_number(lamps, text: str) -> None:
    done = lamps("failures", "lamps", "--threshold", text)
    assert done.code == 2
    assert f"{text!r} is no threshold; write it as hallucination=0.9" in done.err
