"""Folders that `save_to_disk` of Hugging Face datasets wrote, and logs of Inspect packed as `.eval`."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ragstone.data.limits import MAX_ROW_BYTES, ROW_TOO_LONG, check_unpacked
from ragstone.data.parquet_reader import split_batch
from ragstone.data.sources import RawRow, RejectedRow, RowSource, to_table_row, translate_errors
from ragstone.errors import DataError, MissingExtra


def open_saved_dataset(source: str) -> RowSource | None:
    """Open the folder of a dataset, or of a DatasetDict with one split; None when it is another folder."""
    folder = Path(source)
    if not folder.is_dir():
        return None
    if (folder / "dataset_dict.json").is_file():
        splits = json.loads((folder / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
        if len(splits) != 1:
            raise DataError(
                f"{source!r} has the splits {', '.join(splits)}; name one: {folder / splits[-1]}"
            )
        folder = folder / splits[0]
    if not (folder / "state.json").is_file():
        return None
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    files = [folder / item["filename"] for item in state.get("_data_files") or ()]
    return RowSource(source, lambda: _read_arrow(files), "table")


def _read_arrow(files: list[Path]) -> Iterator[RawRow]:
    try:
        import pyarrow.ipc
    except ImportError:
        raise MissingExtra("reading a saved dataset", "parquet") from None
    number = 0
    for file in files:
        with translate_errors(str(file)), pyarrow.ipc.open_stream(str(file)) as stream:
            for batch in stream:
                for row in split_batch(batch):
                    number += 1
                    yield f"{file}: row {number}", to_table_row(row)


def open_inspect_log(source: str) -> RowSource | None:
    """Open the samples of a packed Inspect log; None when the file is none."""
    if not source.endswith(".eval") or not zipfile.is_zipfile(source):
        return None
    return RowSource(source, lambda: _read_inspect_samples(source))


def _read_inspect_samples(source: str) -> Iterator[RawRow]:
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        packed = sum(member.compress_size for member in members)
        check_unpacked(sum(member.file_size for member in members), packed, source)
        names = sorted(member.filename for member in members)
        for name in (name for name in names if name.startswith("samples/")):
            if archive.getinfo(name).file_size > MAX_ROW_BYTES:
                yield f"{source}: {name}", RejectedRow(ROW_TOO_LONG)
                continue
            try:
                text = archive.read(name).decode()
            except NotImplementedError:  # zstandard, which Python unpacks from 3.14 on
                raise DataError(
                    f"{source!r} is packed in a way that this Python cannot read; convert it: "
                    "inspect log convert --to json --output-dir FOLDER FILE"
                ) from None
            yield f"{source}: {name}", text.replace("\n", " ")
