"""Prices of models, in USD per million tokens; a config may give its own, since list prices change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from ragstone.types import Usage

PRICES: dict[str, tuple[float, float]] = {
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.4, 1.6),
    "gpt-4.1-nano": (0.1, 0.4),
    "gpt-5": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.4),
    "gpt-5.1": (1.25, 10.0),
    "gpt-5.2": (1.75, 14.0),
    "gpt-5.3": (1.75, 14.0),
    "gpt-5.4": (2.5, 15.0),
    "gpt-5.4-mini": (0.75, 4.5),
    "gpt-5.4-nano": (0.2, 1.25),
    "gpt-5.5": (5.0, 30.0),
    "gpt-5.6-luna": (0.2, 1.2),
    "gpt-5.6-sol": (4.0, 20.0),
    "gpt-5.6-terra": (2.0, 12.0),
    "gpt-6-astra": (10.0, 50.0),
    "gpt-6-luna": (0.1, 0.5),
    "gpt-6-sol": (2.0, 10.0),
    "gpt-6.1-sol": (2.0, 10.0),
    "gpt-6.1-terra": (1.0, 5.0),
    "o3": (2.0, 8.0),
    "o4-mini": (1.1, 4.4),
    "text-embedding-3-small": (0.02, 0.0),
    "text-embedding-3-large": (0.13, 0.0),
    "claude-opus-4-1": (15.0, 75.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-6": (5.0, 25.0),
    "claude-opus-4-7": (5.0, 25.0),
    "claude-opus-4-8": (5.0, 25.0),
    "claude-opus-5": (5.0, 25.0),
    "claude-opus-5-5": (4.0, 20.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-sonnet-4-6": (3.0, 15.0),
    "claude-sonnet-5": (2.0, 10.0),
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-haiku-5-5": (0.1, 0.5),
    "claude-3-5-haiku": (0.8, 4.0),
    "gemini-2.0-flash": (0.1, 0.4),
    "gemini-2.5-pro": (1.25, 10.0),
    "gemini-2.5-flash": (0.3, 2.5),
    "gemini-2.5-flash-lite": (0.1, 0.4),
    "gemini-3-pro-preview": (2.0, 12.0),
    "gemini-3.1-pro-preview": (2.0, 12.0),
    "gemini-3.1-flash-lite": (0.25, 1.5),
    "gemini-3.5-flash": (1.5, 9.0),
    "gemini-3.5-flash-lite": (0.3, 2.5),
    "gemini-3.6-flash": (0.75, 3.75),
    "gemini-3.7-flash": (0.75, 3.75),
    "gemini-3.8-flash": (0.75, 3.75),
    "gemini-4-argon": (2.0, 10.0),
}
"""Model → (input, output): vendors' list prices of short prompts, without discounts for caching or batches; those of
genai-prices 0.2.3, which a test compares where that package is installed."""

PRICES_DATE = date(2026, 11, 20)
"""When the prices were last compared."""
MAX_PRICE_AGE = timedelta(days=180)
"""After that `ragstone doctor` says how old they are."""

Price = tuple[float, float]
"""USD per million input and output tokens."""

CHARACTERS_PER_TOKEN = 3.5
"""For every estimate before a call: of English and Spanish prose, the usual tokenizers make a token of 3 to 4."""


def find_price(model: str, configured: Mapping[str, float] | None = None) -> Price | None:
    """Return the price from the config, else the list price of the model or of the model it is a dated version of."""
    if configured is not None:
        return float(configured.get("input", 0.0)), float(configured.get("output", 0.0))
    return PRICES.get(model) or PRICES.get(_VERSION_SUFFIX.sub("", model.rpartition("/")[2]))


def compute_usd(price: Price, input_tokens: float, output_tokens: float) -> float:
    """Return what tokens cost at a price."""
    return (input_tokens * price[0] + output_tokens * price[1]) / 1e6


def compute_usage(price: Price | None, input_tokens: int, output_tokens: int) -> Usage:
    """Return the usage of one call; 0 USD when the price is unknown."""
    usd = compute_usd(price, input_tokens, output_tokens) if price else 0.0
    return Usage(1, input_tokens, output_tokens, usd)


def estimate_usd(price: Price | None, characters: int, output_tokens: int) -> float:
    """Estimate what a call will cost before it is made."""
    return compute_usd(price, characters / CHARACTERS_PER_TOKEN, output_tokens) if price else 0.0


_VERSION_SUFFIX = re.compile(r"-(?:latest|\d{8}|\d{4}-\d{2}-\d{2})$")
