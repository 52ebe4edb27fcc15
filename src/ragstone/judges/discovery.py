"""Finds the judge of a user who gives a URL, a file or a folder instead of a judge's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.judges.connection_errors import explain_connection_error
from ragstone.judges.dialects import collect_key_variables
from ragstone.judges.hints import suggest_spec
from ragstone.judges.secrets import Redactor, find_key, format_basic_auth, parse_base_url

LIST_SECONDS = 10.0
"""How long a server may take to list its models."""
SHOWN_MODELS = 8


async def find_settings(text: str, base_url: str | None = None) -> dict[str, Any]:
    """Return the settings of the judge that a spec, a URL of an OpenAI-compatible server, or a path means."""
    if text.startswith(("http://", "https://")):
        return {"model": f"openai:{await find_served_model(text)}", "base_url": text}
    return {"model": _find_spec(text), **({"base_url": base_url} if base_url else {})}


def _find_spec(text: str) -> str:
    return (suggest_spec(text, ()) or text) if Path(text).expanduser().exists() else text


async def find_served_model(url: str) -> str:
    """Return the name of the only model that a server lists; with several the user has to choose."""
    import aiohttp

    base_url = parse_base_url(url)
    key = find_key(base_url, None, None, collect_key_variables().get(base_url.host, ()))
    redact = Redactor(*(secret for secret in (key, base_url.credentials, base_url.query) if secret))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if base_url.credentials:  # as the judge itself does
        headers.setdefault("Authorization", format_basic_auth(base_url.credentials))
    timeout = aiohttp.ClientTimeout(total=LIST_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(base_url.join("/models"), allow_redirects=False) as response,
        ):
            body = await response.content.read(1_000_000)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        reason = explain_connection_error(error, base_url, redact)
        raise RagstoneError(f"{base_url.url} could not be asked for its models: {reason}") from None
    names = _read_names(body) if response.status == 200 else []
    if len(names) == 1:
        return names[0]
    spec = f"--judge openai:{names[0] if names else 'NAME'} --base-url {base_url.url}"
    if not names:
        raise RagstoneError(f"{base_url.url} lists no models; name one: {spec}")
    shown = ", ".join(redact(name[:60]) for name in names[:SHOWN_MODELS])
    raise RagstoneError(f"{base_url.url} serves {len(names)} models ({shown}); name one: {spec}")


def _read_names(body: bytes) -> list[str]:
    """Return the ids of an OpenAI-compatible list of models; what is no such list names none."""
    try:
        rows = json.loads(body)["data"]
        names = [row["id"] for row in rows]
    except (ValueError, KeyError, TypeError):
        return []
    return [name for name in names if isinstance(name, str)]
