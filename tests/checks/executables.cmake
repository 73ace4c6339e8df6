# SPDX-License-Identifier: Apache-2.0
# No executable or library of the build tree looks for libraries in the directory it is run in: an empty
# or relative part of RPATH or RUNPATH does that, and runs what lies there.
# What reads the files of others (HARDENED) is linked so that its tables are read-only before main, and its
# functions check their stack.
#   cmake -D READELF=... -D FILES=a;b -D HARDENED=c -P executables.cmake
if(NOT READELF)
  message("skipped: no readelf")
  return()
endif()
set(count 0)
foreach(file IN LISTS FILES)
  if(NOT EXISTS ${file}) # not built
    continue()
  endif()
  execute_process(COMMAND ${READELF} -W -d ${file} OUTPUT_VARIABLE section RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${READELF} -d ${file} failed")
  endif()
  math(EXPR count "${count} + 1")
  if(section MATCHES "\\((RPATH|RUNPATH)\\)[^[]*\\[([^\n]*)\\]")
    set(paths ${CMAKE_MATCH_2})
    if(NOT ":${paths}:" MATCHES "^(:(/|\\\$ORIGIN)[^:]*)+:$")
      message(SEND_ERROR "${file}: its search path '${paths}' has an empty or relative part, which is "
        "the working directory of whoever runs it")
    endif()
  endif()
endforeach()
foreach(file IN LISTS HARDENED)
  execute_process(COMMAND ${READELF} -W -l -d --dyn-syms ${file} OUTPUT_VARIABLE elf)
  foreach(mark IN ITEMS "GNU_RELRO" "(BIND_NOW|Flags: NOW)" "__stack_chk_fail" "__[a-z]+_chk@")
    if(NOT elf MATCHES "${mark}")
      message(SEND_ERROR "${file} was compiled or linked without hardening: ${READELF} shows no ${mark}")
    endif()
  endforeach()
endforeach()
if(count EQUAL 0)
  message("skipped: nothing is built")
endif()
message("${count} files")
