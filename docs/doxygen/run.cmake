# SPDX-License-Identifier: Apache-2.0
# Makes the documentation of SOURCE_DIR in OUTPUT_DIR/html; a warning of Doxygen is an error.
cmake_minimum_required(VERSION 3.22)
find_program(DOXYGEN doxygen)
find_program(PYTHON python3)
if(NOT DOXYGEN OR NOT PYTHON)
  message("skipped: no doxygen or no python3")
  return()
endif()
file(REMOVE_RECURSE ${OUTPUT_DIR}) # pages that are no more
file(MAKE_DIRECTORY ${OUTPUT_DIR})
set(ENV{OSSATURA_DOCS_DIR} ${OUTPUT_DIR})
set(ENV{OSSATURA_VERSION} ${VERSION})
set(ENV{OSSATURA_PYTHON} ${PYTHON})
execute_process(COMMAND ${DOXYGEN} docs/doxygen/Doxyfile WORKING_DIRECTORY ${SOURCE_DIR}
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "docs: Doxygen's warnings above are errors")
endif()
