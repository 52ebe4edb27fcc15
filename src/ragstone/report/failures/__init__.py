"""Why samples fail and what to do about it, as people read it: terminal, Markdown, HTML, JSON, a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.store import StoredRun

ENDINGS = (".html", ".md", ".json", ".svg", ".png")
"""What failures and a diagnosis can be written as."""


def write(
    failures: Failures,
    diagnoses: Sequence[Diagnosis] | None,
    run: StoredRun,
    path: str | os.PathLike[str],
    language: str = "en",
) -> None:
    """Write the analysis in the format of the path's extension."""
    import json

    from ragstone.report.drawing import files
    from ragstone.report.failures import html, markdown
    from ragstone.report.failures.sentences import picture
    from ragstone.report.files import write_text
    from ragstone.report.words import words

    ending = Path(path).suffix.lower()
    if ending == ".html":
        write_text(path, html.render(failures, diagnoses, run, language))
    elif ending == ".md":
        write_text(path, markdown.render(failures, diagnoses, run, language))
    elif ending == ".json":
        plain = failures.to_dict()
        if diagnoses is not None:
            plain["diagnosis"] = [one.to_dict() for one in diagnoses]
        text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
        write_text(path, text + "\n")
    elif ending in files.ENDINGS:
        files.write(picture(failures, words(language), files.WIDE), path)
    else:
        raise RagstoneError(
            f"{str(path)!r} names no format of this report; end it in one of {' '.join(ENDINGS)}"
        )
