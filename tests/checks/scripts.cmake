# SPDX-License-Identifier: Apache-2.0
# Fails where shellcheck (-D LANGUAGE=shell) or pyflakes (python) finds a mistake in a script.
cmake_minimum_required(VERSION 3.22)
if(LANGUAGE STREQUAL shell)
  find_program(SHELLCHECK shellcheck)
  set(tool ${SHELLCHECK})
  set(pattern "^#!.*[/ ](ba)?sh$")
else()
  find_program(PYTHON python3)
  set(tool ${PYTHON} -m pyflakes)
  set(pattern "^#!.*[/ ]python3$|\\.py$")
endif()
execute_process(COMMAND ${tool} --version RESULT_VARIABLE absent OUTPUT_QUIET ERROR_QUIET)
if(NOT tool OR absent)
  message("skipped: ${LANGUAGE} scripts, for want of shellcheck or pyflakes")
  return()
endif()

set(scripts "")
foreach(folder IN ITEMS .ci apps bench docs examples python scripts tests)
  file(GLOB_RECURSE files ${SOURCE_DIR}/${folder}/*)
  foreach(file IN LISTS files)
    file(STRINGS ${file} first LIMIT_COUNT 1 LENGTH_MAXIMUM 80)
    if(first MATCHES "${pattern}" OR file MATCHES "${pattern}")
      list(APPEND scripts ${file})
    endif()
  endforeach()
endforeach()
execute_process(COMMAND ${tool} ${scripts} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "scripts: mend what is said above")
endif()

# A script is found before the module of Python's library that has its name.
if(LANGUAGE STREQUAL python)
  execute_process(COMMAND ${PYTHON} -c "import pathlib, sys
taken = [f for f in sys.argv[1:] if pathlib.Path(f).stem in getattr(sys, 'stdlib_module_names', ())]
sys.exit('named as a module of Python: ' + ' '.join(taken) if taken else 0)" ${scripts}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "scripts: rename what is said above")
  endif()
endif()
