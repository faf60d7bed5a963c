"""Commands of a shell script, with its variables filled in, as far as they are plain."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from aqmlab.foreign.model import Place, Unreadable

_ASSIGNED = re.compile(r"(?:export |local |readonly |declare (?:-\w+ )?)?\s*([A-Za-z_]\w*)=(.*)")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*|\d)(?::?[-=]([^}]*))?\}|([A-Za-z_]\w*))")
_REDIRECTION = re.compile(r"\s*[0-9]?>&?\s*(?:/dev/null|[0-9])|\s*&>\s*/dev/null")
_SUM = re.compile(r"\$\(\(([-+*/%() 0-9]*)\)\)|\$\[([-+*/%() 0-9]*)\]")
_PROMPT = re.compile(r"^(?:\+ +|[\w.@~:/-]*[$#] +(?=(?:sudo +)?(?:/\S*/)?(?:tc|ip|ethtool|mm-\w+)\b))")


@dataclass(frozen=True)
class Command:
    """A command: its words, and where it stands."""

    words: tuple[str, ...]
    place: Place

    @property
    def text(self) -> str:
        """The words as a line."""
        return " ".join(self.words)


def joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with those that continue them, each with the number of its first."""
    held, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first if held else number
        if line.rstrip().endswith("\\"):
            held += line.rstrip()[:-1] + " "
            continue
        yield first, held + line
        held = ""
    if held:
        yield first, held


def commands(name: str, text: str, programs: re.Pattern[str]) -> Iterator[Command]:
    """Yield the commands of some programs; raise `Unreadable` for one with a variable whose value is not known.

    Branches and loops are not followed: their commands are taken once, in the order of the file.
    """
    variables: dict[str, str] = {}
    for number, whole in joined(text):
        place = Place(name, number)
        for part in _parts(_PROMPT.sub("", whole.strip())):
            part = re.sub(r"^(?:(?:then|else|do|if|elif|while|sudo|\w+ *\( *\) *\{|\{|!)\s+)+", "", part.strip())
            if assigned := _ASSIGNED.fullmatch(part):
                raw = _filled(re.sub(r"\s+#.*", "", assigned[2]), variables)
                try:
                    words = shlex.split(raw, comments=True)
                except ValueError:
                    words = []
                if len(words) < 2 and "$(" not in raw and "`" not in raw and not _VARIABLE.search(raw):
                    variables[assigned[1]] = words[0] if words else ""
                else:
                    variables.pop(assigned[1], None)
                continue
            filled = _filled(_REDIRECTION.sub("", part), variables)
            program = re.match(r"(?:\S*/)?([\w-]+)", filled)
            if not program or not programs.fullmatch(program[1]):
                continue
            if unknown := re.search(r"\$\{?\w+\}?|\$\(|`", filled):
                raise Unreadable(
                    place,
                    f"{unknown[0]} has no value in this file: write the value in its place, or give what "
                    "`tc -s -d qdisc show` and `tc -s -d class show` print once the script has run",
                )
            try:
                words = shlex.split(filled, comments=True)
            except ValueError as error:
                raise Unreadable(place, f"{filled}: {str(error).lower()}: complete the line") from None
            yield Command((program[1], *words[1:]), place)


def _parts(line: str) -> list[str]:
    """Split a line at ``;``, ``&&``, ``||`` and ``|``, outside of quotes."""
    return re.findall(r"""(?:"[^"]*"|'[^']*'|\\.|&(?!&)|[^;|&"'\\]|["'\\])+""", line)


def _filled(text: str, variables: dict[str, str]) -> str:
    for _ in range(5):
        filled = _VARIABLE.sub(lambda found: _value(found, variables), text)
        filled = re.sub(r"\$\(\([^$]*?\)\)", lambda each: _named(each[0], variables), filled)
        filled = _SUM.sub(lambda each: _sum(each[1] or each[2] or "", each[0]), filled)
        if filled == text:
            break
        text = filled
    return text


def _value(found: re.Match[str], variables: dict[str, str]) -> str:
    name = found[1] or found[3]
    return variables.get(name, found[2] if found[2] is not None else found[0])


def _named(text: str, variables: dict[str, str]) -> str:
    """Fill in the names of variables in a sum, which stand there without ``$``."""
    return re.sub(r"[A-Za-z_]\w*", lambda each: variables.get(each[0], each[0]), text)


def _sum(text: str, otherwise: str) -> str:
    """Compute a sum of whole numbers as a shell does."""
    if not re.fullmatch(r"[-+*/%() 0-9]+", text) or "**" in text or len(text) > 200:
        return otherwise
    try:
        return str(int(eval(text.replace("/", "//"), {"__builtins__": {}})))
    except (SyntaxError, ZeroDivisionError, ValueError, TypeError):
        return otherwise
