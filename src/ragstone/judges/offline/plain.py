"""A short answer in plain letters and digits: broken UTF-8 mended, number words and numerals as numbers. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def plain(text: str) -> str:
    """The text with its variants of writing taken back."""
    text = mended(text).replace("\xa0", " ").replace(" ,", ",")
    text = _SPELLED.sub(lambda match: match.group().replace("-", "").capitalize(), text)
    text = _ESTADOS.sub("Estados Unidos", _STATES.sub("United States", text))
    text = _DOTTED.sub(lambda match: re.sub(r"[.\s]", "", match.group()).upper() + " ", text)
    text = _ROMAN.sub(lambda match: f"{match[1]}{_roman(match[2])}", text)
    # letters that only look like others (ſ, ı) are matched and yet not known
    return _ORDINAL.sub(
        lambda match: str(_ORDINALS.get(match.group().lower(), match.group())), text
    )


def mended(text: str) -> str:
    """The text with UTF-8 that was read as Latin-1 or Windows-1252 put right: DÃ¡in is Dáin."""
    return text if text.isascii() else _BROKEN.sub(_decoded, text)


_LATE = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
"""What Windows-1252 has where Latin-1 has control characters."""
_NEXT = f"[\x80-\xbf{_LATE}]"
_BROKEN = re.compile(f"[\xc2-\xdf]{_NEXT}|[\xe0-\xef]{_NEXT}{{2}}|[\xf0-\xf4]{_NEXT}{{3}}")


def _decoded(match: re.Match[str]) -> str:
    found = match.group()
    try:
        return b"".join(
            bytes([ord(sign)]) if ord(sign) < 256 else sign.encode("cp1252") for sign in found
        ).decode("utf-8")
    except UnicodeDecodeError:
        return found


_SPELLED = re.compile(r"\b(?:[^\W\d_]-){2,}[^\W\d_]\b")
_STATES = re.compile(r"\bU\.?\s?S\.?\s?A\b\.?")
_ESTADOS = re.compile(r"\bEE\.?\s?UU\b\.?")
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.\s?)+[A-Za-z]\.(?!\s*[A-Z][a-z])")
"""Initials that no name follows."""
_ROMAN = re.compile(
    r"\b((?:[A-Z]\w+|siglo|century|part|parte|volume|tomo) )([IVX]{2,}|[IVX](?!\.))\b"
)


def _roman(numeral: str) -> str:
    """The number of a Roman numeral, or the letters when they are none."""
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in numeral]
    total = sum(-value if value < max(values[n:]) else value for n, value in enumerate(values))
    return str(total) if 0 < total < 40 else numeral


_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "one first uno primero primera primer",
            "second segundo segunda",
            "third tercero tercera tercer",
            "fourth cuarto cuarta",
            "fifth quinto quinta",
            "sixth sexto sexta",
            "seventh séptimo séptima",
            "eighth octavo octava",
            "ninth noveno novena",
            "tenth décimo décima",
            "eleventh undécimo undécima",
            "twelfth duodécimo duodécima",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ),
        1,
    )
    for word in words.split()
}
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
