"""The OpenAPI document is true: what it describes is what the server does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from live import Server, in_thread
from ragstone.server import ServerSettings
from ragstone.server.app import GET_ROUTES, POST_ROUTES, PUBLIC_PATHS
from ragstone.server.openapi import build_document
from ragstone.store import Store

pytest.importorskip("schemathesis", reason="schemathesis is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with in_thread(ServerSettings(), Store.open(tmp_path_factory.mktemp("s") / "s.db")) as one:
        one.post("/v1/interactions", {"id": "a", "question": "q", "meta": {"model": "m"}})
        yield one


def test_every_route_is_described_and_everything_described_is_there() -> None:
    paths = build_document(ServerSettings())["paths"]
    described = {(path, method) for path, item in paths.items() for method in item}
    routes = {(path, "get") for path in GET_ROUTES} | {(path, "post") for path in POST_ROUTES}
    assert described == routes


def test_the_token_is_described_where_it_is_asked_for() -> None:
    shown = build_document(ServerSettings(token="x" * 20))
    for path, item in shown["paths"].items():
        for operation in item.values():
            assert ("401" in operation["responses"]) == (path not in PUBLIC_PATHS)
    assert "security" not in build_document(ServerSettings())


@pytest.mark.parametrize("examples", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_whatever_is_sent_no_reply_is_a_fault_or_breaks_the_document(
    server: Server, examples: int
) -> None:
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in schemathesis.GenerationMode:
            strategy = operation.as_strategy(generation_mode=mode)

            @given(case=strategy)
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def try_it(case: schemathesis.Case) -> None:
                nonlocal tried
                tried += 1
                case.call_and_validate(checks=checks)

            try:
                try_it()
            except Exception as nothing:
                if "cannot be negated" not in str(nothing) and "Unsatisfiable" not in type(nothing).__name__:  # fmt: skip
                    raise
    assert tried >= 8 * examples
    assert server.get("/healthz").status == 200
