"""A linter of the project's English: grammar and spelling by Harper, and the phrases in `banned.toml`.

``python -m prose`` checks the hand-written pages, the docstrings, the help of the command line and the documentation
comments in Rust, from which the other pages are generated. `words.txt` lists the words that Harper does not know; each
must occur. `off.txt` lists the rules that misread technical prose.
"""
