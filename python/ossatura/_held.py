# SPDX-License-Identifier: Apache-2.0
"""What the library holds in memory of its own, of which Python has a handle alone."""
from __future__ import annotations

from typing import Any, ClassVar, NoReturn, SupportsIndex


class Held:
    """The base of models and results: refuses pickle and copy, which would take the handle without what it is of."""
    _instead: ClassVar[str]
    """what can be pickled, and how to have another one"""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        kind: Any = type(self)
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} cannot be pickled or copied, since the library holds it in "
                        f"memory of its own: {self._instead}")
