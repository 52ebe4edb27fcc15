"""Builders: each turns one analysis into a document, a picture and plain data, which the formats write."""
