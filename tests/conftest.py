"""What every test shares: a store of its own, no key from the environment."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)  # machines are shared: seconds prove nothing
settings.load_profile("no clock")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a shell: what tests start would inherit that Ctrl-C is not heard
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own store."""
    folder = tmp_path_factory.mktemp("store")
    monkeypatch.setenv("RAGSTONE_STORE", str(folder / "ragstone.db"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
