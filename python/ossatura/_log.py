# SPDX-License-Identifier: Apache-2.0
"""Messages of the library to the standard library's logging."""
import logging

logger = logging.getLogger("ossatura")
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # as LogLevel


def forward(level: int, text: str, code: str) -> None:
    """One message. Records have the code of a warning (docs/warnings.md), or "", as `code`."""
    logger.log(_LEVELS[level], "%s", text.removeprefix("warning: "), extra={"code": code})
