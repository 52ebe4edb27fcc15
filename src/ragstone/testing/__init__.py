"""Checks of answers in tests: for pytest as the fixture `ragstone`, for unittest and scripts as a `Checker`."""

from ragstone.testing.checker import Checker, CheckFailed

__all__ = ["CheckFailed", "Checker"]
