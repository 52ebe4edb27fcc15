"""How a difference, the ends of its interval and a p-value are written; every report that compares uses these."""

from __future__ import annotations

from ragstone.report.translator import Translator


def format_signed(value: float | None, t: Translator) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    text = t.number(abs(value), 3 if abs(value) < 10 else None)
    return text if value == 0 else ("+" if value > 0 else "−") + text


def format_signed_interval(low: float | None, high: float | None, t: Translator) -> str:
    """The interval of a difference, its ends signed."""
    if low is None or high is None:
        return "–"
    return f"{format_signed(low, t)} – {format_signed(high, t)}"


def format_p_value(p: float | None, t: Translator) -> str:
    """A p-value with as many digits as mean something."""
    if p is None:
        return "–"
    if p < 0.001:
        # The tests behind it resample or approximate; digits beyond the third mean nothing.
        return "<" + t.number(0.001, 3)
    return t.number(p, 3 if p < 0.1 else 2)


def format_amount(value: float, t: Translator) -> str:
    """The size of a difference: two significant digits, three decimals at most."""
    if value >= 1:
        return t.number(value, 1 if value >= 10 else 2)
    # Not `t.number`: three fixed decimals would show a difference of 0.0004 as 0.000.
    text = f"{value:.2g}" if value >= 0.001 else f"{value:.1g}"
    return text.replace(".", t("decimal"))
