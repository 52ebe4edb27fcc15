"""A model fetched from the hub: resumed where it broke off, its size and hash checked before it may be used.

huggingface_hub knows endpoint, token, metadata and addresses. The transfer is done here: since its version 1 that package
throws away what a broken download had, and it does not compare hashes."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError
from ragstone.judges.connection_errors import explain_connection_error
from ragstone.judges.local.catalogue import (
    FetchedModel,
    RecommendedModel,
    find_fetched,
    find_folder,
    save_manifest,
)
from ragstone.judges.secrets import parse_base_url

if TYPE_CHECKING:
    import aiohttp

MAX_BREAKS = 5
"""Broken connections in a row that brought nothing before a download is given up."""
BACKOFF_SECONDS = 1.0
BLOCK_BYTES = 1 << 20
LOCK_POLL_SECONDS = 0.2
"""Seconds between two looks at a download by another process."""
STALLED_SECONDS = 60.0
"""A connection that sends nothing for so long is broken."""

DownloadProgress = Callable[[int, int], None]
"""Called with the bytes that are here and those of the whole file."""


class FetchFailed(RagstoneError):
    """A model could not be fetched; what was transferred is kept for the next attempt unless it is wrong."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file on the hub, as its metadata describe it."""

    url: str
    headers: dict[str, str]
    revision: str
    size: int
    sha256: str


def fetch_model(
    model: RecommendedModel, on_progress: DownloadProgress = lambda done, total: None
) -> FetchedModel:
    """Fetch a model into the user's cache, or go on with a download that broke off; a model that is here is left alone.

    While another process fetches it, this one waits and shows how far that is."""
    fetched = find_fetched(model.name)
    if fetched is not None:
        return fetched
    remote = find_remote_file(model)
    folder = find_folder(model.name)
    part = folder / f"{model.file}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock_folder(folder, lambda: on_progress(_get_size(part), remote.size)):
            fetched = find_fetched(model.name)  # another process may have finished meanwhile
            if fetched is not None:
                return fetched
            _check_room(folder, remote.size - _get_size(part))
            asyncio.run(_download(remote, part, on_progress))
            part.replace(folder / model.file)
            fetched = FetchedModel(
                model.name, model.repository, remote.revision, model.file, remote.size, remote.sha256
            )  # fmt: skip
            save_manifest(fetched)
    except OSError as error:
        raise FetchFailed(_explain_disk(error, folder)) from None
    return fetched


@contextmanager
def _lock_folder(folder: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process; `wait` is called while another has it."""
    with folder.with_name(f".{folder.name}.lock").open("wb") as file:
        try:
            import fcntl
        except (
            ImportError
        ):  # Windows: an open file cannot be replaced there, so the second one fails
            yield
            return
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                wait()
                time.sleep(LOCK_POLL_SECONDS)
        yield


def _get_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def find_remote_file(model: RecommendedModel) -> RemoteFile:
    """Ask the hub for size, hash and address of a model's file."""
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
        from huggingface_hub.utils import build_hf_headers
    except ImportError:
        raise FetchFailed(
            "judge get needs huggingface_hub; pip install 'ragstone[local]'"
        ) from None
    hub = huggingface_hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    try:
        info = hub.model_info(model.repository, files_metadata=True)
    except OfflineModeIsEnabled:
        raise FetchFailed("HF_HUB_OFFLINE is set; unset it to fetch a model") from None
    except HfHubHTTPError as error:
        words = " ".join(str(error).split())[:200]
        raise FetchFailed(f"{hub.endpoint} refuses {model.repository}: {words}") from None
    except Exception as error:  # its HTTP library, and so its exceptions, change with its version
        words = " ".join(str(error).split())[:200]
        raise FetchFailed(
            f"{hub.endpoint} cannot be reached ({type(error).__name__}: {words}); "
            "is there a network? HF_ENDPOINT names a mirror"
        ) from None
    sibling = next((s for s in info.siblings or () if s.rfilename == model.file), None)
    if sibling is None or sibling.lfs is None or not sibling.size:
        raise FetchFailed(
            f"{model.repository} on {hub.endpoint} has no {model.file} with a size and a hash"
        )
    url = huggingface_hub.hf_hub_url(
        model.repository, model.file, revision=info.sha, endpoint=hub.endpoint
    )
    return RemoteFile(
        url, build_hf_headers(), str(info.sha), int(sibling.size), str(sibling.lfs.sha256)
    )


async def _download(remote: RemoteFile, part: Path, on_progress: DownloadProgress) -> None:
    """Transfer what is missing of a file; raises FetchFailed when it is not what the hub says."""
    import aiohttp

    transfer = _Transfer(remote, part, on_progress)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=STALLED_SECONDS)
    breaks = 0
    async with aiohttp.ClientSession(timeout=timeout, headers=remote.headers) as session:
        while transfer.done < remote.size:
            # the reason where a connection closes without an error
            before, reason = transfer.done, "nothing came"
            try:
                await transfer.go_on(session)
            except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
                reason = explain_connection_error(error, parse_base_url(remote.url), str)
            breaks = 0 if transfer.done > before else breaks + 1
            if breaks >= MAX_BREAKS:
                raise FetchFailed(
                    f"the download broke off after {transfer.done:,} of {remote.size:,} bytes: {reason}; "
                    "run it again to go on"
                )
            if transfer.done < remote.size:
                await asyncio.sleep(BACKOFF_SECONDS * (1 + breaks))
    transfer.check()


class _Transfer:
    """A file that is being written, with the hash of what is there."""

    def __init__(self, remote: RemoteFile, part: Path, on_progress: DownloadProgress) -> None:
        self.remote, self.part, self.on_progress = remote, part, on_progress
        self.digest = hashlib.sha256()
        self.done = 0
        if not part.exists():
            return
        if part.stat().st_size > remote.size:  # of another file
            part.unlink()
            return
        with part.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                self.digest.update(block)
                self.done += len(block)

    async def go_on(self, session: aiohttp.ClientSession) -> None:
        """Ask for what is missing and write it; a server that cannot begin in the middle begins anew."""
        headers = {"Range": f"bytes={self.done}-", "Accept-Encoding": "identity"}
        async with session.get(self.remote.url, headers=headers) as response:
            if response.status not in (200, 206):
                raise FetchFailed(
                    f"{response.url.host} answers HTTP {response.status} to the download; "
                    "run it again to go on"
                )
            if response.status == 200:
                self.digest, self.done = hashlib.sha256(), 0
            with self.part.open("r+b" if self.done else "wb") as file:
                file.seek(self.done)
                async for block in response.content.iter_chunked(BLOCK_BYTES):
                    file.write(block)
                    self.digest.update(block)
                    self.done += len(block)
                    self.on_progress(self.done, self.remote.size)
                    if self.done > self.remote.size:
                        return  # `check` then refuses the file

    def check(self) -> None:
        """Raise FetchFailed, and delete the file, when it is not the one that the hub describes."""
        remote = self.remote
        if self.done == remote.size and self.digest.hexdigest() == remote.sha256:
            return
        self.part.unlink()
        is_long = self.done != remote.size
        what = f"more than {remote.size:,} bytes" if is_long else "another hash"
        raise FetchFailed(
            f"what {parse_base_url(remote.url).host} sent is not the file that the hub describes ({what}); "
            "it was deleted"
        )


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"{needed / 1e9:.2f} GB are needed and {free / 1e9:.2f} free")


def _explain_disk(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"no room in {folder}: {error.strerror}; free some, and run it again to go on"
    return f"cannot write into {folder}: {error.strerror or error}"
