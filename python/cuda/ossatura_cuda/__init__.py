# SPDX-License-Identifier: Apache-2.0
"""The module of ossatura with the backend cuda. `import ossatura` takes it; nothing else is to be imported from here.
_build.py, which the build writes, says what it is built for."""
