"""`ragstone demo`: the planted weakness is found, with evidence, and its repair is seen."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ragstone.data.demo import VERSIONS, load_answers

RETURNS = {"en": "returns", "es": "devoluciones"}


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_demo_names_the_planted_weakness_and_its_repair(call, tmp_path, language):
    result = call("demo", "--lang", language, "-o", "pages/demo.html")
    assert result.code == 0
    text = " ".join(result.out.split())
    fails = {"en": f"topic = {RETURNS['en']}: 9 of 9", "es": f"topic = {RETURNS['es']}: allí fallan 9 de 9"}  # fmt: skip
    assert fails[language] in text
    assert {"en": "a retrieval failure", "es": "un fallo de recuperación"}[language] in text
    missing = {
        "en": "Documents that hold the answer are not retrieved",
        "es": "No se recuperan los documentos",
    }
    assert missing[language] in text
    better = {"en": "version 2 is better than version 1 in", "es": "versión 2 es mejor que versión 1 en"}  # fmt: skip
    assert better[language] in text.replace("«", "").replace("»", "")
    # the slip that both versions share, decided by a quote
    quote = {"en": "A bank transfer must reach us within 5 days.", "es": "Una transferencia debe llegarnos en 5 días."}  # fmt: skip
    assert re.search(rf"(decided by payment|lo decide pago): .{quote[language]}", text)
    page = (tmp_path / "pages" / "demo.html").read_text()
    assert str(tmp_path / "pages" / "demo.html") in result.err
    for words in (*fails.values(),):
        assert (words in page) == (words == fails[language])
    ids = Counter(re.findall(r'\sid="([^"]+)"', page))
    assert [name for name, count in ids.items() if count > 1] == []


def test_the_versions_differ_in_the_weakness_alone():
    for language, topic in RETURNS.items():
        first, second = (load_answers(version, language) for version in VERSIONS)
        assert len(first) == len(second) == 36
        changed = [a["meta"]["topic"] for a, b in zip(first, second, strict=True) if a != b]
        assert changed == [topic] * 9
        retrieved = [{c["id"] for c in row["contexts"]} >= set(row["relevant"]) for row in second]
        assert all(retrieved)
        assert sum(row["answer"] != row["reference"] for row in second) == 1


def test_the_demo_is_a_page(call):
    assert "end it in .html" in call("demo", "-o", "demo.md").err
