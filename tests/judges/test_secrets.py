"""Keys: sent to their own host only, and written nowhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import ragstone
from faults.scoring import SAMPLE, settings
from faults.server import Call, FaultServer
from ragstone import report
from ragstone.errors import RagstoneError
from ragstone.judges.dialects import collect_key_variables
from ragstone.judges.factory import make_judge, to_public_spec
from ragstone.judges.secrets import MissingKey, Redactor, find_key, parse_base_url

Serve = Callable[..., FaultServer]
CANARIES = {
    "environment": "sk-canary-environment-1234567890",
    "config": "canary/config+key==0987654321",
    "password": "canarypassword4711",
    "query": "canaryquerytoken0815",
}


async def echo(call: Call) -> None:
    """An error that repeats every header and the URL."""
    said = json.dumps({"error": {"message": f"bad request {call.path} {call.headers}"}})
    await call.send(500 if call.number % 2 else 403, said.encode())


def spellings(canary: str) -> list[bytes]:
    raw = canary.encode()
    login = base64.b64encode(b"user:" + raw).rstrip(b"=")
    return [raw, quote(canary, safe="").encode(), base64.b64encode(raw).rstrip(b"="), login]


@pytest.mark.parametrize("place", ["api_key", "key_env", "login", "query"])
def test_no_byte_of_a_key_is_written_anywhere(
    place: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(0)
    monkeypatch.setenv("MY_KEY", CANARIES["environment"])
    monkeypatch.setenv("OPENAI_API_KEY", CANARIES["environment"])
    monkeypatch.chdir(tmp_path)
    server = serve(echo)
    host = f"127.0.0.1:{server.port}"
    given: dict[str, Any] = {
        "api_key": {"api_key": CANARIES["config"]},
        "key_env": {"key_env": "MY_KEY"},
        "login": {"base_url": f"http://user:{CANARIES['password']}@{host}/v1"},
        "query": {"base_url": f"http://{host}/v1?token={CANARIES['query']}"},
    }[place]
    spec = settings(server, max_retries=1) | given
    run = ragstone.evaluate(
        [SAMPLE], ["faithfulness", "coherence"], judge=spec, store=tmp_path / "s.db"
    )
    for name in ("out.jsonl", "out.html", "out.md", "out.xml"):
        report.write(run, tmp_path / name)
    (row,) = run.rows()
    assert all(score.outcome == "judge_error" for score in row.scores.values())
    sent = "\n".join(f"{call.path} {call.headers}" for call in server.calls)
    canary = {"key_env": "environment", "api_key": "config", "login": "password"}.get(place, place)
    assert any(text.decode() in sent for text in spellings(CANARIES[canary])), (
        "it was not even sent"
    )
    seen = [
        repr(row.scores),
        repr(make_judge(spec)),
        repr(vars(make_judge(spec).model)),
        str(to_public_spec(spec)),
    ]  # type: ignore[attr-defined]
    out, err = capfd.readouterr()
    seen += [out, err, caplog.text]
    blobs = [text.encode() for text in seen]
    blobs += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(blobs) >= 9
    for name, canary in CANARIES.items():
        for spelling in spellings(canary):
            assert not any(spelling in blob for blob in blobs), name


def test_a_key_from_the_environment_goes_to_its_own_host_only(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARIES["environment"])
    server = serve()
    ragstone.evaluate([SAMPLE], ["coherence"], judge=settings(server))
    assert server.calls
    assert all("authorization" not in call.headers for call in server.calls)


KEY_VARIABLES = collect_key_variables()


def key_of(url: str) -> str | None:
    base_url = parse_base_url(url)
    return find_key(base_url, None, None, KEY_VARIABLES.get(base_url.host, ()))


@pytest.mark.parametrize(("host", "variables"), KEY_VARIABLES.items())
def test_each_vendor_has_its_variable(
    host: str, variables: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {v for names in KEY_VARIABLES.values() for v in names}:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingKey, match=f"export {variables[0]}="):
        key_of(f"https://{host}/v1")
    monkeypatch.setenv(variables[-1], "k-123456")
    assert key_of(f"https://{host}/v1") == "k-123456"
    with pytest.raises(MissingKey, match="not encrypted"):
        key_of(f"http://{host}/v1")
    assert key_of("https://example.org/v1") is None
    assert key_of(f"https://{host}.example.org/v1") is None
    assert key_of(f"https://example.org/{host}") is None


def test_a_named_variable_that_is_not_set_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINE", raising=False)
    with pytest.raises(MissingKey, match="'MINE', which is not set"):
        find_key(parse_base_url("https://example.org"), None, "MINE", ())


def test_what_is_secret_in_a_url_is_kept_apart() -> None:
    place = parse_base_url("https://me:pass%20word@example.org:8443/v1/?key=abcdefgh")
    assert place.url == "https://example.org:8443/v1"
    assert "pass" not in repr(place)
    assert "abcdefgh" not in repr(place)
    assert place.credentials == "me:pass word"
    assert place.join("/x") == "https://example.org:8443/v1/x?key=abcdefgh"


@pytest.mark.parametrize("url", ["", "example.org", "ftp://x", "file:///etc/passwd", "http://"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(RagstoneError, match="is not a URL"):
        parse_base_url(url)


def test_things_that_look_like_keys_are_struck_out_too() -> None:
    clean = Redactor("mysecretvalue")(
        "x mysecretvalue sk-abcdefghijk AIzaSyABCDEFGHIJK Bearer abcdefgh.ijk and words"
    )
    assert clean == "x *** *** *** *** and words"


def test_short_parts_of_a_secret_are_words() -> None:
    redact = Redactor("user:secret")
    assert redact("a secret of the user") == "a *** of the user"
