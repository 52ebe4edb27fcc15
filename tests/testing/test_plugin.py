"""The pytest plugin: checks in tests, data sets as tests, one cache for all workers of xdist."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from source_trees import SOURCE

pytest_plugins = ["pytester"]

ROOT = SOURCE.parent.parent
# `no:ragstone` first: where the entry point is installed, the plugin is there under that name already
# in processes of their own: numpy cannot be imported twice in one, which pytester would do
PLUGIN = ("-p", "no:ragstone", "-p", "ragstone.testing.plugin", "-p", "no:schemathesis", "-p", "no:langsmith_plugin")  # fmt: skip

SHOP = """
SOURCE = "Items can be returned within 30 days of delivery."
GOOD = {"question": "How long can I return a lamp?", "answer": SOURCE, "contexts": [SOURCE]}
BAD = GOOD | {"answer": "Items can be returned within 60 days of delivery."}
"""
ROWS = [
    {
        "id": f"q{n}",
        "question": "How long can I return a lamp?",
        "answer": f"Items can be returned within {days} days of delivery.",
        "contexts": ["Items can be returned within 30 days of delivery."],
    }
    for n, days in enumerate((30, 60, 30, 30))
]


@pytest.fixture
def shop(pytester, monkeypatch):
    """A folder with the shop's module and answers.jsonl; tests of its own are added by each test."""
    monkeypatch.setenv("PYTHONPATH", str(SOURCE.parent))
    pytester.makepyfile(shop=SHOP)
    lines = [json.dumps(row) for row in ROWS]
    (pytester.path / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return pytester


def test_a_check_passes_or_prints_claim_evidence_and_quote(shop):
    shop.makepyfile(
        """
        import pytest
        from shop import BAD, GOOD

        def test_good(ragstone):
            assert ragstone.check(GOOD, faithfulness=">= 0.8")["faithfulness"].value > 0.8

        def test_bad(ragstone):
            ragstone.check(BAD, faithfulness=">= 0.8")

        def test_mapping(ragstone):
            sample = {"question": "q", "contexts": [{"id": "a"}], "relevant": ["a"]}
            ragstone.check(sample, {"recall@5": ">= 1"})

        def test_unscored(ragstone):
            ragstone.check({"question": "q", "answer": "a"}, faithfulness=">= 0.8")

        def test_mistake(ragstone):
            with pytest.raises(ValueError, match="is not a rule"):
                ragstone.check(GOOD, faithfulness="good")
            with pytest.raises(ValueError, match="nothing to check"):
                ragstone.check(GOOD)
        """
    )
    result = shop.runpytest_subprocess(*PLUGIN, "--ragstone-report", "out/checks.json")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E *CheckFailed: faithfulness is 0.200; the test wants >= 0.8",
            "E *“Items can be returned within 60 days of delivery.”",
            "E *contradicted: *30 days*60 days*",
            "E *decided by rank 1: “Items can be returned within 30 days of delivery.”",
            "E *question: How long can I return a lamp?",
            "*faithfulness has no score (missing field): the sample has no contexts",
            "ragstone: 4 checks, 2 missed; report: out/checks.json",
        ]
    )
    records = json.loads((shop.path / "out" / "checks.json").read_text())
    assert [(r["metric"], r["value"], r["passed"]) for r in records] == [
        ("faithfulness", 0.835, True),
        ("faithfulness", 0.2, False),
        ("recall@5", 1.0, True),
        ("faithfulness", None, False),
    ]
    assert records[1]["test"].endswith("::test_bad")


DATA_TESTS = """
import pytest

@pytest.mark.ragstone("answers.jsonl", faithfulness=">= 0.8")
def test_each():
    pass

@pytest.mark.ragstone("answers.jsonl")
def test_body(ragstone, ragstone_sample):
    ragstone.check(ragstone_sample, {"faithfulness": "<= 1"})

@pytest.mark.ragstone("answers.jsonl", faithfulness="mean >= 0.6", together=True)
def test_mean():
    pass

@pytest.mark.ragstone("answers.jsonl", faithfulness=">= 0.7", together=True)
def test_interval():
    pass
"""


def test_a_data_set_is_one_test_a_sample_or_one_with_gates(shop):
    shop.makepyfile(test_data=DATA_TESTS)
    result = shop.runpytest_subprocess(*PLUGIN, "-v", "--ragstone-lang", "es")
    result.assert_outcomes(passed=8, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*::test_each[[]q0] PASSED*",
            "*::test_each[[]q1] FAILED*",
            "*::test_mean PASSED*",
            "*::test_interval FAILED*",
            "faithfulness es 0,200; la prueba pide >= 0.8",
            "*lo decide puesto 1: «Items can be returned within 30 days of delivery.»",
            "faithfulness >= 0.7: extremo inferior del intervalo: * (media 0,67*, n 4)",
            "*q1  «Items can be returned within 60 days of delivery.»",
        ]
    )
    assert "During handling" not in result.stdout.str()


def test_a_missing_file_is_one_sentence(shop):
    shop.makepyfile(
        "import pytest\n@pytest.mark.ragstone('none.jsonl', faithfulness='>= 1')\ndef test(): pass"
    )
    result = shop.runpytest_subprocess(*PLUGIN)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*none.jsonl*"])
    refused = shop.runpytest_subprocess(*PLUGIN, "--ragstone-report", "checks.docx")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR


JUDGE = """
import os
import time

from ragstone.judges.offline import OfflineJudge

embedded = OfflineJudge()


async def answer(ask):
    with open("asked.txt", "a", encoding="utf-8") as file:
        file.write(f"{ask.kind} {ask.key} {os.environ.get('PYTEST_XDIST_WORKER')}\\n")
    time.sleep(0.2)  # long enough for the other worker to come and ask the same
    return (await embedded.answer([ask]))[0].value
"""


@pytest.mark.slow
def test_workers_of_xdist_share_the_judge_s_replies_and_one_report(shop):
    shop.makepyfile(own_judge=JUDGE)
    shop.makepyfile(
        """
        import pytest
        from shop import BAD, GOOD

        @pytest.mark.parametrize("n", range(8))
        def test_same(ragstone, n):
            ragstone.check(GOOD if n % 2 else BAD, faithfulness=">= 0")
        """
    )
    arguments = (*PLUGIN, "-n", "2", "--ragstone-judge", "python:own_judge.py:answer", "--ragstone-report", "checks.html")  # fmt: skip
    result = shop.runpytest_subprocess(*arguments)
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(["ragstone: 8 checks, 0 missed; report: checks.html"])
    asked = (shop.path / "asked.txt").read_text().splitlines()
    keys = [line.split()[1] for line in asked]
    assert len(keys) == len(set(keys)) > 0
    assert (shop.path / "checks.html").read_text().count("test_same[") == 8
    # and the next run pays for nothing
    shop.runpytest_subprocess(*arguments).assert_outcomes(passed=8)
    assert (shop.path / "asked.txt").read_text().splitlines() == asked


def test_the_entry_point_loads_the_plugin_and_imports_nothing_heavy(shop):
    """As installed: pytest finds the plugin by the entry point of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    points = project["project"]["entry-points"]["pytest11"]
    dist = shop.path / "site" / "ragstone_entry-1.0.dist-info"
    dist.mkdir(parents=True)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: ragstone-entry\nVersion: 1.0\n")
    lines = "".join(f"{name} = {target}\n" for name, target in points.items())
    (dist / "entry_points.txt").write_text(f"[pytest11]\n{lines}")
    shop.makepyfile(
        """
        import sys

        def test_nothing_heavy(pytestconfig):
            assert pytestconfig.pluginmanager.get_plugin("ragstone") is not None
            heavy = {"numpy", "aiohttp", "yaml", "rich", "jinja2", "ragstone.experiments",
                     "ragstone.judges", "ragstone.metrics", "ragstone.report", "ragstone.store"}
            assert heavy.isdisjoint(sys.modules)
        """
    )
    # without the plugins of other packages, which import what they like
    paths = os.pathsep.join([str(SOURCE.parent), str(dist.parent)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_block_others()],
        cwd=shop.path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _block_others() -> list[str]:
    from importlib.metadata import entry_points

    names = {point.name for point in entry_points(group="pytest11")} - {"ragstone"}
    return [part for name in sorted(names) for part in ("-p", f"no:{name}")]


def test_the_examples_of_the_page_behave_as_it_says(shop):
    text = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    files = re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', text, re.DOTALL)
    assert {Path(name).name for name, _ in files} >= {"test_shop.py", "test_plain.py"}
    for name, body in files:
        (shop.path / name).write_text(body, encoding="utf-8")
    shop.runpytest_subprocess(*PLUGIN, "test_shop.py").assert_outcomes(passed=4, failed=1)
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "test_plain"], cwd=shop.path, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
