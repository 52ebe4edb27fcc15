"""reStructuredText as documentation has it, read as Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.documents import read_documents
from ragstone.data.rst import rst_to_text

PAGE = """
.. _pumps:

======
Pumps
======

The :doc:`valve </valve>` of a pump is opened by ``pump --open``; see `the shop <https://shop.example>`_.

Opening
-------

.. note::

   Close the *tap* first.

.. toctree::
   :maxdepth: 2

   other

Run this::

    pump --open

#. Open the tap.
#. Wait until
   it is full.

bar
   A unit of pressure.

.. option:: --open

   Open the valve of the pump.

.. A comment that nobody reads.
"""


def test_headings_code_links_and_entries_are_read() -> None:
    text, title = rst_to_text(PAGE)
    assert title == "Pumps"
    assert "# Pumps\n" in text
    assert "## Opening\n" in text
    assert "The valve of a pump is opened by `pump --open`; see the shop." in text
    assert "Close the *tap* first." in text
    assert "```\npump --open\n```" in text
    assert "1. Open the tap." in text
    assert "Wait until it is full." in text
    assert "bar\n: A unit of pressure." in text
    assert "`--open`\n: Open the valve of the pump." in text


@pytest.mark.parametrize("hidden", ["comment", "toctree", "maxdepth", "other", "_pumps", "====", "----", "https"])  # fmt: skip
def test_what_only_arranges_the_page_is_left_out(hidden: str) -> None:
    assert hidden not in rst_to_text(PAGE)[0]


@pytest.mark.parametrize("text", ["", "\n", "=", "::", "..", "a\n=", "=====\n", "x::\n", ".. note::", "- a\n  b", "term\n  "])  # fmt: skip
def test_odd_ends_are_no_error(text: str) -> None:
    read, title = rst_to_text(text)
    assert isinstance(read, str)
    assert title == ""


def test_a_folder_with_rst_is_read(tmp_path: Path) -> None:
    (tmp_path / "pumps.rst").write_text(PAGE, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert (document.id, document.title) == ("pumps.rst", "Pumps")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Pumps\n\nText.", "Pumps"),
        ("(pumps)=\n\n# Pumps\n", "Pumps"),
        ("<!-- a note -->\n[![badge](x.svg)](y)\n\n# Pumps #\n", "Pumps"),
        ('<a name="top"></a>\n\n# Pumps\n', "Pumps"),
        ("---\n\n# Pumps\n", "Pumps"),
        ("Pumps\n=====\n\nText.", "Pumps"),
        ("Text.\n\n# Later\n", "pumps"),
    ],
)
def test_the_title_of_markdown_is_the_heading_that_it_begins_with(
    tmp_path: Path, text: str, title: str
) -> None:
    (tmp_path / "pumps.md").write_text(text, encoding="utf-8")
    assert read_documents(tmp_path)[0].title == title


def test_a_glossary_is_a_list_of_entries() -> None:
    text, _ = rst_to_text(
        ".. glossary::\n\n   bar\n      A unit of pressure.\n\n   pump\n      Moves water.\n"
    )
    assert "bar\n: A unit of pressure." in text
    assert "pump\n: Moves water." in text


def test_a_label_without_words_is_put_in_brackets() -> None:
    text, _ = rst_to_text(
        "See :ref:`the valves <valves>`, :ref:`valves` and :class:`~pump.Valve`.\n"
    )
    assert text.strip() == "See the valves, [valves] and `pump.Valve`."


def test_an_item_that_is_nothing_but_a_link_is_written_as_one() -> None:
    text, _ = rst_to_text("* `All bugs <https://x.example/all>`_\n* See `the list <https://x.example/all>`_.\n")  # fmt: skip
    assert text.splitlines() == ["* [All bugs](https://x.example/all)", "* See the list."]
