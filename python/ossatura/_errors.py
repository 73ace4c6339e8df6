# SPDX-License-Identifier: Apache-2.0
"""The errors of the package."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._core import BackendError, InputError, UsageError

__all__ = ["BackendError", "ConvergenceError", "InputError", "UsageError", "choice"]


class ConvergenceError(RuntimeError):
    """A solve ended before its tolerance was met.

    `result` is what there is, as it would be returned with check=False.
    """

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


for _error in (BackendError, InputError, UsageError):
    _error.__module__ = "ossatura"
ConvergenceError.__module__ = "ossatura"
InputError.__doc__ = "Arrays and supports from which nothing can be computed. A ValueError."
UsageError.__doc__ = "An option that cannot be carried out. A ValueError."
BackendError.__doc__ = "A backend or number of threads that is not there. A RuntimeError."


def choice(value: str, known: Sequence[str], what: str) -> str:
    """`value`, which is one of `known`; else a UsageError that lists them."""
    if value not in known:
        raise UsageError(f"{what}={value!r}: one of " + ", ".join(repr(name) for name in known))
    return value
