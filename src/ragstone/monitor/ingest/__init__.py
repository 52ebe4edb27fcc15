"""Ingest: interactions from SDK calls, log files and OpenTelemetry traces, validated and redacted before they are stored."""
