# SPDX-License-Identifier: Apache-2.0
# Fails where a file that can have comments does not name the licence in its first lines. Prose and
# data need not, and cmake/copyright is a licence itself, in Debian's format.
cmake_minimum_required(VERSION 3.22)
set(files ${SOURCE_DIR}/CMakeLists.txt ${SOURCE_DIR}/CITATION.cff
  ${SOURCE_DIR}/.clang-format ${SOURCE_DIR}/.clang-tidy)
foreach(folder IN ITEMS .ci apps bench cmake core docs examples kernels python scripts solvers tests)
  file(GLOB_RECURSE found ${SOURCE_DIR}/${folder}/*)
  list(APPEND files ${found})
endforeach()
list(FILTER files EXCLUDE REGEX
  "\\.(json|gz|md|png|svg|csv|mha|pts|elem|lon|vtx|step|pyc|swp)$|/tests/fuzz/corpus/|/cmake/copyright$")
set(without "")
foreach(file IN LISTS files)
  file(STRINGS ${file} start LIMIT_COUNT 3)
  if(NOT start MATCHES "SPDX-License-Identifier: Apache-2\\.0")
    file(RELATIVE_PATH name ${SOURCE_DIR} ${file})
    string(APPEND without "\n  ${name}")
  endif()
endforeach()
if(without)
  message(FATAL_ERROR
    "without the line \"SPDX-License-Identifier: Apache-2.0\" in the first three:${without}")
endif()
