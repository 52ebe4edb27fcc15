"""What calls cost: list prices, prices of the config, estimates."""

from __future__ import annotations

import pytest

from ragstone.judges.prices import (
    CHARACTERS_PER_TOKEN,
    PRICES,
    compute_usage,
    estimate_usd,
    find_price,
)

MODEL = "gemini-2.5-pro"


@pytest.mark.parametrize("suffix", ["", "-latest", "-20250101", "-2025-01-01"])
@pytest.mark.parametrize("vendor", ["", "google/"])
def test_a_dated_version_has_the_price_of_its_model(vendor: str, suffix: str) -> None:
    assert find_price(vendor + MODEL + suffix) == PRICES[MODEL]


def test_a_model_that_only_begins_like_a_known_one_has_no_price() -> None:
    assert find_price(MODEL + "-mini") is None
    assert compute_usage(None, 10, 10).usd == 0.0


def test_a_configured_price_wins() -> None:
    price = find_price(MODEL, {"input": 2.0, "output": 4.0})
    assert price == (2.0, 4.0)
    usage = compute_usage(price, 1_000_000, 500_000)
    assert (usage.calls, usage.usd) == (1, 4.0)
    assert estimate_usd(price, round(1_000_000 * CHARACTERS_PER_TOKEN), 500_000) == 4.0


def test_the_list_prices_are_those_of_genai_prices() -> None:
    prices = pytest.importorskip(
        "genai_prices", reason="genai-prices is not installed (make test-all)"
    )
    makers = {"gpt": "openai", "o3": "openai", "o4": "openai", "text": "openai", "claude": "anthropic", "gemini": "google"}  # fmt: skip
    for model, (input_price, output_price) in PRICES.items():
        maker = makers[model.partition("-")[0]]
        found = [
            prices.calc_price(prices.Usage(**used), model_ref=model, provider_id=maker).total_price
            for used in ({"input_tokens": 1000}, {"output_tokens": 1000})
        ]
        wanted = pytest.approx((input_price, output_price))
        assert tuple(float(price) * 1000 for price in found) == wanted, model
