// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/groups.hpp"

namespace ossatura::bench {

namespace {

void register_soft_cg(const Options& options) {
  register_soft_cg_solver(options);
  register_soft_cg_ways(options);
}

Scope rows(const std::string& only = "", const std::string& once = "") {
  Scope scope;
  scope.only = only;
  scope.once = once;
  return scope;
}

Scope sizes(const std::vector<int>& sizes, const std::string& only = "",
            const std::string& once = "") {
  Scope scope = rows(only, once);
  scope.sizes = sizes;
  return scope;
}

Scope edges(const std::vector<int>& edges, const std::string& only = "") {
  Scope scope = rows(only);
  scope.edges = edges;
  return scope;
}

Scope elements(const std::vector<int>& elements, const std::string& only) {
  Scope scope = rows(only);
  scope.elements = elements;
  return scope;
}

/// Of bone.
std::vector<Group> voxel_groups() {
  return {
      {"voxel_apply", "product with the stiffness of voxels, without a matrix",
       register_voxel_apply, sizes({16}), rows("/cube:|/perlin:(128|550)")},
      {"voxel_residual", "b - A x on voxels, fused where the operator can", register_voxel_residual,
       sizes({16}), rows("/cube:(128|400)|/perlin:(128|550)")},
      {"voxel_smoothing_step", "x + omega D^-1 (b - A x) on voxels", register_voxel_smoothing_step,
       sizes({16}), rows("/cube:(128|400)|/perlin:(128|550)")},
      {"peers", "the product of voxel_apply with the assembled matrix, by other libraries",
       register_peers, sizes({16}), rows("/cube:")},
      {"voxel_multigrid", "prolongation and restriction between voxels and cells",
       register_voxel_multigrid, sizes({16}), rows("/cube:|/perlin:(128|550)")},
      {"voxel_classes", "set-up of the offset operator, and its classes of elements",
       register_voxel_classes, sizes({16}), rows("/(cube|bone|perlin):(128|550)")},
      {"voxel_memory", "peak of allocations from an image to a solver", register_voxel_memory,
       rows("/bone:"), rows("", ".")},
      {"voxel_solve", "an axial test on bone, set-up and solve", register_voxel_solve, sizes({16}),
       rows("/brick/|/(cube|bone):(96|256)")},
      {"voxel_plastic", "forces and tangent of voxels that yield", register_voxel_plastic,
       sizes({16}), rows("/bone:(128|256)")},
      {"voxel_strength", "steps of an axial test beyond yield", register_voxel_strength,
       sizes({16}), rows("/bone:(48|256)")},
      {"voxel_study", "turned images, laws by label, and moduli after remodelling and damage",
       register_voxel_study, sizes({16}), rows("/cube:(128|256)")},
      {"voxel_damage", "steps of an axial test of bone that breaks", register_voxel_damage,
       sizes({16}), rows("/bone:(32|128)")},
      // With --quick not perlin: at this size one step solves it.
      {"voxel_profile", "an iteration of voxel_solve by kernel and level", register_voxel_profile,
       sizes({16}, "/(cube|bone):"), rows("/brick/.*/perlin:(96|550)", ".")},
  };
}

} // namespace

// bench/CMakeLists.txt has a test for each of these names. --quick is the smallest that means
// something; --full is what one GPU measures in ten minutes, so that rows with much work on the
// host before them are few.
const std::vector<Group>& all_groups() {
  static const std::vector<Group> others = {
      {"eikonal", "activation times of a heart: all methods, variants and batches",
       register_eikonal, edges({300}),
       edges({72, 36}, "^eikonal/.*:72|/(queue|spread)/.*:72|^eikonal/queue/")},
      {"eikonal_setup", "from the mesh on the host to a solver", register_eikonal_setup,
       edges({300}), edges({72})},
      // kokkos_kernels_rp was wrong on CUDA before its row began from zero; not tried there since.
      {"factor_apply", "one application of the factor of a soft body, by all ways and peers",
       register_factor_apply, rows(),
       rows("^factor_apply/(?!kokkos_kernels_rp/cuda).*/(raptor1|raptor3)$|"
            "/(inverse_fp(16|32|64)|supernodes|cusparse_fp64)/.*/cube$",
            "/(cube|raptor3)$")},
      {"soft_assembly", "from element matrices to the matrix of a soft body",
       register_soft_assembly, sizes({8}), rows("", ".")},
      {"soft_assembly_setup", "from indices to the map that assembles",
       register_soft_assembly_setup, sizes({8}), rows(":(8418|19409|156|359)$")},
      {"soft_multiply", "product with the assembled matrix of a soft body", register_soft_multiply,
       sizes({8}), rows("", ".")},
      {"soft_contact", "246 contacts: detection, compliance, sweeps", register_soft_contact,
       sizes({30}), rows(":(8418|19409|156|359)$")},
      {"soft_step", "whole steps of soft bodies, by law and refresh of the factor",
       register_soft_step, rows(),
       rows("/corotational/.*/(raptor1|raptor3)$|/background/.*/(raptor1|raptor3|cube)$")},
      {"soft_cg", "steps with a fixed number of iterations, assembled and matrix-free",
       register_soft_cg, rows(":100$"), rows("/corotational/.*:100$|/raptor1:1000$")},
      {"hexa_apply", "product with the stiffness of hexahedra as any mesh", register_hexa_apply,
       sizes({6}),
       sizes({32, 80, 160},
             "/f64/box:(32|80)$|/f32/box:80$|/f64/distorted:80$|"
             "/(ebe|ebeSym|bsr|recompute|partial|congruent)/.*/f64/box:160$",
             ":160$")},
      {"hexa_solve", "a cantilever by each preconditioner", register_hexa_solve, sizes({16}),
       sizes({32, 64, 128}, ":(32|64)$|/(amg|jacobi)/.*/mixed/.*:128$", ":128$")},
      {"design_step", "a step of topology optimisation, on meshes, voxels and tetrahedra",
       register_design_step, sizes({16}),
       sizes({32, 64, 128, 160},
             "/oc:(32|64)$|/voxels/.*/oc:128$|/voxels/(openmp|cuda)/oc:160$|"
             "/voxels/(serial|openmp)/(?!oc).*:32$|/voxels/cuda/(?!oc).*:128$|/solids/.*:32$|"
             "/solids/cuda/.*:64$",
             ":(128|160)$|/solids/")},
      {"design_filter", "the cone filter of a design on voxels, by its radius",
       register_design_filter, sizes({12}), sizes({64, 160, 256}, ":(64|256)$", ":256$")},
      {"design_frequencies", "steps of a design for its lowest natural frequency",
       register_design_frequencies, sizes({24}),
       sizes({48, 96, 192, 384}, "/mesh/.*:|/voxels/.*:(48|192)$", ":384$")},
      {"pfem_form", "stiffness matrices of high order by each method", register_pfem_form,
       elements({3}, "/p:3$"),
       rows("/(ai|ai-inner|aii|aii-inner)/.*/p:[1-3]$|"
            "/(blocked|sum-fact|tensor-cores)/.*/trunk/packed/p:[1-5]$|"
            "/(sum-fact|tensor-cores)/.*/points/trunk/packed/p:8$|"
            "/(affine|congruent)/.*/p:[1-5]$")},
      {"pfem_apply", "product with the stiffness of high order", register_pfem_apply,
       sizes({4}, "/p:3$"), rows("/elements:.*/p:(2|3|5|8)$|/shared/.*/p:[23]$")},
      {"pfem_solve", "solves of high order by preconditioner and operator", register_pfem_solve,
       sizes({4}, "/p:3$"), rows("/p:(2|4|6|8)$")},
      {"jobs", "whole runs of the executable ossatura, and where their time goes", register_jobs,
       rows("/(sphere:32|laminate:32|perlin:64|radius|slab:50|wall|ventricles:300|cloth:10|"
            "cantilever:16|sphere|pressure-vessel|laminate|radius-mask|cantilever-levels:32)$"),
       rows("", "/(perlin.*:550|ventricles:36|raptor:1000|cantilever:(120|494))$")},
      {"scaling", "over the ranks of a launcher: cuts of models, loads, sets of sites, designs",
       register_scaling,
       sizes({24}, "/cut/.*/ranks:(1|8)$|/(strong|loads|sets|design)/.*/ranks:2$"),
       rows("/cut/|/ranks:[1248]$", ".")},
  };
  static const std::vector<Group> groups = [] {
    std::vector<Group> all = voxel_groups();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return groups;
}

} // namespace ossatura::bench
