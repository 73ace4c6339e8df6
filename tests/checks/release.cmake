# SPDX-License-Identifier: Apache-2.0
# Fails where the newest release of CHANGELOG.md is not the version of the project, or CITATION.cff
# has another version or date.
cmake_minimum_required(VERSION 3.22)
file(STRINGS ${SOURCE_DIR}/CHANGELOG.md releases REGEX "^## [0-9]")
list(GET releases 0 newest)
if(NOT newest MATCHES "^## ([0-9]+\\.[0-9]+\\.[0-9]+) - ([0-9]+-[0-9][0-9]-[0-9][0-9])$")
  message(FATAL_ERROR "CHANGELOG.md: \"${newest}\" is not of the form \"## 1.2.3 - 2026-01-31\"")
endif()
set(version ${CMAKE_MATCH_1})
set(date ${CMAKE_MATCH_2})
if(NOT version VERSION_EQUAL VERSION)
  message(FATAL_ERROR "CHANGELOG.md ends with ${version}, the project is ${VERSION}")
endif()

file(READ ${SOURCE_DIR}/CITATION.cff citation)
foreach(line IN ITEMS "version: ${VERSION}" "date-released: ${date}")
  string(FIND "\n${citation}" "\n${line}\n" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "CITATION.cff has no line \"${line}\"")
  endif()
endforeach()
