// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/activation_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

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

} // namespace

TaggedVertices::TaggedVertices(const TetraMesh& mesh, const std::vector<bool>& blocked)
    : first_(mesh.num_points(), -1) {
  std::unordered_map<int, std::int32_t> numbers; // of tags, in the order of first sight
  std::int32_t last = -1;                        // of the tag before; tags come in runs
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    if (!blocked.empty() && blocked[e])
      continue;
    if (last < 0 || tags_[std::size_t(last)] != mesh.tag[e]) {
      const auto [place, is_new] = numbers.insert({mesh.tag[e], std::int32_t(tags_.size())});
      last = place->second;
      if (is_new)
        tags_.push_back(mesh.tag[e]);
    }
    for (std::size_t i = 4 * e; i < 4 * e + 4; ++i) {
      std::int32_t& known = first_[std::size_t(mesh.tetra[i])];
      if (known < 0)
        known = last;
      else if (known != last)
        others_.push_back({mesh.tetra[i], last});
    }
  }
  // Numbers in ascending order of tags.
  std::vector<int> sorted = tags_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> number;
  for (const int tag : tags_)
    number.push_back(
        std::int32_t(std::lower_bound(sorted.begin(), sorted.end(), tag) - sorted.begin()));
  for (std::int32_t& tag : first_)
    tag = tag < 0 ? tag : number[std::size_t(tag)];
  for (Other& other : others_)
    other.tag = number[std::size_t(other.tag)];
  tags_ = sorted;
  const auto key = [](const Other& other) { return std::make_tuple(other.vertex, other.tag); };
  std::sort(others_.begin(), others_.end(),
            [&](const Other& a, const Other& b) { return key(a) < key(b); });
  others_.erase(std::unique(others_.begin(), others_.end(),
                            [&](const Other& a, const Other& b) { return key(a) == key(b); }),
                others_.end());
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
