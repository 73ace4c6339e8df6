# SPDX-License-Identifier: Apache-2.0
"""Packages that one part alone needs: imported when it is used, with an error that names the remedy."""
from __future__ import annotations

import importlib
from typing import Any

from ._errors import choice

ENGINES = ("pyvista", "matplotlib")


def load(name: str, what: str) -> Any:
    """The module `name`, which `what` needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}, which cannot be imported ({error}): "
                          f"python -m pip install {package}") from error


def choose_engine(engine: str | None) -> str:
    """What draws: `engine`, by default PyVista where it can be imported, else matplotlib."""
    if engine is not None:
        load(choice(engine, ENGINES, "engine"), f"plot(engine={engine!r})")
        return engine
    for name in ENGINES:
        try:
            importlib.import_module(name)
            return name
        except ImportError:
            pass
    raise ImportError("plot() needs PyVista or matplotlib: python -m pip install matplotlib")
