#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails, naming file and line, where a page or source names a file of the tree that is not there.

    tests/checks/links.py [ROOT]

Checked are the relative links of all Markdown files, with their anchors, every path below one of the
folders of the tree that Markdown, scripts and sources mention, and the names of sources (grid.hpp) in
comments. Names with a word in capitals (voxel_pcg_OPERATOR.cpp) or a pattern (tests/*.py) stand for
many.
"""
import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
folders = [name for name in ("apps", "bench", "cmake", "core", "docs", "examples", "kernels",
                             "python", "scripts", "solvers", "tests") if (root / name).is_dir()]
suffixes = {".md", ".hpp", ".cpp", ".py", ".sh", ""}
path_in_text = re.compile(r"(?<![\w./~$}>-])((?:%s)/[\w./-]*\w)(?![\w<*{$(])" % "|".join(folders))
name_in_comment = re.compile(r"(?<![\w./<>*}-])\w+\.(?:hpp|cpp)\b")
link_in_text = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
complaints = []


def sources():
    for name in sorted(os.listdir(root)):
        path = root / name
        if path.is_file() and path.suffix == ".md":
            yield path
        elif name in folders:
            for folder, names, files in os.walk(path):
                names[:] = sorted(n for n in names if n != "__pycache__")
                for file in sorted(files):
                    if pathlib.Path(file).suffix in suffixes:
                        yield pathlib.Path(folder, file)


def prose(path):
    """The numbered lines of a Markdown file outside fenced code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(path):
    """Those that GitHub gives the headings of a page."""
    found = set()
    for _, line in prose(path):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1].strip().lower())
            name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            if name in found:
                complaints.append(f"{path.relative_to(root)}: two headings are called {heading[1]}")
            found.add(name)
    return found


def check_links(path, known={}):
    for number, line in prose(path):
        for link in link_in_text.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            if not target.exists():
                complaints.append(f"{path.relative_to(root)}:{number}: no file {link}")
                continue
            if anchor and target.suffix == ".md":
                if target not in known:
                    known[target] = anchors(target)
                if anchor not in known[target]:
                    complaints.append(f"{path.relative_to(root)}:{number}: no heading {link}")


def check_paths(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix in (".hpp", ".cpp"):
            for name in name_in_comment.findall(line.partition("//")[2]):
                if name not in base_names:
                    complaints.append(f"{path.relative_to(root)}:{number}: no file {name}")
        for name in path_in_text.findall(line):
            stands_for_many = any(re.search(r"[A-Z]{3}", part) and part != "README.md"
                                  for part in re.split(r"[/_]", name))
            if not stands_for_many and not (root / name).exists():
                complaints.append(f"{path.relative_to(root)}:{number}: no file {name}")


base_names = {source.name for source in sources()}
for source in sources():
    try:
        if source.suffix == ".md":
            check_links(source)
        check_paths(source)
    except UnicodeDecodeError:
        pass # a binary file
for complaint in complaints:
    print(complaint, file=sys.stderr)
sys.exit(1 if complaints else 0)
