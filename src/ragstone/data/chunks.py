"""Documents, nodes and chunks of LangChain, LlamaIndex and Haystack, known by their fields without importing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MISSING: Any = object()
"""What `get_first` returns when a value has none of the names."""
CHUNK_TEXT_KEYS = ("text", "page_content", "content", "passage", "chunk", "body")
"""Keys and attributes of a chunk that hold its text."""
_DOCUMENT_ID_KEYS = ("id", "doc_id", "document_id", "source_id")
"""Keys of a chunk's metadata that name its document."""
_CHUNK_ID_KEYS = ("id", "ref_doc_id", "doc_id", "document_id", "id_", "node_id")
_FILE_KEYS = ("source", "file_path", "file_name", "path", "url")


def get_first(value: Any, names: Iterable[str]) -> Any:
    """Return the first of these keys or attributes that is not None; None if all are None, else MISSING."""
    result = MISSING
    for name in names:
        if isinstance(value, Mapping):
            item = value.get(name, MISSING)
        else:
            item = getattr(value, name, MISSING)
            if callable(item):  # a method of that name is not the value of a field
                item = MISSING
        if item is not MISSING:
            if item is not None:
                return item
            result = None
    return result


def is_framework_document(value: Any) -> bool:
    """Whether an object is a document, or a scored node, of one of the frameworks."""
    if isinstance(value, Mapping | str | type):
        return False
    has_text = any(hasattr(value, name) for name in ("page_content", "get_content", "content"))
    has_meta = any(hasattr(value, name) for name in ("metadata", "meta"))
    node = getattr(value, "node", None)
    return (has_text and has_meta) or (node is not None and is_framework_document(node))


def unwrap_node(item: Any) -> Any:
    """The node inside a scored node (LlamaIndex); any other chunk unchanged."""
    node = get_first(item, ("node",))
    return item if node is MISSING or node is None or isinstance(node, str) else node


def find_text(item: Any) -> str:
    """The text of a document or chunk; empty when it has none."""
    text = get_first(item, CHUNK_TEXT_KEYS)
    if not isinstance(text, str):
        get_content = getattr(item, "get_content", None)
        text = get_content() if callable(get_content) else ""
    return str(text)


def get_metadata(item: Any) -> Mapping[str, Any]:
    """The metadata of a document or chunk."""
    meta = get_first(item, ("metadata", "meta"))
    return meta if isinstance(meta, Mapping) else {}


def find_document_id(item: Any) -> Any:
    """The id of the document that contains a chunk, else the id of the chunk, else its file; None without any."""
    metadata = get_metadata(item)
    # the id of the document before that of the chunk: relevance judgements are about documents
    for source, names in (
        (metadata, _DOCUMENT_ID_KEYS),
        (item, _CHUNK_ID_KEYS),
        (metadata, _FILE_KEYS),
    ):
        value = get_first(source, names)
        if value is not MISSING and value is not None and not callable(value):
            return value
    return None
