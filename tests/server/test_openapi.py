"""The OpenAPI document is true: what it describes is what the server does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from live import Server, in_thread
from ragstone.server import ServerSettings
from ragstone.server.app import make_app
from ragstone.server.routes import API_ROUTES, describe_app, list_routes
from ragstone.store import Store

pytest.importorskip("schemathesis", reason="schemathesis is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with in_thread(ServerSettings(), Store.open(tmp_path_factory.mktemp("s") / "s.db")) as one:
        one.post("/v1/interactions", {"id": "a", "question": "q", "meta": {"model": "m"}})
        yield one


def list_described(settings: ServerSettings) -> set[tuple[str, str]]:
    paths = describe_app(settings)["paths"]
    return {(path, method) for path, item in paths.items() for method in item}


def test_every_endpoint_is_described_and_everything_described_is_there(tmp_path: Path) -> None:
    assert list_described(ServerSettings()) == {(route.path, route.method) for route in API_ROUTES}
    with closing(Store.open(tmp_path / "s.db")) as store:
        for settings in (ServerSettings(), ServerSettings(home="runs", ingest=False)):
            served = {
                (route.resource.canonical, route.method.lower())
                for route in make_app(settings, store).router.routes()
                if route.resource is not None
            }
            assert list_described(settings) <= served
            declared = {(route.path, route.method) for route in list_routes(settings)}
            assert {route for route in served if route[1] != "head"} == declared
    assert ("/v1/feedback", "post") not in list_described(ServerSettings(ingest=False))


def test_the_token_is_described_where_it_is_asked_for() -> None:
    shown = describe_app(ServerSettings(token="x" * 20))
    is_open = {route.path: route.is_open for route in API_ROUTES}
    for path, item in shown["paths"].items():
        for operation in item.values():
            assert ("401" in operation["responses"]) == (not is_open[path])
    assert "security" not in describe_app(ServerSettings())


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
