"""The data of `ragstone demo`: a small shop's assistant in two versions, the first with a planted weakness.

A question of `shop.<language>.yaml` is a row of topic, document that holds the answer, two other documents, question,
right answer, and the wrong answer of a version that goes wrong. With two other documents, version 1 retrieves those
instead of the right one; with one, both versions retrieve the right one first, and a wrong answer is given by both."""

from __future__ import annotations

from importlib import resources
from typing import Any

VERSIONS = (1, 2)


def load_answers(version: int, language: str = "en") -> list[dict[str, Any]]:
    """The questions with what a version of the assistant retrieved and answered, as rows of a data file."""
    import yaml

    text = resources.files(__name__).joinpath(f"shop.{language}.yaml").read_text(encoding="utf-8")
    shop = yaml.safe_load(text)
    documents: dict[str, str] = shop["documents"]
    rows = []
    for number, question in enumerate(shop["questions"], 1):
        topic, source, other, instead, asked, right, wrong = question
        misses_source = bool(instead) and version == 1
        is_wrong = bool(wrong) and (misses_source or not instead)
        retrieved = (other, instead) if misses_source else (source, other)
        rows.append(
            {
                "id": f"q{number:02}",
                "question": asked,
                "answer": wrong if is_wrong else right,
                "contexts": [{"id": name, "text": documents[name]} for name in retrieved],
                "reference": right,
                "relevant": [source],
                "language": language,
                "meta": {"topic": topic},
            }
        )
    return rows
