"""Templates of what a system is given: `{question}` and other placeholders in a text or a structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

HISTORY_KEYS = ("chat_history", "history")
"""Names of the input that takes the earlier turns."""
QUESTION_KEYS = ("question", "query", "input", "text", "prompt", "user_input", "query_text")
"""Names of the input that takes the question, the likeliest first."""


def ask_by_template(template: Any, call: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of the question that calls another with the filled template.

    It has a parameter for the earlier turns only where the template has a place for them."""
    if not has_history_placeholder(str(template)):
        return lambda question: call(fill_template(template, {"question": question}))

    def ask(question: str, history: Sequence[Mapping[str, str]] = ()) -> Any:
        messages = [*history, {"role": "user", "content": question}]
        values = {"question": question, "history": list(history), "messages": messages}
        return call(fill_template(template, values))

    return ask


def has_history_placeholder(text: str) -> bool:
    """Whether a template has a place for the earlier turns."""
    return "{history}" in text or "{messages}" in text


def fill_template(template: Any, values: Mapping[str, Any]) -> Any:
    """Replace `{name}` in a template by its value, of any type where the text is the placeholder alone, else as text.

    Braces around any other name are left as they are: templates are often JSON or code."""
    if isinstance(template, Mapping):
        return {key: fill_template(item, values) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(item, values) for item in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template[1:-1] in values and template == "{" + template[1:-1] + "}":
        return values[template[1:-1]]
    parts, index = [], 0
    # one pass, so that braces in a question are never taken for a placeholder
    while index < len(template):
        end = template.find("}", index) if template[index] == "{" else -1
        if end > 0 and template[index + 1 : end] in values:
            parts.append(_to_text(values[template[index + 1 : end]]))
            index = end + 1
        else:
            parts.append(template[index])
            index += 1
    return "".join(parts)


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
