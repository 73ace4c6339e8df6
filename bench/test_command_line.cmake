# SPDX-License-Identifier: Apache-2.0
# The command line of ossatura_bench, without Kokkos where it is not needed.
#   cmake -D OSSATURA_BENCH=<file> -D GROUPS=<list> -D WORK_DIR=<folder> -P test_command_line.cmake
cmake_minimum_required(VERSION 3.22)

# Runs ossatura_bench and fails unless it ends with `code` and writes what matches `pattern`.
function(expect code pattern)
  execute_process(COMMAND ${OSSATURA_BENCH} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(error MATCHES "error while loading shared libraries")
    message(FATAL_ERROR "${error}")
  endif()
  if(NOT result EQUAL code OR NOT "${output}${error}" MATCHES "${pattern}")
    message(FATAL_ERROR "ossatura_bench ${ARGN}: ended with ${result}, not ${code}, or does not "
      "write '${pattern}':\n${output}${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

expect(0 "ossatura_bench list")
expect(0 "ossatura_bench list" --help)
expect(0 "^ossatura_bench [0-9]" --version)
expect(2 "'walk' is no command" walk)
expect(2 "run what" run)
expect(2 "takes --quick" all)
expect(2 "exclude each other" all --quick --full)
expect(2 "takes no names" all peers --quick)
expect(2 "no_such_group.*groups: voxel_apply, " run no_such_group)
expect(2 "is no regular expression" run "(")
expect(2 "is no number of voxels" list --rows --sizes=2)
expect(2 "no time" list --min-time=long)
expect(4 "backend 'abacus' is not in this build" run peers --backends=abacus)
expect(5 "does not exist" run peers --quick --output=${WORK_DIR}/no_such_folder/result.json)
expect(0 "^voxel_apply +[^\n]+\n$" list voxel_apply)
expect(0 "voxel_apply/brick/[a-z]+/f64/cube:16\n" list voxel_apply --rows --quick)
expect(0 "eikonal_batch/" list eikonal --rows --edges 150)
if(output MATCHES "eikonal_setup")
  message(FATAL_ERROR "the group eikonal has rows of eikonal_setup")
endif()
expect(2 "unrecognized command-line flag: --no_such_flag" run peers --quick --no_such_flag)

# A selection that matches nothing would leave its rows out without a word.
foreach(method IN ITEMS ai aii-inner blocked sum-fact affine congruent)
  expect(0 "pfem_form/${method}/" list pfem_form --rows --full)
endforeach()
foreach(extent IN ITEMS --quick --full)
  expect(0 "\nall +[0-9]+ +[0-9.]+ (s|min|h)" list ${extent}) # every group has stored seconds
  foreach(group IN LISTS GROUPS)
    expect(0 "${group}" list ${group} --rows ${extent})
  endforeach()
endforeach()

# Every group has a test.
expect(0 "" list)
string(REGEX MATCHALL "[^\n]+" lines "${output}")
set(listed "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " .*" "" name "${line}")
  list(APPEND listed ${name})
endforeach()
if(NOT listed STREQUAL GROUPS)
  message(FATAL_ERROR "tests and groups differ:\n  ${GROUPS}\n  ${listed}")
endif()
