// SPDX-License-Identifier: Apache-2.0
// These options say how soft bodies are stepped and how their systems are solved.
#pragma once

#include <ossatura/core/base/names.hpp>

namespace ossatura {

enum class SoftAssembly {
  elements, ///< element matrices are summed through the element map
  triplets  ///< every entry is a triplet, summed through the CooMap (the paper's way)
};

/// The way in which conjugate gradients multiply by the matrix.
enum class SoftProduct {
  blocks,        ///< of 3 x 3, with the direction and a sum in one kernel
  kokkos_kernels ///< the spmv of Kokkos Kernels, where the build has it, on a matrix of scalars
};

enum class SoftPreconditioner { none, jacobi, block_jacobi, ldlt };

/// When the factor of the preconditioner is made anew.
enum class FactorRefresh {
  sync,      ///< for every system, before it is solved: never stale
  every,     ///< for every k-th system
  background ///< on a thread (host) or stream (device) of its own; the newest finished one is used
};

/// Where it is made.
enum class FactorPlace { automatic, host, device };

/// The way in which M^-1 is applied.
enum class FactorApply {
  automatic,  ///< inverse on devices, supernodes on cores
  levels,     ///< rows of L by levels
  dissection, ///< the paper's: sub-domains of nested dissection in tiles of 16
  supernodes, ///< panels of L by levels, diagonal blocks inverted
  inverse     ///< W = L^-1 as dense rectangles: two products without levels
};

/// The format in which the entries of W are stored.
enum class FactorStorage {
  automatic, ///< fp16 on devices for factors that are used again, where staleness costs more; fp32
  fp64,
  fp32,
  fp16
};

inline constexpr int max_inverse_bands = 8;

struct SoftOptions {
  double time_step = 0.01;        ///< s
  double rayleigh_mass = 0;       ///< alpha, 1/s
  double rayleigh_stiffness = 0;  ///< beta, s
  int newton_iterations = 1;      ///< of a step, at most; 1: linearly implicit (the paper)
  double newton_tolerance = 1e-8; ///< on the residual, relative to that at the step's start + loads
  double tolerance = 1e-9;        ///< of a linear system, relative to its right-hand side
  int max_iterations = 2000;      ///< of a linear system
  int batch = 0;                  ///< CG iterations between looks at the residual; 0: by itself
  SoftAssembly assembly = SoftAssembly::elements;
  SoftProduct product = SoftProduct::blocks;
  SoftPreconditioner preconditioner = SoftPreconditioner::ldlt;
  FactorRefresh refresh = FactorRefresh::every;
  int refresh_every = 16; ///< systems, of FactorRefresh::every
  int refresh_after =
      40; ///< iterations: after more, the next factor is fresh whatever `refresh` says
  FactorPlace place = FactorPlace::automatic;
  FactorApply apply = FactorApply::automatic;
  FactorStorage storage = FactorStorage::automatic;
  int bands = 0; ///< of the inverse factor, 1 to 8: parts with fewer entries and more launches; 0:
                 ///< by a model of both, and 1 for contact on devices
  bool warp = true; ///< a stale factor follows the rotation of the nodes since it was made
  int contact_iterations = 200; ///< sweeps of projected Gauss-Seidel in a round, at most
  int contact_rounds = 40;      ///< of sweeps and a correction of the motion, at most
  double contact_tolerance =
      1e-8; ///< on gaps, complementarity and sliding after a step, relative to the free motion
  int max_halvings = 6; ///< a step whose matrix is not positive definite is taken in halves
};

constexpr Names<FactorRefresh> names_of(FactorRefresh) {
  return {{FactorRefresh::sync, "sync"},
          {FactorRefresh::every, "every"},
          {FactorRefresh::background, "background"}};
}

constexpr Names<FactorApply> names_of(FactorApply) {
  return {{FactorApply::automatic, "auto"},
          {FactorApply::levels, "levels", is_published},
          {FactorApply::dissection, "dissection", is_published},
          {FactorApply::supernodes, "supernodes"},
          {FactorApply::inverse, "inverse"}};
}

constexpr Names<FactorStorage> names_of(FactorStorage) {
  return {{FactorStorage::automatic, "auto"},
          {FactorStorage::fp64, "fp64"},
          {FactorStorage::fp32, "fp32"},
          {FactorStorage::fp16, "fp16"}};
}

constexpr Names<SoftPreconditioner> names_of(SoftPreconditioner) {
  return {{SoftPreconditioner::none, "none"},
          {SoftPreconditioner::jacobi, "jacobi"},
          {SoftPreconditioner::block_jacobi, "block-jacobi"},
          {SoftPreconditioner::ldlt, "ldlt"}};
}

constexpr Names<SoftAssembly> names_of(SoftAssembly) {
  return {{SoftAssembly::elements, "elements"}, {SoftAssembly::triplets, "triplets", is_published}};
}

constexpr Names<SoftProduct> names_of(SoftProduct) {
  return {{SoftProduct::blocks, "blocks"}, {SoftProduct::kokkos_kernels, "kokkos-kernels"}};
}

constexpr Names<FactorPlace> names_of(FactorPlace) {
  return {{FactorPlace::automatic, "auto"},
          {FactorPlace::host, "host"},
          {FactorPlace::device, "device"}};
}

} // namespace ossatura
