"""What failure analysis and diagnosis say, in English and Spanish."""

from __future__ import annotations

FAILING: dict[str, tuple[str, str]] = {}
