#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's filter of Markdown; prints the file named by the only argument.

Headings get labels and relative links become references to them, so that a link that leads nowhere
is an error; links to files that are not pages become plain text.
"""
import os
import re
import sys


def label(path):
    return re.sub(r"[^A-Za-z0-9]", "_", path[:-len(".md")])


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def markdown(lines, path):
    def target(match):
        image, text, link = match.groups()
        text = text.replace("`", "") # which Doxygen does not read in the text of a link
        if re.match(r"[a-z]+:", link):
            return match.group(0)
        page, _, anchor = link.partition("#")
        page = os.path.normpath(os.path.join(os.path.dirname(path), page)) if page else path
        if image:
            return f"![{text}]({os.path.basename(page)})"
        if os.path.isdir(page):
            page = os.path.join(page, "README.md")
        if not page.endswith(".md") or not (page == "README.md" or page.startswith("docs/")):
            return text
        page = label(page) if page != "README.md" else "mainpage" if anchor else "index"
        return f"[{text}](@ref {page}{'-' + anchor if anchor else ''})"

    fenced = False
    titled = False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
        heading = re.match(r"(#+) +(.*)", line)
        if fenced or line.startswith("    "):
            pass
        elif heading:
            name = label(path) if path != "README.md" else "mainpage"
            if len(heading[1]) > 1 or titled:
                name += "-" + slug(heading[2])
            titled = True
            line = f"{heading[1]} {heading[2]} {{#{name}}}\n"
        else:
            # Doxygen takes "operator" and the tag that ends code for operator<: keep them apart.
            line = line.replace("operator`", "operator\u200b`")
            # Behind a single backtick an apostrophe would end the code.
            line = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line)
            line = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", target, line)
        yield line


def main():
    path = os.path.relpath(sys.argv[1])
    sys.stdout.reconfigure(encoding="utf-8")
    with open(path, encoding="utf-8") as file:
        sys.stdout.writelines(markdown(file, path))


main()
