"""The words of a report in one language, from the catalogue, and how that language writes numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo

from ragstone.errors import RagstoneError
from ragstone.locale.catalogue import LANGUAGES, fill_phrase, find_phrase
from ragstone.locale.messages import render
from ragstone.types import Sample, Score


@dataclass(frozen=True, slots=True)
class Translator:
    """The phrases and number formats of one language, and the time zone that times are shown in.

    Whoever writes a report calls it `t`: `t("bounds", low=…)` is the phrase of that key with its values."""

    language: str
    zone: tzinfo = UTC

    def __call__(self, key: str, **values: object) -> str:
        """The phrase of that name with its values filled in."""
        phrase = find_phrase(self.language, key)
        if phrase is None:
            raise KeyError(key)
        return fill_phrase(phrase, values)

    def count(self, key: str, n: int) -> str:
        """`1 sample` or `1,200 samples`: the phrase with its number, singular or plural."""
        return self(f"{key}.one" if n == 1 else f"{key}.many", n=self.whole(n))

    def translate(self, group: str, word: str) -> str:
        """The translation of a word from a closed list, or the word itself when it is not on it."""
        return find_phrase(self.language, f"{group}.{word}") or word

    def name_run(self, name: str) -> str:
        """A run's name; that of a system as it was is in the language of the report."""
        return self.translate("run_name", name)

    def message(self, text: str) -> str:
        """A message in this language; a judge's, a system's or a user's own words as they are."""
        return render(text, self.language)

    def system_error(self, sample: Sample, scores: Mapping[str, Score]) -> str:
        """Why the system gave nothing: the message that a score keeps, else the text that stands in the data."""
        error = sample.error or ""
        reasons = (score.reason for score in scores.values())
        return self.message(next((reason for reason in reasons if reason == error), error))

    def outcome(self, name: str) -> str:
        """An outcome in words; `judge_error: refusal` names how the judge failed."""
        kind, _, fault = name.partition(": ")
        text = self.translate("outcome", kind)
        return f"{text}, {self.translate('fault', fault)}" if fault else text

    def axis_number(self, value: float) -> str:
        """A number beside an axis: four digits at most."""
        return f"{value:.4g}".replace(".", self("decimal"))

    def number(self, value: float | None, digits: int | None = None) -> str:
        """A score as it is read; a dash when there is none."""
        if value is None:
            return "–"
        text = f"{value:.{_choose_digits(value) if digits is None else digits}f}"
        if digits is None and 0 < abs(value) < 0.0005:
            text = f"{value:.2g}"
        if float(text) == 0:
            text = text.lstrip("-")  # "-0.000" reads as a negative score
        return text.replace(".", self("decimal"))

    def whole(self, value: int) -> str:
        """A count with its thousands set apart."""
        if self.language == "es":  # the Academy groups from five digits on, by a thin space
            return (
                f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
                if value > 9999
                else str(value)
            )
        return f"{value:,}"

    def percent(self, share: float, digits: int = 1) -> str:
        """A share of one as a percentage; never rounded up to 100 or down to 0."""
        scaled = share * 100
        text = f"{scaled:.{digits}f}"
        # 999 of 1,000 must not read as all of them, nor one of a million as none.
        if text == f"{100:.{digits}f}" and share < 1:
            text = f"{100 - 10**-digits:.{digits}f}"
        if float(text) == 0 and share > 0:
            text = f"{10**-digits:.{digits}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        return self("percent", value=text.replace(".", self("decimal")))

    def interval(self, low: float | None, high: float | None, digits: int | None = None) -> str:
        """Two ends with a dash between them; a lone dash when there is no interval."""
        if low is None or high is None:
            return "–"
        return f"{self.number(low, digits)} – {self.number(high, digits)}"

    def money(self, usd: float) -> str:
        """Dollars, with enough digits that a cheap run does not read as free."""
        # Zero is exact: a local judge costs nothing, and four decimals would hint at a rounded
        # price.
        digits = 2 if usd >= 1 or usd == 0 else 4
        text = self.number(usd, digits)
        if usd > 0 and float(f"{usd:.{digits}f}") == 0:
            text = "< " + self.number(0.0001, 4)
        return self("money", value=text)


def load_translator(language: str, zone: tzinfo = UTC) -> Translator:
    """The words of a language, by its code, with times in a zone."""
    code = language.split("-")[0].lower()
    if code not in LANGUAGES:
        raise RagstoneError(f"no reports in {language!r}; choose {' or '.join(LANGUAGES)}")
    return Translator(code, zone)


def _choose_digits(value: float) -> int:
    """Three decimals for shares, fewer for larger figures, so that columns stay narrow."""
    size = abs(value)
    return 3 if size < 10 else 2 if size < 100 else 1
