# SPDX-License-Identifier: Apache-2.0
"""The libraries whose arrays come in and go out: NumPy on the host; PyTorch, CuPy and JAX on a GPU, by DLPack. They
are imported where an array of theirs is given, which needs them anyway."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _core
from ._backends import require_gpu

_GPU = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged


def is_on_gpu(values: Any) -> bool:
    """Whether it is an array in the memory of a GPU."""
    device = getattr(values, "__dlpack_device__", None)
    return device is not None and device()[0] in _GPU


class Library:
    """NumPy, and what the others do in other ways. `module` has functions of NumPy's names."""
    module: Any = np
    is_writable = True

    def kind(self, x: Any) -> str:
        """"f" of floating-point numbers, "i" and "u" of integers, else another letter."""
        return str(np.dtype(x.dtype).kind)

    def cast(self, x: Any, dtype: DTypeLike) -> Any:
        """x, or a copy of it, C-contiguous and of that type: infinite where that has no number as large, which is
        refused by its place."""
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(x, dtype)

    def make(self, shape: Sequence[int], dtype: DTypeLike, fill: Callable[[Any], Any]) -> Any:
        """An array in which fill(memory) has set what is not 0."""
        return self.make_some(1, shape, dtype, fill)[0]

    def make_some(self, count: int, shape: Sequence[int], dtype: DTypeLike, fill: Callable[..., Any]) -> list[Any]:
        """Several, by fill(memory, ...)."""
        out = [np.zeros(shape, dtype) for _ in range(count)]
        fill(*out)
        return out

    def zeros(self, shape: Sequence[int]) -> Any:
        """In double."""
        return self.make(shape, np.float64, lambda memory: None)

    def own(self, x: Any) -> Any:
        """As an array of this library."""
        return self.host(x)

    def host(self, x: Any) -> Any:
        """As an array of NumPy."""
        return library_of(x).host(x) if is_on_gpu(x) else np.asarray(x)

    def copy(self, x: Any) -> Any:
        return x.copy()

    def is_output(self, x: Any, dtype: DTypeLike, shape: Sequence[int]) -> bool:
        """Whether results of this type and shape can be written into it."""
        return (isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == tuple(shape) and x.flags.c_contiguous
                and x.flags.writeable)


class _OnGpu(Library):
    def __init__(self, module: str) -> None:
        self.module = importlib.import_module(module)

    def make_some(self, count: int, shape: Sequence[int], dtype: DTypeLike, fill: Callable[..., Any]) -> list[Any]:
        require_gpu()
        memory = [_core.zeros_on_device(list(shape), np.dtype(dtype) == np.float64) for _ in range(count)]
        fill(*memory)
        return [self.take(one) for one in memory]

    def take(self, memory: Any) -> Any:
        """Memory of the module as an array of the library, which keeps it."""
        return self.module.from_dlpack(memory)


class _CuPy(_OnGpu):
    def cast(self, x: Any, dtype: DTypeLike) -> Any:
        return self.module.ascontiguousarray(x, dtype)

    def own(self, x: Any) -> Any:
        return self.module.asarray(x)

    def host(self, x: Any) -> Any:
        return self.module.asnumpy(x)

    def is_output(self, x: Any, dtype: DTypeLike, shape: Sequence[int]) -> bool:
        return bool(x.dtype == dtype and x.shape == tuple(shape) and x.flags.c_contiguous)


class _Torch(_OnGpu):
    def kind(self, x: Any) -> str:
        name = str(x.dtype).rpartition(".")[2]
        return "f" if x.is_floating_point() else name[0]  # uint8, int64, bool, complex64

    def cast(self, x: Any, dtype: DTypeLike) -> Any:
        return x.detach().to(getattr(self.module, np.dtype(dtype).name)).contiguous()

    def own(self, x: Any) -> Any:
        return self.module.as_tensor(x, device="cuda")

    def host(self, x: Any) -> Any:
        return x.detach().cpu().numpy()

    def copy(self, x: Any) -> Any:
        return x.clone()

    def is_output(self, x: Any, dtype: DTypeLike, shape: Sequence[int]) -> bool:
        return bool(x.dtype == getattr(self.module, np.dtype(dtype).name) and tuple(x.shape) == tuple(shape)
                    and x.is_contiguous() and not x.requires_grad)


class _Jax(_OnGpu):
    is_writable = False

    def kind(self, x: Any) -> str:
        return "f" if self.module.issubdtype(x.dtype, self.module.floating) else super().kind(x)  # bfloat16, too

    def cast(self, x: Any, dtype: DTypeLike) -> Any:
        found = self.module.asarray(x, dtype)
        if found.dtype != np.dtype(dtype):
            raise TypeError(f"JAX makes no {np.dtype(dtype)}: jax.config.update(\"jax_enable_x64\", True)")
        return found.block_until_ready()

    def host(self, x: Any) -> Any:
        return np.asarray(x)

    def is_output(self, x: Any, dtype: DTypeLike, shape: Sequence[int]) -> bool:
        return False  # its arrays do not change


NUMPY = Library()
_KINDS = {"torch": (_Torch, "torch"), "cupy": (_CuPy, "cupy"), "jax": (_Jax, "jax.numpy"), "jaxlib": (_Jax, "jax.numpy")}


@functools.lru_cache(maxsize=None)
def _library(name: str) -> Library:
    if name not in _KINDS:
        raise TypeError(f"an array of {name} on a GPU: PyTorch's, CuPy's and JAX's are taken, as torch.from_dlpack(array)")
    kind, module = _KINDS[name]
    return kind(module)


def library_of(*values: Any) -> Library:
    """That of the first array on a GPU; NumPy where none is."""
    for one in values:
        if is_on_gpu(one):
            return _library(type(one).__module__.partition(".")[0])
    return NUMPY
