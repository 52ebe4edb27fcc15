"""Test sets: questions with references, evidence and proof, from documents, from logs of what people asked, or by a judge."""
