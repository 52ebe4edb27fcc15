"""Test sets from documents: questions with references, evidence and proof, with or without an LLM."""
