"""Options of `ragstone doctor`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from ragstone import __version__
from ragstone.cli.messages import format_count
from ragstone.cli.options import store_option
from ragstone.config import load
from ragstone.config.secrets import reveal
from ragstone.errors import RagstoneError
from ragstone.judges.factory import make_judge
from ragstone.judges.local.gguf import count_processors
from ragstone.judges.prices import MAX_PRICE_AGE, PRICES, PRICES_DATE
from ragstone.store import Store
from ragstone.store.store import default_place


@click.command("doctor")
@click.option("--judge", metavar="JUDGE", help="Also see whether this judge can be reached.")
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("-c", "--config", metavar="FILE", help="Look at the judge and the store of a config file.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(
    judge: str | None, base_url: str | None, config: str | None, as_json: bool, store: str | None
) -> int:
    """Say what is installed and whether store and judge can be used.

    Versions, optional packages, the store, the judge; made to be pasted into a bug report: no key, no password, no text
    of yours. A judge on a server is connected to, and asked nothing.

    Exit codes: 0 all well, 1 something cannot be used."""
    plan = load(config) if config else None
    settings: Any = plan.judge_settings() if plan and judge is None else judge
    if judge is not None and base_url is not None:
        settings = {"model": judge, "base_url": base_url}
    checkpoints = [
        *_list_versions(),
        *_list_extras(),
        _check_store(store or (reveal(plan.store) if plan else None)),
        *_check_judge(settings),
        _check_prices(date.today()),
    ]
    if as_json:
        click.echo(json.dumps([asdict(point) for point in checkpoints], ensure_ascii=False, indent=2))  # fmt: skip
    else:
        width = max(len(point.about) for point in checkpoints)
        for point in checkpoints:
            click.echo(f"{MARKS[point.state]} {point.about:{width}}  {point.fact}")
    return 1 if any(point.state == "bad" for point in checkpoints) else 0


CONNECT_SECONDS = 5.0

MARKS = {"ok": "✓", "absent": "–", "old": "!", "bad": "✗"}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One thing that was looked at: `ok`, `absent` (optional, not there), `old` or `bad` (wanted, and not usable)."""

    about: str
    state: str
    fact: str


def _list_versions() -> Iterator[Checkpoint]:
    yield Checkpoint("ragstone", "ok", __version__)
    yield Checkpoint("Python", "ok", f"{platform.python_version()} ({platform.python_implementation()})")  # fmt: skip
    yield Checkpoint("system", "ok", f"{platform.system()} {platform.machine()}, {count_processors()} cores")  # fmt: skip


def _list_extras() -> Iterator[Checkpoint]:
    """Every extra with the versions of its packages, or how to install what is missing."""
    for extra, packages in sorted(_read_extras().items()):
        versions = {name: _find_version(name) for name in packages}
        missing = [name for name, version in versions.items() if version is None]
        about = f"extra {extra}"
        if missing:
            yield Checkpoint(about, "absent", f"pip install 'ragstone[{extra}]' ({', '.join(missing)})")  # fmt: skip
        else:
            found = ", ".join(f"{name} {version}" for name, version in versions.items())
            yield Checkpoint(about, "ok", found)


def _read_extras() -> dict[str, list[str]]:
    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("ragstone") or ():
        wanted = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        name = re.match(r"[\w.-]+", requirement)
        # the extra of developers is no feature
        if wanted and name and wanted[1] != "dev":
            extras.setdefault(wanted[1], []).append(name[0])
    return extras


def _find_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _check_store(place: str | None) -> Checkpoint:
    """Whether the store opens; one that is not there yet is made by the first run."""
    address = place or default_place()
    is_file = "://" not in address
    path = Path(address).expanduser()
    if is_file and not path.exists():  # opening would make it
        folder = next(parent for parent in path.resolve().parents if parent.exists())
        if os.access(folder, os.W_OK):
            return Checkpoint("store", "absent", f"{path}: made by the first run")
        return Checkpoint("store", "bad", f"{path}: {folder} is not writable")
    try:
        store = Store.open(address)
        count = len(store.runs())
    except RagstoneError as error:
        return Checkpoint("store", "bad", str(error))
    notes = [format_count(count, "run")]
    if is_file:
        notes.append(f"{path.stat().st_size / 1e6:.1f} MB")
        if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            notes.append("other accounts of this machine may read it: chmod 600")
    return Checkpoint("store", "ok", f"{store.place} ({', '.join(notes)})")


def _check_judge(settings: Any) -> Iterator[Checkpoint]:
    """Whether the judge can be made, has its key, and whether its server accepts a connection."""
    missing_keys: list[str] = []
    try:
        judge = make_judge(settings, missing_keys=missing_keys)
    except RagstoneError as error:
        yield Checkpoint("judge", "bad", str(error))
        return
    yield Checkpoint("judge", "bad" if missing_keys else "ok", "; ".join(missing_keys) or judge.name)  # fmt: skip
    for member in getattr(judge, "members", [judge]):
        client = getattr(getattr(member, "model", None), "client", None)
        if client is not None:
            yield _check_server(client.base_url.url)
    asyncio.run(judge.close())


def _check_prices(today: date) -> Checkpoint:
    """How old the list prices are, which estimates and budgets of APIs are computed by."""
    known = f"{len(PRICES)} models, as of {PRICES_DATE}"
    if today - PRICES_DATE <= MAX_PRICE_AGE:
        return Checkpoint("prices", "ok", known)
    return Checkpoint("prices", "old", f"{known}; give the judge `prices: {{input: …, output: …}}`")


def _check_server(url: str) -> Checkpoint:
    """Whether a connection is accepted; nothing is sent over it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)

    async def connect() -> None:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_SECONDS)
        writer.close()
        await writer.wait_closed()

    try:
        asyncio.run(connect())
    except (OSError, TimeoutError):
        return Checkpoint("server", "bad", f"{host}:{port} accepts no connection; is it running?")
    return Checkpoint("server", "ok", f"{host}:{port} accepts connections")
