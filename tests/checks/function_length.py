#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails, naming file, line and length, where a function has more than 80 lines.

    tests/checks/function_length.py [ROOT [LINES]]

A function's lines run from the brace that opens its body to the brace that closes it. Lambdas and local
classes count to the function around them; namespaces, classes, enums and tables are no functions.
"""
import pathlib
import re
import sys

FOLDERS = ["core", "kernels", "solvers", "apps", "bench", "examples", "python", "tests"]
IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|\bR"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''  # literals
    r'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)  # directives
SCOPE = re.compile(r"(?:\w+\(\w*\) )*(?:template<.*> )?(?:inline )?"
                   r"(?:namespace|extern|class|struct|union|enum)\b")


def functions(text):
    """Yields (line, lines, head) of each function in a source; `head` is what stands before its brace."""
    text = IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    line, depth, head, opened = 1, 0, "", None
    scopes = []  # of the braces open around this place, outside functions: nothing else is looked into
    for sign in text:
        line += sign == "\n"
        if opened is not None:  # in a function or a table, whose insides do not matter
            depth += (sign == "{") - (sign == "}")
            if depth == 0:
                if opened[2]:
                    yield opened[0], line - opened[0] + 1, opened[1]
                head = "" if opened[2] else head + "()"  # a value reads like a call
                opened = None
        elif sign == "{":
            words = " ".join(re.sub(r"\b(?:public|private|protected)\s*:", "", head).split())
            if SCOPE.match(words):
                scopes.append(words)
                head = ""
            else:  # `= {...}` and `name{...}` are values, members' in a list of initialisers too
                after = words[words.rfind(")") + 1:]
                is_function = ")" in words and re.fullmatch(
                    r"[ ]*(?:const|noexcept|override|final|&|try| |->[^=;]*)*", after) is not None
                depth, opened = 1, (line, words, is_function)
        elif sign == "}":
            if scopes:
                scopes.pop()
            head = ""
        elif sign == ";":
            head = ""
        else:
            head += sign
    if opened is not None or scopes:
        raise ValueError("braces do not match")


def complaints_of(file, text, limit):
    return [f"{file}:{line} has a function of {lines} lines, more than {limit}: ...{head[-50:]}"
            for line, lines, head in functions(text) if lines > limit]


# The check is worth something only if it sees each of these functions of 82 lines.
BODY = " {\n" + "  f('{');  // }\n" * 80 + "}\n"
PLANTED = ["void f(int a)" + BODY,
           "namespace a {\nconst int b[] = {1, 2};\ntemplate<class T>\nauto g(T t) -> T" + BODY + "}\n",
           "OSSATURA_EACH(G)\nnamespace {\nstruct A {\npublic:\n  A(int a)\n  : a_{a}\n  , b_(a)" + BODY
           + "};\n}\n",
           "class A {\npublic:\n  struct B {\n    bool operator()(int i) const noexcept" + BODY + "  };\n};\n"]

if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    complaints = [f"the check does not see:\n{text[:120]}..." for text in PLANTED
                  if len(complaints_of("planted", text, 81)) != 1 or complaints_of("planted", text, 82)]
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            complaints += complaints_of(path.relative_to(root), path.read_text(encoding="utf-8"), limit)
    if complaints:
        sys.exit("function_length:\n  " + "\n  ".join(complaints))
