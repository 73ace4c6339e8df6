# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the Python package as reStructuredText. They are plain text: paragraphs, examples that are indented by
four, and lines `name: what it is` for arguments, whose next lines are indented."""
import re

_ARGUMENT = re.compile(r"^([a-z_][a-z_0-9]*(?:, [a-z_][a-z_0-9]*)*(?:\([a-z_, ]*\))?): (.*)$")
_MARKED = re.compile(r"([\\*|`])")


def process(app, what, name, obj, options, lines):
    """For autodoc-process-docstring: changes `lines` in place."""
    lines[:] = translate(lines)


def translate(lines):
    out = []
    in_arguments = in_example = False
    for line in lines:
        text = line.strip()
        indented = line.startswith("    ")
        found = None if indented else _ARGUMENT.match(line)
        if not text:
            in_arguments = False
            out.append("")
        elif found:
            if not in_arguments:
                out.append("")
            out.append(f"* **{escape(found.group(1))}**: {escape(found.group(2))}")
            in_arguments, in_example = True, False
        elif indented and in_arguments:
            out.append("  " + escape(text))
        elif indented:
            if not in_example:
                out += ["::", ""]
            out.append(line)
            in_example = True
        else:
            if in_arguments or in_example:
                out.append("")
            in_arguments = in_example = False
            out.append(escape(line))
    return out


def escape(text):
    """Without marks of reStructuredText: stars, bars, backquotes, and underscores at the ends of words."""
    parts = re.split(r"`([^`]+)`", text)  # every second one is a name
    plain = [re.sub(r"_(?![A-Za-z0-9])", r"\\_", _MARKED.sub(r"\\\1", part)) for part in parts[::2]]
    return "".join(piece for pair in zip(plain, [f"``{name}``" for name in parts[1::2]] + [""]) for piece in pair)
