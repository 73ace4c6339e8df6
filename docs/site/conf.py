# SPDX-License-Identifier: Apache-2.0
"""Sphinx's configuration; scripts/site puts the pages together and runs it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "docs/site")]

import docstrings  # noqa: E402

project = "Ossatura"
version = release = re.search(r"project\(ossatura VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
copyright = "the authors of Ossatura, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Ossatura {version}"
templates_path: list[str] = []
myst_heading_anchors = 4
nitpicky = False

# The documentation is in the Python files. The module behind them and what is optional need not be there.
autodoc_mock_imports = ["ossatura._core", "jax", "torch"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "undoc-members": True, "exclude-members": "__init__, __new__"}
autoclass_content = "both"


def setup(app):
    app.connect("autodoc-process-docstring", docstrings.process)
