"""How a difference, the ends of its interval and a p-value are written; every report that compares uses these."""

from __future__ import annotations

from ragstone.report.words import Words


def format_signed(value: float | None, say: Words) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    text = say.number(abs(value), 3 if abs(value) < 10 else None)
    return text if value == 0 else ("+" if value > 0 else "−") + text


def format_signed_interval(low: float | None, high: float | None, say: Words) -> str:
    """The interval of a difference, its ends signed."""
    if low is None or high is None:
        return "–"
    return f"{format_signed(low, say)} – {format_signed(high, say)}"


def format_p_value(p: float | None, say: Words) -> str:
    """A p-value with as many digits as mean something."""
    if p is None:
        return "–"
    if p < 0.001:
        # The tests behind it resample or approximate; digits beyond the third mean nothing.
        return "<" + say.number(0.001, 3)
    return say.number(p, 3 if p < 0.1 else 2)


def format_amount(value: float, say: Words) -> str:
    """The size of a difference: two significant digits, three decimals at most."""
    if value >= 1:
        return say.number(value, 1 if value >= 10 else 2)
    # Not `say.number`: three fixed decimals would show a difference of 0.0004 as 0.000.
    text = f"{value:.2g}" if value >= 0.001 else f"{value:.1g}"
    return text.replace(".", say("decimal"))
