# SPDX-License-Identifier: Apache-2.0
"""Finite elements on Kokkos: stiffness of bone, activation times of the heart, soft bodies, topology optimisation,
elasticity of high order.

    from ossatura import bone, eikonal, pfem, softbody, topopt

Units of bone are mm, MPa = N/mm^2 and N, of eikonal mm, ms and m/s = mm/ms, of pfem, softbody and topopt those
of the SI.

All calls run on one thread of the library's own, which starts at the first of them. They may come from any
thread, wait without holding the interpreter's lock, and end by Ctrl-C. After a fork the library cannot be used in
the child: start workers by multiprocessing's "spawn" or "forkserver". Messages go to logging.getLogger("ossatura").
"""
import atexit as _atexit
import importlib as _importlib
import os as _os
import types as _types
import typing as _typing

# Threads that wait for work give way to others, unless the user says what they are to do. OpenMP's runtime
# reads this when it is loaded.
_waits = "OMP_WAIT_POLICY" not in _os.environ
if _waits:
    _os.environ["OMP_WAIT_POLICY"] = "passive"
_processors = _os.sched_getaffinity(0)  # before the runtime is loaded, which binds this thread if OMP_PROC_BIND asks
from . import _module  # noqa: E402

try:
    _why_no_gpu = _module.take()
    from . import _core
finally:
    if _waits:
        del _os.environ["OMP_WAIT_POLICY"]

from . import _backends  # noqa: E402
from ._errors import BackendError, ConvergenceError, InputError, UsageError  # noqa: E402
from ._log import forward as _forward  # noqa: E402

__all__ = ["bone", "eikonal", "pfem", "softbody", "topopt", "BackendError", "ConvergenceError", "InputError",
           "UsageError", "backends", "describe", "set_threads", "threads"]
__version__ = _core.describe().split()[1]

if _typing.TYPE_CHECKING:
    from . import bone, eikonal, pfem, softbody, topopt

_backends.why_no_gpu = _why_no_gpu
_core.set_log(_forward)
_atexit.register(_core.finish)


def backends() -> list[str]:
    """The backends there are, the default one last: "serial", "openmp", and "cuda" where the package ossatura-cuda13 is
    installed and a GPU is there for it."""
    return _core.backends()


def describe() -> str:
    """One line about this build: version, commit, Kokkos and compiler."""
    return _core.describe()


def threads(backend: str | None = None) -> int:
    """The number of threads that a backend, by default the last of backends(), works with."""
    return _core.threads(_backends.choose(backend))


def set_threads(number: int | None) -> None:
    """Sets the number of threads of openmp, before the first call that computes.

    Without it, or by None: KOKKOS_NUM_THREADS, OMP_NUM_THREADS, or the processors that this process may use.
    Raises UsageError after the first call that computes.
    """
    _core.set_threads(number)


def __getattr__(name: str) -> _types.ModuleType:
    """The systems, imported when one is asked for: NumPy takes most of the time of it, and `python -m ossatura` needs
    none."""
    if name in ("bone", "eikonal", "pfem", "softbody", "topopt"):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
