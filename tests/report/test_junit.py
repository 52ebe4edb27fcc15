"""JUnit for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path
from typing import Any

from ragstone import evaluate
from ragstone.analysis import Summary, summarise
from ragstone.report import junit, write
from ragstone.store import StoredRun
from ragstone.types import Score

PLAIN = {"family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False, "judged": False,
         "labels": [], "meaning": ""}  # fmt: skip


def parsed(run: StoredRun, summary: Summary) -> ET.Element:
    return ET.fromstring(junit.render(summary))


def test_each_gate_and_each_metric_is_a_test(run: StoredRun, summary: Summary) -> None:
    suite = parsed(run, summary).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert len(cases) == len(summary.metrics) + len(summary.gates) == int(suite.get("tests", ""))
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure")) == 1
    assert int(suite.get("errors", "")) == len(suite.findall("testcase/error")) == 2


def test_a_missed_gate_fails_with_its_sentence(run: StoredRun, summary: Summary) -> None:
    case = parsed(run, summary).find(".//testcase[@name='token_f1 mean >= 0.9']")
    assert case is not None
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == summary.gates[1].sentence


def test_an_incomplete_metric_is_an_error_with_its_reasons(
    run: StoredRun, summary: Summary
) -> None:
    error = parsed(run, summary).find(".//testcase[@name='faithfulness']/error")
    assert error is not None
    assert "102 of 113" in error.get("message", "")
    assert "within 60 s (×11)" in (error.text or "")


def test_a_gate_that_cannot_be_decided_is_an_error(build: Any) -> None:
    cases = [({"question": "q"}, {"m": Score(outcome="judge_error", kind="refusal", reason="no")})]
    run = build(cases, metrics=({"name": "m", **PLAIN},))
    root = parsed(run, summarise(run, gates={"m": ">= 0.5"}))
    error = root.find(".//testcase[@name='m >= 0.5']/error")
    assert error is not None
    assert error.get("type") == "undecided"


def test_characters_that_xml_cannot_hold_are_replaced(build: Any) -> None:
    evil = "a\x00\x08\x1b\ufffe]]><x & \"'\ud800"
    cases = [({"question": "q"}, {"m": Score(outcome="metric_error", reason=evil)})]
    run = build(cases, metrics=({"name": "m", **PLAIN},), name="n\x0b<")
    root = parsed(run, summarise(run))
    assert root.get("name") == "n\ufffd<"
    error = root.find(".//error")
    assert error is not None
    assert "]]><x & \"'" in (error.text or "")


def test_the_suite_says_how_long_the_run_took(tmp_path: Path) -> None:
    run = evaluate([{"answer": "a", "reference": "a"}], ["exact_match"], store=":memory:")
    root = ET.fromstring(write(run, tmp_path / "junit.xml").read_text())
    suite = root.find("testsuite")
    assert suite is not None
    assert float(root.attrib["time"]) == float(suite.attrib["time"]) >= 0
    store = run.stored.store
    started = datetime.fromisoformat(run.info.created).timestamp()
    stamp = int((started + 90.5) * 1_000_000)
    store.write(
        lambda db: db.execute_many(
            "UPDATE run_notes SET finished = ? WHERE run = ?", [(stamp, run.id)]
        )
    ).result()
    root = ET.fromstring(write(run, tmp_path / "junit.xml").read_text())
    assert root.attrib["time"] == "90.500"
