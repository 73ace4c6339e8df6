# SPDX-License-Identifier: Apache-2.0
# The command line inside the module, and bin/ossatura, which starts it.
target_sources(_core PRIVATE ${PROJECT_SOURCE_DIR}/apps/module_main.cpp)
target_link_libraries(_core PRIVATE ossatura_driver)
# As of the executable, tables of addresses are read-only.
target_link_options(_core PRIVATE -Wl,--gc-sections -Wl,-z,relro,-z,now)

set(symbols ${CMAKE_CURRENT_BINARY_DIR}/python_symbols.cpp)
add_custom_command(OUTPUT ${symbols}
  COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D MODULE=$<TARGET_FILE:_core> -D OUTPUT=${symbols}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/launcher/python_symbols.cmake
  DEPENDS _core ${CMAKE_CURRENT_SOURCE_DIR}/launcher/python_symbols.cmake VERBATIM)
add_executable(ossatura_launcher launcher/main.cpp ${symbols})
ossatura_compile_settings(ossatura_launcher HOST_ONLY)
ossatura_harden(ossatura_launcher)
target_compile_definitions(ossatura_launcher PRIVATE OSSATURA_MODULE="$<TARGET_FILE_NAME:_core>")
target_link_libraries(ossatura_launcher PRIVATE ${CMAKE_DL_LIBS})
target_link_options(ossatura_launcher PRIVATE -Wl,--as-needed)
if(IS_SYMLINK ${bin}/ossatura) # of a build with shared dependencies: the linker would write where it leads
  file(REMOVE ${bin}/ossatura)
endif()
set_target_properties(ossatura_launcher PROPERTIES OUTPUT_NAME ossatura ENABLE_EXPORTS ON
  RUNTIME_OUTPUT_DIRECTORY ${bin})
install(TARGETS ossatura_launcher RUNTIME DESTINATION ossatura/bin COMPONENT python)
