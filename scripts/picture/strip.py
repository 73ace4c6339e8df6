# SPDX-License-Identifier: Apache-2.0
"""Pictures side by side, or with --down one below the other:

    python3 scripts/picture/strip.py [--down] ALL.png ONE.png TWO.png ...
"""
import sys

from PIL import Image

down = sys.argv[1] == "--down"
output, *names = sys.argv[1 + down:]
pictures = [Image.open(name).convert("RGB") for name in names]
widths, heights = [picture.width for picture in pictures], [picture.height for picture in pictures]
size = (max(widths), sum(heights)) if down else (sum(widths), max(heights))
strip = Image.new("RGB", size, "white")
place = 0
for picture in pictures:
    corner = ((strip.width - picture.width) // 2, place) if down else (place, (strip.height - picture.height) // 2)
    strip.paste(picture, corner)
    place += picture.height if down else picture.width
strip.save(output, optimize=True)
