"""Prices of models, in USD per million tokens; a config may give its own, since list prices change."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
    "o3": (2.0, 8.0),
    "o4-mini": (1.1, 4.4),
    "text-embedding-3-small": (0.02, 0.0),
    "text-embedding-3-large": (0.13, 0.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-1": (15.0, 75.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-3-5-haiku": (0.8, 4.0),
    "gemini-2.5-pro": (1.25, 10.0),
    "gemini-2.5-flash": (0.3, 2.5),
    "gemini-2.5-flash-lite": (0.1, 0.4),
    "gemini-2.0-flash": (0.1, 0.4),
}
"""Model → (input, output): vendors' list prices as of late 2025, without discounts for caching or batches."""

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
