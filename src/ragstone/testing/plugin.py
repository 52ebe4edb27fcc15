"""The pytest plugin: the fixture `ragstone`, the marker `ragstone`, `--ragstone-judge` and `--ragstone-report`.

pytest loads it in every test run of an environment that has ragstone: nothing heavy may be imported before a check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.testing.checker import Checker, CheckFailed

_CHECKER = pytest.StashKey[Checker]()
_RECORDS = pytest.StashKey[list[dict[str, Any]]]()
"""What the workers of xdist checked, collected by the process that started them."""
REPORT_ENDINGS = (".html", ".md", ".json")
MARKER_HELP = (
    'ragstone(data, together=False, system=None, METRIC=">= 0.8", …): check every sample of a data '
    "set as a test of its own, or all of them together with gates on the interval."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("ragstone", "ragstone: quality of RAG answers")
    group.addoption(
        "--ragstone-judge",
        metavar="JUDGE",
        help="Who answers judged metrics: offline (default), openai:MODEL, gguf:FILE, …",
    )
    group.addoption(
        "--ragstone-report",
        metavar="FILE",
        help=f"Write every check with its evidence: {' '.join(REPORT_ENDINGS)}.",
    )
    group.addoption("--ragstone-lang", metavar="LANG", help="Language of messages: en, es.")
    parser.addini("ragstone_judge", "Who answers judged metrics, as --ragstone-judge.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and refuse a report that nobody can write before anything is paid for."""
    config.addinivalue_line("markers", MARKER_HELP)
    path = config.getoption("--ragstone-report")
    if path and Path(path).suffix.lower() not in REPORT_ENDINGS:
        raise pytest.UsageError(f"--ragstone-report {path}: end it in {' '.join(REPORT_ENDINGS)}")


@pytest.fixture(name="ragstone")
def checker_fixture(request: pytest.FixtureRequest) -> Checker:
    """Checks answers: `ragstone.check(sample, faithfulness=">= 0.8")`."""
    return _open_checker(request.node)


@pytest.fixture
def ragstone_sample(request: pytest.FixtureRequest) -> Any:
    """The sample of this test, one of the data set that the marker `ragstone` names."""
    if not hasattr(request, "param"):
        raise pytest.UsageError(
            "ragstone_sample needs the marker: @pytest.mark.ragstone('answers.jsonl', …)"
        )
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each sample that the marker's data has."""
    marker = metafunc.definition.get_closest_marker("ragstone")
    if marker is None or marker.kwargs.get("together"):
        return
    from ragstone.data import read
    from ragstone.errors import RagstoneError

    try:
        samples = [record.sample for record in read(_find_data(metafunc.definition, marker))]
    except RagstoneError as bad:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {bad}") from None
    if "ragstone_sample" not in metafunc.fixturenames:
        metafunc.fixturenames.append("ragstone_sample")  # the test need not look at its sample
    ids = [sample.id for sample in samples]
    metafunc.parametrize("ragstone_sample", samples, ids=ids, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check what the marker asks for, before the body of the test."""
    marker = item.get_closest_marker("ragstone")
    if marker is None:
        return
    rules = {k: v for k, v in marker.kwargs.items() if k not in ("data", "together", "system")}
    rule_mapping = next((arg for arg in marker.args[1:] if isinstance(arg, dict)), {})
    if not rules and not rule_mapping:  # the body checks its `ragstone_sample` itself
        return
    checker, system, fault = _open_checker(item), marker.kwargs.get("system"), ""
    try:
        if marker.kwargs.get("together"):
            checker.check_all(_find_data(item, marker), rule_mapping, system=system, **rules)
        else:
            sample = item.callspec.params["ragstone_sample"]  # type: ignore[attr-defined]
            checker.check(sample, rule_mapping, system=system, **rules)
    except CheckFailed as missed:
        fault = str(missed)
    if fault:  # outside of `except`, or pytest would show the message twice
        pytest.fail(fault, pytrace=False)


def _find_data(node: Any, marker: pytest.Mark) -> Any:
    """The marker's data: a path is looked for beside the test file, then in the root folder."""
    data = marker.args[0] if marker.args else marker.kwargs.get("data")
    if data is None:
        raise pytest.UsageError(f"{node.nodeid}: the marker ragstone names no data")
    if not isinstance(data, str | Path):
        return data
    beside = Path(node.path).parent / data
    return str(beside if beside.exists() else node.config.rootpath / data)


def _open_checker(node: Any) -> Checker:
    """The checker of this process; all workers of xdist share its cache."""
    config: pytest.Config = node.config
    if _CHECKER not in config.stash:
        judge = config.getoption("--ragstone-judge") or config.getini("ragstone_judge")
        # without the cache plugin (-p no:cacheprovider) nothing is kept
        cache = getattr(config, "cache", None)
        folder = None if cache is None else cache.mkdir("ragstone")
        language = config.getoption("--ragstone-lang") or "en"
        config.stash[_CHECKER] = Checker(judge=judge or None, cache=folder, language=language)
    checker = config.stash[_CHECKER]
    checker.test = node.nodeid
    return checker


# ── the end of a run ──────────────────────────────────────────────────────────────────────


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the checks to the process that started this one, or write the report."""
    config = session.config
    checker = config.stash.get(_CHECKER, None)
    records = [*config.stash.get(_RECORDS, []), *(checker.records if checker else [])]
    if checker is not None:
        checker.close()
    if hasattr(config, "workeroutput"):  # a worker of xdist
        config.workeroutput["ragstone"] = records
        return
    config.stash[_RECORDS] = records
    path = config.getoption("--ragstone-report")
    if path and records:
        from ragstone.testing.report import write_checks

        write_checks(records, path, config.getoption("--ragstone-lang") or "en")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the checks of a worker of xdist; one that crashed has none to give."""
    records = node.config.stash.setdefault(_RECORDS, [])
    records += (getattr(node, "workeroutput", None) or {}).get("ragstone", [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say in a line how many checks there were and where the report is."""
    records = config.stash.get(_RECORDS, [])
    if records:
        missed = sum(not record["passed"] for record in records)
        path = config.getoption("--ragstone-report")
        where = f"; report: {path}" if path else ""
        terminalreporter.write_line(f"ragstone: {len(records)} checks, {missed} missed{where}")
