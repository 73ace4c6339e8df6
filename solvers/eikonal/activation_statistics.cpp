// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/activation_statistics.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

namespace ossatura {

namespace {

/// `mean` holds the sum until finish().
void count(double time, ActivationStatistics& statistics) {
  ++statistics.num_vertices;
  if (!std::isfinite(time))
    return;
  const bool is_first = ++statistics.num_reached == 1;
  statistics.earliest = is_first ? time : std::min(statistics.earliest, time);
  statistics.latest = is_first ? time : std::max(statistics.latest, time);
  statistics.mean += time;
}

void finish(ActivationStatistics& statistics) {
  if (statistics.num_reached > 0)
    statistics.mean /= double(statistics.num_reached);
}

/// Calls body(each) by several threads, where each(take) calls take(e) for some of the tetrahedra
/// that conduct, in their order.
template<class Body>
void for_conducting(const TetraMesh& mesh, const std::vector<bool>& blocked, const Body& body) {
  for_parts(mesh.num_tetra(), std::size_t(1) << 15, [&](std::size_t begin, std::size_t end) {
    body([&](const auto& take) {
      for (std::size_t e = begin; e < end; ++e)
        if (blocked.empty() || !blocked[e])
          take(e);
    });
  });
}

/// The tags that occur, ascending.
std::vector<int> find_tags(const TetraMesh& mesh, const std::vector<bool>& blocked) {
  std::set<int> tags;
  std::mutex mutex;
  for_conducting(mesh, blocked, [&](const auto& each) {
    std::set<int> some;
    const int* last = nullptr; // tags come in runs
    each([&](std::size_t e) {
      if (last == nullptr || *last != mesh.tag[e]) {
        last = &mesh.tag[e];
        some.insert(*last);
      }
    });
    const std::lock_guard<std::mutex> lock(mutex);
    tags.insert(some.begin(), some.end());
  });
  return {tags.begin(), tags.end()};
}

} // namespace

TaggedVertices::TaggedVertices(const TetraMesh& mesh, const std::vector<bool>& blocked)
    : tags_(find_tags(mesh, blocked))
    , first_(mesh.num_points()) {
  std::vector<std::atomic<std::int32_t>> first(mesh.num_points()); // 0: none, else a number and 1
  std::mutex mutex;                                                // of others_
  for_conducting(mesh, blocked, [&](const auto& each) {
    std::vector<Other> others;
    std::int32_t number = -1; // of the tag before; tags come in runs
    each([&](std::size_t e) {
      if (number < 0 || tags_[std::size_t(number)] != mesh.tag[e])
        number =
            std::int32_t(std::lower_bound(tags_.begin(), tags_.end(), mesh.tag[e]) - tags_.begin());
      for (std::size_t i = 4 * e; i < 4 * e + 4; ++i) {
        std::atomic<std::int32_t>& one = first[std::size_t(mesh.tetra[i])];
        std::int32_t known = one.load(std::memory_order_relaxed);
        if (known == 0 && one.compare_exchange_strong(known, number + 1, std::memory_order_relaxed))
          continue;
        if (known != number + 1)
          others.push_back({mesh.tetra[i], number});
      }
    });
    const std::lock_guard<std::mutex> lock(mutex);
    others_.insert(others_.end(), others.begin(), others.end());
  });
  for (std::size_t v = 0; v < first_.size(); ++v)
    first_[v] = first[v].load(std::memory_order_relaxed) - 1;
  const auto key = [](const Other& other) { return std::make_tuple(other.vertex, other.tag); };
  const auto is_before = [&](const Other& a, const Other& b) { return key(a) < key(b); };
  std::sort(others_.begin(), others_.end(), is_before);
  others_.erase(std::unique(others_.begin(), others_.end(),
                            [&](const Other& a, const Other& b) { return key(a) == key(b); }),
                others_.end());
  // Which tag of a vertex came first is chance: the least takes its place, as sums are rounded.
  for (auto other = others_.begin(); other != others_.end();) {
    const auto next = std::find_if(other, others_.end(),
                                   [&](const Other& o) { return o.vertex != other->vertex; });
    std::int32_t& one = first_[std::size_t(other->vertex)];
    if (other->tag < one) {
      std::swap(other->tag, one);
      std::sort(other, next, is_before);
    }
    other = next;
  }
}

template<class Real>
std::vector<ActivationStatistics> TaggedVertices::summarise(ConstSpan<Real> time) const {
  std::vector<ActivationStatistics> statistics(tags_.size());
  for (std::size_t v = 0; v < first_.size(); ++v)
    if (first_[v] >= 0)
      count(double(time.data[v]), statistics[std::size_t(first_[v])]);
  for (const Other& other : others_)
    count(double(time.data[other.vertex]), statistics[std::size_t(other.tag)]);
  for (ActivationStatistics& one : statistics)
    finish(one);
  return statistics;
}

template<class Real>
ActivationStatistics TaggedVertices::summarise_all(ConstSpan<Real> time) const {
  ActivationStatistics statistics;
  for (std::size_t v = 0; v < first_.size(); ++v)
    if (first_[v] >= 0)
      count(double(time.data[v]), statistics);
  finish(statistics);
  return statistics;
}

template<class Real>
std::int64_t count_swallowed(const std::vector<std::int32_t>& vertices, double start, double origin,
                             ConstSpan<Real> time) {
  const Real own = own_time<Real>(start, origin);
  return std::count_if(vertices.begin(), vertices.end(),
                       [&](std::int32_t vertex) { return time.data[vertex] < own; });
}

template<class Real>
std::int64_t count_apart(const ConductingParts& parts,
                         const std::vector<std::vector<std::int32_t>>& sites,
                         ConstSpan<Real> time) {
  std::vector<bool> has_site(parts.size().size());
  for (const std::vector<std::int32_t>& vertices : sites)
    for (const std::int32_t vertex : vertices)
      has_site[std::size_t(parts.part_of(vertex))] = true;
  std::int64_t count = 0;
  for (std::size_t v = 0; v < time.size; ++v) {
    const std::int32_t part = parts.part_of(std::int32_t(v));
    count += part >= 0 && !has_site[std::size_t(part)] && std::isinf(time.data[v]);
  }
  return count;
}

template<class Real>
UnreachedVertices find_unreached(const ConductingParts& parts,
                                 const std::vector<std::vector<std::int32_t>>& sites,
                                 ConstSpan<Real> time) {
  UnreachedVertices unreached;
  std::int64_t count = 0;
  for (std::size_t v = 0; v < time.size; ++v)
    if (parts.part_of(std::int32_t(v)) >= 0) {
      ++unreached.num_vertices;
      count += std::isinf(time.data[v]);
    }
  if (count > 0)
    unreached.num_apart = count_apart(parts, sites, time);
  unreached.num_late = count - unreached.num_apart;
  return unreached;
}

double coarse_rounding(double earliest, double latest) {
  constexpr double coarse = 1e-5;
  const double rounding = std::max(std::abs(earliest), std::abs(latest)) * std::ldexp(1.0, -24);
  return latest > earliest && rounding > coarse * (latest - earliest) ? rounding : 0;
}

#define OSSATURA_INSTANTIATE(Real)                                                                 \
  template std::int64_t count_swallowed(const std::vector<std::int32_t>&, double, double,          \
                                        ConstSpan<Real>);                                          \
  template std::int64_t count_apart(                                                               \
      const ConductingParts&, const std::vector<std::vector<std::int32_t>>&, ConstSpan<Real>);     \
  template UnreachedVertices find_unreached(                                                       \
      const ConductingParts&, const std::vector<std::vector<std::int32_t>>&, ConstSpan<Real>);
OSSATURA_INSTANTIATE(float)
OSSATURA_INSTANTIATE(double)
#undef OSSATURA_INSTANTIATE

template std::vector<ActivationStatistics> TaggedVertices::summarise(ConstSpan<float>) const;
template std::vector<ActivationStatistics> TaggedVertices::summarise(ConstSpan<double>) const;
template ActivationStatistics TaggedVertices::summarise_all(ConstSpan<float>) const;
template ActivationStatistics TaggedVertices::summarise_all(ConstSpan<double>) const;

} // namespace ossatura
