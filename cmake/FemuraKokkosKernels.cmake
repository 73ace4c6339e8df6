# SPDX-License-Identifier: BSD-3-Clause
# Kokkos::kokkoskernels, also for the installed package: the one built with this Kokkos, not any
# other.
find_package(KokkosKernels QUIET
  PATHS ${Kokkos_DIR}/../KokkosKernels ${Kokkos_DIR}/../../.. NO_DEFAULT_PATH)
