# SPDX-License-Identifier: Apache-2.0
"""Bars of tqdm for solves, moved by their residuals."""
from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator

from . import _numbers, _optional

Callback = Callable[[int, float], None]


@contextlib.contextmanager
def shown(progress: bool, what: str, num_solves: int, tolerance: float,
          callback: Callback | None) -> Iterator[Callback | None]:
    """The callback to give to the library: that of the caller, after the bar has moved."""
    if not _numbers.flag(progress, "progress"):
        yield callback
        return
    tqdm = _optional.load("tqdm.auto", "progress=True").tqdm
    with tqdm(total=100.0 * num_solves, desc=what,
              bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}") as bar:
        solve = last = 0

        def observe(iteration: int, residual: float) -> None:
            nonlocal solve, last
            solve += iteration < last  # the next of several
            last = iteration
            decades = math.log(residual) / math.log(tolerance) if residual > 0 else 1.0
            place = 100.0 * min(solve + min(max(decades, 0.0), 1.0), num_solves)
            bar.set_postfix_str(f"iteration {iteration}, residual {residual:.1e}", refresh=False)
            bar.update(max(0.0, place - bar.n))
            if callback is not None:
                callback(iteration, residual)

        yield observe
        bar.update(bar.total - bar.n)
