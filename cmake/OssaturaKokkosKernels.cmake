# SPDX-License-Identifier: Apache-2.0
# Kokkos::kokkoskernels, also for the installed package: the one built with this Kokkos, not any
# other.
find_package(KokkosKernels QUIET
  PATHS ${Kokkos_DIR}/../KokkosKernels ${Kokkos_DIR}/../../.. NO_DEFAULT_PATH)
