"""The linter of the project's English finds mistakes, and what it knows is no mistake."""

from prose.check import violations
from prose.sources import Passage, doc_comments, docstring, page


def test_spelling_repetition_and_banned_phrases_are_found_at_their_line() -> None:
    found = violations([Passage("page.md", 3, "The queue recieves packets.\nIt is the the same.\nThe user is told.\n")])
    assert [line.split(": ")[0] for line in found] == ["page.md:3", "page.md:4", "page.md:5"]
    assert "'told': write returned" in found[2]


def test_the_field_s_words_code_and_mathematics_pass() -> None:
    text = "CoDel's goodput is 10 Mbit/s with `recieve` and $w \\bar{x}$; [LRED](recieve.md) drops packets.\n"
    assert violations([Passage("page.md", 1, page(text))]) == []


def test_numpydoc_s_names_and_types_are_no_prose() -> None:
    text = """Return the queue.

        Parameters
        ----------
        q_recieve : ndarray
            The queue.

        Returns
        -------
        ndarray
            The largest queue.
        """
    assert docstring(text).split() == ["Return", "the", "queue.", "The", "queue.", "The", "largest", "queue."]
    assert violations([Passage("file.py", 1, docstring(text))]) == []


def test_documentation_in_rust_is_read_at_its_line_without_code_identifiers_and_sources() -> None:
    source = """//! A queue recieves packets,
//! as recieve.cc and `recieve` do.
//!
//! ```text
//! p = recieve
//! ```
//!
//! # Sources
//! Floyd, Jacobson, Recieve of packets.

/// Drops with p_recieve if "recieve" is set.
fn f() {} // no documentation: recieve
    Signal { name: "p", doc: "The probability that is told." };
"""
    passages = list(doc_comments(source))
    assert [line for line, _ in passages] == [1, 11, 13]
    found = violations([Passage("red.rs", line, text) for line, text in passages])
    assert [line.split(": ")[:2] for line in found] == [["red.rs:1", "'recieves'"], ["red.rs:13", "'told'"]]
