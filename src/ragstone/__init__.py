"""ragstone."""
