"""Prompt specs: how each kind of Ask is put to a language model and how its replies are checked."""
