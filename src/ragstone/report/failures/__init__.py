"""Phrases of the report on failures."""
