# SPDX-License-Identifier: Apache-2.0
"""Chooses the module _core: with CUDA where the package ossatura_cuda is installed, and a GPU and a driver are there
that it is built for; else that of this package, for the host. Looking starts no CUDA: this process may fork yet."""
from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

Capability = tuple[int, int]


class NoGpu(Exception):
    """Why the module with CUDA is not taken."""


def take() -> str:
    """Puts the module into its place. Returns why that is not the one with CUDA, or an empty text."""
    try:
        module, why = _with_cuda(), ""
    except NoGpu as reason:
        module, why = importlib.import_module(__package__ + "._core"), str(reason)
    sys.modules[__package__ + "._core"] = module
    setattr(sys.modules[__package__], "_core", module)
    return why


def _with_cuda() -> ModuleType:
    try:
        built = importlib.import_module("ossatura_cuda._build")
    except ImportError:
        raise NoGpu("the package ossatura-cuda13 is not installed") from None
    require_fit(built.ARCHITECTURES, built.CUDA, *_look())
    try:
        return importlib.import_module("ossatura_cuda._core")
    except ImportError as error:
        raise NoGpu(f"the module of ossatura-cuda13 cannot be loaded ({error})") from None


def require_fit(architectures: Sequence[int], cuda: str, gpus: Sequence[Capability], driver: int) -> None:
    """Raises NoGpu unless all GPUs and the driver (its CUDA, as 13000) run what is built for them."""
    if not gpus:
        raise NoGpu("no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES")
    wanted = int(cuda.partition(".")[0])
    if driver < 1000 * wanted:
        raise NoGpu(f"the driver is of CUDA {driver // 1000}.{driver % 1000 // 10}, and ossatura-cuda13 needs one of "
                    f"{wanted}: install a newer driver")
    least = min(architectures)
    for major, minor in gpus:
        if 10 * major + minor < least:
            raise NoGpu(f"a GPU is of compute capability {major}.{minor}, and ossatura-cuda13 is built for "
                        f"{least // 10}.{least % 10} and later: leave it out of CUDA_VISIBLE_DEVICES")


def visible(chosen: str | None, ids: Sequence[str]) -> list[int]:
    """Numbers of the GPUs that CUDA_VISIBLE_DEVICES leaves; what it names in other ways, as parts of a GPU, counts as
    all of them."""
    if chosen is None:
        return list(range(len(ids)))
    found: list[int] = []
    for name in filter(None, (part.strip() for part in chosen.split(","))):
        numbers = ([int(name)] if name.lstrip("-").isdigit() else
                   [i for i, one in enumerate(ids) if one.startswith(name)] or list(range(len(ids))))
        if not all(0 <= number < len(ids) for number in numbers):
            break  # CUDA ends the list here
        found += numbers
    return found


def _look() -> tuple[list[Capability], int]:
    """Compute capabilities of the GPUs that are visible, and the driver's version of CUDA, by NVIDIA's management
    library."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        raise NoGpu("no driver of NVIDIA is there") from None
    _call(nvml.nvmlInit_v2)
    try:
        version, count = ctypes.c_int(), ctypes.c_uint()
        _call(nvml.nvmlSystemGetCudaDriverVersion_v2, ctypes.byref(version))
        _call(nvml.nvmlDeviceGetCount_v2, ctypes.byref(count))
        capabilities, ids = [], []
        for index in range(count.value):
            device, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
            text = ctypes.create_string_buffer(96)
            _call(nvml.nvmlDeviceGetHandleByIndex_v2, ctypes.c_uint(index), ctypes.byref(device))
            _call(nvml.nvmlDeviceGetCudaComputeCapability, device, ctypes.byref(major), ctypes.byref(minor))
            _call(nvml.nvmlDeviceGetUUID, device, text, ctypes.c_uint(96))
            capabilities.append((major.value, minor.value))
            ids.append(text.value.decode())
        chosen = visible(os.environ.get("CUDA_VISIBLE_DEVICES"), ids)
        return [capabilities[index] for index in chosen], version.value
    finally:
        nvml.nvmlShutdown()


def _call(function: ctypes._NamedFuncPointer, *arguments: object) -> None:
    status = function(*arguments)
    if status != 0:
        raise NoGpu(f"the driver does not answer ({function.__name__}: error {status})")
