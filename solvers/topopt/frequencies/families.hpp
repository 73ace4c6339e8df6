// SPDX-License-Identifier: Apache-2.0
// A body that goes on in mirrors has modes that are symmetric or antisymmetric about each of their
// planes. What is modelled of it, held across the planes, has those that are symmetric about all.
// An antisymmetric mode has no displacement in the plane and is free across it, so that the same
// model, held so, has all others: of m mirrors 2^m families. Their modes together are those of the
// whole part, and each frequency changes with the density of an element and of its images as that
// of the model does with the one element.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// A family is a number whose bit m is set where its modes are antisymmetric about mirror m.
inline unsigned count_families(const DesignProblem& problem) {
  return 1u << problem.mirrors.size();
}

/// What holds the model in modes of a family: supports, and its mirrors.
std::vector<HeldComponents> held_in_family(const DesignProblem& problem, unsigned family);

/// Why the modes of the whole part cannot be found from the model, with the remedy; empty if they
/// can.
std::string describe_no_families(const DesignProblem& problem);

/// The axes, "x", "x y", about whose mirrors modes of a family are antisymmetric; empty: none.
std::string antisymmetric_axes(const DesignProblem& problem, unsigned family);

} // namespace ossatura
