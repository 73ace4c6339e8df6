# SPDX-License-Identifier: Apache-2.0
"""Which backend computes."""
from __future__ import annotations

from . import _core
from ._errors import BackendError

why_no_gpu = ""
"""Why "cuda" is not among the backends, where it is not. Set by the package."""


def has_gpu() -> bool:
    return "cuda" in _core.backends()


def require_gpu() -> None:
    """Raises BackendError where this process has no backend for arrays on a GPU."""
    if not has_gpu():
        raise BackendError(f"an array on a GPU, and {why_no_gpu}; or copy it to the host")


def choose(backend: str | None) -> str:
    """`backend`, by default the last of those that there are."""
    if backend == "cuda" and not has_gpu():
        raise BackendError(f"backend=\"cuda\": {why_no_gpu}")
    return _core.backends()[-1] if backend is None else backend
