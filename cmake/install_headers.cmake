# SPDX-License-Identifier: Apache-2.0
# Run by `cmake --install`: headers of `source` to `destination`, with the includes of one another
# changed from "core/x.hpp" to "ossatura/core/x.hpp", by way of the folder `changed`.
file(REMOVE_RECURSE ${changed})
foreach(folder IN ITEMS core kernels solvers)
  file(GLOB_RECURSE headers RELATIVE ${source} ${source}/${folder}/*.hpp)
  foreach(header IN LISTS headers)
    file(READ ${source}/${header} text)
    string(REGEX REPLACE "#include \"(core|kernels|solvers)/" "#include \"ossatura/\\1/"
      text "${text}")
    file(WRITE ${changed}/ossatura/${header} "${text}")
  endforeach()
endforeach()
file(INSTALL ${changed}/ossatura DESTINATION ${destination})
