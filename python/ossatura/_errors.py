# SPDX-License-Identifier: Apache-2.0
"""The errors of the package."""
from ._core import BackendError, InputError, UsageError


class ConvergenceError(RuntimeError):
    """A solve ended before its tolerance was met.

    `result` is what there is, as it would be returned with check=False.
    """

    def __init__(self, message, result):
        super().__init__(message)
        self.result = result


for _error in (BackendError, InputError, UsageError):
    _error.__module__ = "ossatura"
ConvergenceError.__module__ = "ossatura"
InputError.__doc__ = "Arrays and supports from which nothing can be computed. A ValueError."
UsageError.__doc__ = "An option that cannot be carried out. A ValueError."
BackendError.__doc__ = "A backend or number of threads that is not there. A RuntimeError."


def choice(value, known, what):
    """`value`, which is one of `known`; else a UsageError that lists them."""
    if value not in known:
        raise UsageError(f"{what}={value!r}: one of " + ", ".join(repr(name) for name in known))
    return value
