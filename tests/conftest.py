"""What every test shares: a store of its own, no key from the environment."""

from __future__ import annotations

import os
import signal
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings

from promised import drop_copies, write_table

# no deadlines: machines are shared, and seconds prove nothing
settings.register_profile("sample", deadline=None, max_examples=20)
settings.register_profile("exhaustive", deadline=None, max_examples=200)

os.environ["RAGSTONE_LANG"] = "en"  # messages follow the language of the machine; tests do not

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a shell: what tests start would inherit that Ctrl-C is not heard
    signal.signal(signal.SIGINT, signal.default_int_handler)


QUICK_EVERY = 60
"""With --quick, of each test file the first test and every so-manieth after it."""
QUICK_WITHOUT = (
    "tests/promises/",
    "tests/scale/",
    "tests/server/",
    "test_kill",
    "test_real_",
    "test_browser",
    "postgres",
)
"""Not part of the quick sample: what starts clusters, servers, browsers or models, and what stands elsewhere too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only a sample of each file's tests")
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/report/golden")


def pytest_configure(config: pytest.Config) -> None:
    exhaustive = config.getoption("markexpr") != "not slow"
    settings.load_profile("exhaustive" if exhaustive else "sample")


SLOW_SECONDS = 3600
"""After so long an exhaustive test counts as hung; other tests have the `timeout` of pyproject.toml."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    if not config.getoption("--quick"):
        drop_copies(config, items)
        return
    chosen, rest = [], []
    seen: Counter[str] = Counter()
    for item in items:
        file = item.nodeid.partition("::")[0]
        heavy = any(word in item.nodeid for word in QUICK_WITHOUT)
        (rest if heavy or seen[file] % QUICK_EVERY else chosen).append(item)
        seen[file] += 1
    items[:] = chosen
    config.hook.pytest_deselected(items=rest)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    write_table(terminalreporter)


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own store."""
    folder = tmp_path_factory.mktemp("store")
    monkeypatch.setenv("RAGSTONE_STORE", str(folder / "ragstone.db"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
