# SPDX-License-Identifier: Apache-2.0
# Doxygen's filter of headers: the `//` block below the SPDX line describes the file. References in
# it, which begin with [n], are paragraphs of their own.
NR == 1 { print "/// @file"; next }
!below && /^\/\/($|[^\/])/ {
  gsub(/[@\\<>#&%]/, "\\\\&")
  if ($2 ~ /^\[[0-9]+\]$/)
    print "///\n///" substr($0, 3)
  else
    print "/" $0
  next
}
!below { below = 1; print "" }
{ print }
