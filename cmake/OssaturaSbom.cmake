# SPDX-License-Identifier: Apache-2.0
# The list of what an installation is made of, as SPDX 2.3 in JSON: names, versions and licences of the
# libraries that this build linked. OssaturaInstall installs it.
set(sbom_packages "")
set(sbom_relations "")

# Adds a package; RELATION says what the first package does with it.
function(sbom_package name version licence relation)
  if(version STREQUAL "")
    set(version NOASSERTION)
  endif()
  string(MAKE_C_IDENTIFIER ${name} id)
  string(REPLACE "_" "-" id ${id})
  list(APPEND sbom_packages "{\"name\": \"${name}\", \"SPDXID\": \"SPDXRef-${id}\", \"versionInfo\": \"${version}\", \"licenseDeclared\": \"${licence}\", \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false}")
  if(relation STREQUAL "DESCRIBES")
    set(from SPDXRef-DOCUMENT)
  else()
    set(from SPDXRef-ossatura)
  endif()
  list(APPEND sbom_relations "{\"spdxElementId\": \"${from}\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"SPDXRef-${id}\"}")
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_relations "${sbom_relations}" PARENT_SCOPE)
endfunction()

# The version that macros of a header give, as MAJOR.MINOR.PATCH.
function(sbom_version result header)
  set(version "")
  if(EXISTS ${header})
    foreach(macro IN LISTS ARGN)
      file(STRINGS ${header} line REGEX "^#[ ]*define[ \t]+${macro}[ \t]+[0-9]+" LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+[ ]*$" number "${line}")
      string(STRIP "${number}" number)
      list(APPEND version ${number})
    endforeach()
    list(JOIN version . version)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

if(OSSATURA_STATIC_DEPENDENCIES)
  set(linked STATIC_LINK)
else()
  set(linked DYNAMIC_LINK)
endif()
sbom_version(metis ${METIS_INCLUDE_DIR}/metis.h METIS_VER_MAJOR METIS_VER_MINOR METIS_VER_SUBMINOR)
sbom_package(ossatura ${PROJECT_VERSION} Apache-2.0 DESCRIBES)
sbom_package(Kokkos ${Kokkos_VERSION} "Apache-2.0 WITH LLVM-exception" STATIC_LINK)
if(KokkosKernels_FOUND)
  sbom_package(KokkosKernels "${KokkosKernels_VERSION}" "Apache-2.0 WITH LLVM-exception" STATIC_LINK)
endif()
sbom_package(HDF5 "${HDF5_VERSION}" BSD-3-Clause ${linked})
sbom_version(libdeflate ${LIBDEFLATE_INCLUDE_DIR}/libdeflate.h
  LIBDEFLATE_VERSION_MAJOR LIBDEFLATE_VERSION_MINOR)
sbom_package(libdeflate "${libdeflate}" MIT ${linked})
sbom_package(zlib "${ZLIB_VERSION_STRING}" Zlib ${linked})
if(OSSATURA_AEC_LIBRARY)
  sbom_package(libaec "" BSD-2-Clause ${linked})
endif()
if(METIS_LIBRARY MATCHES "[.]a$") # of wheels (scripts/metis)
  sbom_package(METIS "${metis}" Apache-2.0 STATIC_LINK)
else()
  sbom_package(METIS "${metis}" Apache-2.0 DYNAMIC_LINK)
endif()
if(OSSATURA_HAS_MPI)
  sbom_package(MPI "${MPI_C_VERSION}" NOASSERTION DYNAMIC_LINK)
endif()
if(OSSATURA_HAS_GDCM)
  sbom_version(gdcm ${GDCM_INCLUDE_DIR}/gdcmConfigure.h
    GDCM_MAJOR_VERSION GDCM_MINOR_VERSION GDCM_BUILD_VERSION)
  sbom_package(GDCM "${gdcm}" BSD-3-Clause DYNAMIC_LINK)
endif()
if(OSSATURA_ENABLE_APPS)
  # found by apps/CMakeLists.txt, whose variables are its own
  get_property(cli11 GLOBAL PROPERTY OSSATURA_CLI11_VERSION)
  get_property(json GLOBAL PROPERTY OSSATURA_JSON_VERSION)
  sbom_version(xxhash "${XXHASH_INCLUDE_DIR}/xxhash.h"
    XXH_VERSION_MAJOR XXH_VERSION_MINOR XXH_VERSION_RELEASE)
  sbom_package(CLI11 "${cli11}" BSD-3-Clause STATIC_LINK)
  sbom_package(nlohmann-json "${json}" MIT STATIC_LINK)
  sbom_package(xxHash "${xxhash}" BSD-2-Clause STATIC_LINK)
endif()

list(JOIN sbom_packages ",\n    " sbom_packages)
list(JOIN sbom_relations ",\n    " sbom_relations)
string(SHA256 sbom_id "${sbom_packages}")
string(TIMESTAMP sbom_time "%Y-%m-%dT%H:%M:%SZ" UTC)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/ossatura.spdx.json @ONLY CONTENT [[
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "ossatura-@PROJECT_VERSION@",
  "documentNamespace": "urn:ossatura:sbom:@PROJECT_VERSION@:@sbom_id@",
  "creationInfo": {
    "created": "@sbom_time@",
    "creators": ["Tool: ossatura-cmake"]
  },
  "packages": [
    @sbom_packages@
  ],
  "relationships": [
    @sbom_relations@
  ]
}
]])
install(FILES ${PROJECT_BINARY_DIR}/ossatura.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
