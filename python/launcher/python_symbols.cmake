# SPDX-License-Identifier: Apache-2.0
# Writes the source OUTPUT, which defines all that MODULE wants of Python, by names alone. With them the dynamic linker
# loads the module into a process that has no Python. Each is one byte that nothing may read.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${NM} -D --undefined-only ${MODULE} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " _?Py[A-Za-z0-9_]+" names "${undefined}")
if(NOT names)
  message(FATAL_ERROR "${NM} finds no name of Python in ${MODULE}")
endif()
set(source "#pragma GCC visibility push(default)\nextern \"C\" {\n")
foreach(name IN LISTS names)
  string(APPEND source "char${name};\n")
endforeach()
file(WRITE ${OUTPUT} "${source}}\n")
