// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/held_motions.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// A pivot that is smaller than this part of the largest belongs to a motion that nothing holds.
constexpr double smallest_pivot = 1e-13;

} // namespace

std::array<double, 6> HeldMotions::at(const double* x, int component) const {
  double y[3];
  for (int d = 0; d < 3; ++d)
    y[d] = size > 0 ? (x[d] - centre[d]) / size : 0;
  std::array<double, 6> r{};
  r[std::size_t(component)] = 1;
  // e_k x y, of which the component c is wanted.
  const int next = (component + 1) % 3, last = (component + 2) % 3;
  r[std::size_t(3 + next)] = y[last];
  r[std::size_t(3 + last)] = -y[next];
  return r;
}

void HeldMotions::add(const double* x, int component) {
  const std::array<double, 6> r = at(x, component);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      gram[i][j] += r[i] * r[j];
}

// Cholesky's factorisation with diagonal pivots.
int HeldMotions::rank(unsigned motions) const {
  double a[6][6];
  std::copy(&gram[0][0], &gram[0][0] + 36, &a[0][0]);
  int rank = 0;
  double largest = 0;
  bool done[6];
  for (int i = 0; i < 6; ++i)
    done[i] = (motions >> i & 1) == 0;
  for (; rank < 6; ++rank) {
    int p = -1;
    for (int i = 0; i < 6; ++i)
      if (!done[i] && (p < 0 || a[i][i] > a[p][p]))
        p = i;
    if (p < 0)
      break;
    largest = std::max(largest, a[p][p]);
    if (!(a[p][p] > smallest_pivot * largest))
      break;
    done[p] = true;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        if (!done[i] && !done[j])
          a[i][j] -= a[i][p] * a[p][j] / a[p][p];
  }
  return rank;
}

std::string HeldMotions::free_motions() const {
  if (rank() == 6)
    return {};
  std::string text;
  const auto name = [&text](const char* what, int axis) {
    text += (text.empty() ? "" : ", ") + std::string(what) + "xyz"[axis];
  };
  for (int axis = 0; axis < 3; ++axis)
    if (rank(1u << axis) == 0)
      name("along ", axis);
  // About some line along an axis: a turn that motions along axes undo where it is held.
  for (int axis = 0; axis < 3; ++axis)
    if (rank(7u | 8u << axis) == rank(7u))
      name("about ", axis);
  return text.empty() ? "about a line that is along none of the axes" : text;
}

// Gauss's elimination with diagonal pivots, without the motions that nothing holds.
std::array<double, 6> HeldMotions::fit(const std::array<double, 6>& load) const {
  double a[6][7];
  for (std::size_t i = 0; i < 6; ++i) {
    std::copy(gram[i], gram[i] + 6, a[i]);
    a[i][6] = load[i];
  }
  std::array<double, 6> motion{};
  bool done[6] = {};
  double largest = 0;
  for (int step = 0; step < 6; ++step) {
    int p = -1;
    for (int i = 0; i < 6; ++i)
      if (!done[i] && (p < 0 || a[i][i] > a[p][p]))
        p = i;
    largest = std::max(largest, a[p][p]);
    if (!(a[p][p] > smallest_pivot * largest))
      break;
    done[p] = true;
    for (int i = 0; i < 6; ++i)
      if (i != p) {
        const double factor = a[i][p] / a[p][p];
        for (int j = 0; j < 7; ++j)
          a[i][j] -= factor * a[p][j];
      }
  }
  for (std::size_t i = 0; i < 6; ++i)
    if (done[i])
      motion[i] = a[i][6] / a[i][i];
  return motion;
}

} // namespace ossatura
