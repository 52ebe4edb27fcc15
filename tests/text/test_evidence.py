"""A quote counts only where it stands in the text."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import evidence
from ragstone.text.evidence import find_quote


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("born in Ulm", "He was born in Ulm, Germany.", "born in Ulm"),
        ("BORN  in\nulm", "He was born in Ulm.", "born in Ulm"),
        ("“born in Ulm”", "He was born in Ulm.", "born in Ulm"),
        ("it's here", "and it’s here.", "it’s here"),
        ("1914-1918", "the war of 1914–1918 ended", "1914–1918"),
        ("cafe\u0301", "el café cerró", "café"),
        ("café", "el cafe\u0301 cerró", "cafe\u0301"),
        ("zero width", "a zero\u200b width gap", "zero\u200b width"),
        ("fine", "a ﬁne day", "ﬁne"),
        ("東京は", "今日の東京は晴れ", "東京は"),
        ("straße", "die STRASSE hier", "STRASSE"),
    ],
)
def test_a_quote_is_found_where_it_stands(quote: str, text: str, found: str) -> None:
    span = find_quote(quote, text)
    assert span is not None
    assert text[span[0] : span[1]] == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "text"),
        ("…", "text … text"),
        ("'\"", "text"),
        ("1879", "in 18790 pieces"),
        ("art", "a party"),
        ("born in Bonn", "born in Ulm"),
        ("text", ""),
        ("born … Ulm", "born in Ulm"),
    ],
)
def test_a_quote_that_does_not_stand_there_is_refused(quote: str, text: str) -> None:
    assert find_quote(quote, text) is None


def test_a_later_whole_word_is_found_after_a_part_of_a_word() -> None:
    assert find_quote("art", "a party of art") == (11, 14)


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=40))
def test_a_part_between_spaces_is_always_found_or_has_no_word(a: str, b: str, c: str) -> None:
    text = f"{a} {b} {c}"
    span = find_quote(b, text)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)
        assert find_quote(text[span[0] : span[1]], text) is not None
    elif b.isascii():
        assert not any(x.isalnum() for x in b)


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "B",
                "é",
                "É",
                "ß",
                "ñ",
                "“",
                "'",
                "`",
                "-",
                "—",
                "1",
                ".",
                "\n",
                "\t",
                "\xa0",
                "st",
                "tt",
                "xyz",
                "ZZ",
            ]
        ),
        max_size=30,
    ),
    st.integers(0, 20),
    st.integers(1, 12),
)
def test_the_short_way_finds_what_the_long_way_finds(
    parts: list[str], start: int, size: int
) -> None:
    text = "".join(parts)
    quote = text[start : start + size]
    short = find_quote(quote, text)
    # an invisible character at the end of the text makes it take the long way
    assert find_quote(quote, text + " \u200b") == short


def test_a_search_with_borders_written_into_the_text_finds_what_trying_each_match_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = random.Random(23)
    cases = []
    for alphabet in ("ab ", "ab  \n", "aé ", "中a ", "a_1 ", "A‘b \0"):
        for _ in range(60):
            text = "".join(generator.choices(alphabet, k=30))
            start = generator.randrange(30)
            cases.append((text[start : start + generator.randint(1, 8)], text))
    tried = [find_quote(*case) for case in cases]
    find_quote.cache_clear()
    monkeypatch.setattr(evidence, "MATCHES_TRIED", 0)
    assert [find_quote(*case) for case in cases] == tried
    assert sum(span is not None for span in tried) > 100


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a", "a"),
        ("ba ", "ba "),
        ("a ", "a  "),
        ("é", "\u200bé"),
        ("\u0301\u0327", "\u0301\u0327"),
    ],
)
def test_time_grows_with_the_length_of_a_repetitive_text_and_not_with_its_square(
    quote: str, text: str
) -> None:
    def measure(size: int) -> float:
        wanted, searched = "a" + quote * (size // 9) + "b", text * (size // len(text))
        start = time.process_time()
        assert find_quote(wanted[:-1] + "a", searched) is None or text == "a"
        assert find_quote(wanted, searched) is None
        return time.process_time() - start

    measure(1000)
    # 16 times the length: a search that is quadratic takes 256 times as long
    # two different sizes: an equal pair would be found in the cache
    assert measure(80_000) < 80 * max(0.001, min(measure(5000), measure(5200)))
