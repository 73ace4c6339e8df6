# SPDX-License-Identifier: Apache-2.0
"""Pictures side by side: python3 scripts/picture/strip.py ALL.png ONE.png TWO.png ..."""
import sys

from PIL import Image

output, *names = sys.argv[1:]
pictures = [Image.open(name).convert("RGB") for name in names]
strip = Image.new("RGB", (sum(picture.width for picture in pictures),
                          max(picture.height for picture in pictures)), "white")
left = 0
for picture in pictures:
    strip.paste(picture, (left, (strip.height - picture.height) // 2))
    left += picture.width
strip.save(output, optimize=True)
