// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/sites.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/mesh/tetra_file.hpp>
#include <ossatura/core/mesh/box.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>

namespace ossatura {

namespace {

double squared_distance(const double* a, const double* b) {
  double sum = 0;
  for (int d = 0; d < 3; ++d)
    sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

double longest_edge(const TetraMesh& mesh) {
  double longest = 0;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j)
        longest = std::max(longest,
                           squared_distance(&mesh.point[3 * std::size_t(mesh.tetra[4 * e + i])],
                                            &mesh.point[3 * std::size_t(mesh.tetra[4 * e + j])]));
  return std::sqrt(longest);
}

class SiteFinder {
public:
  SiteFinder(const TetraMesh& mesh, const SiteSet& set)
      : mesh_(mesh)
      , set_(set)
      , bounds_(bounding_box(mesh.point)) {}

  std::vector<std::int32_t> find(const SiteChoice& site) {
    switch (site.place) {
    case SitePlace::vertices:
      require_numbers(site);
      for (const std::int32_t vertex : site.vertices)
        if (std::size_t(vertex) >= mesh_.num_points())
          fail<InputError>(set_.origin, ": '", site.text, "': vertex ", vertex,
                           " is not in the mesh, whose last one is ", mesh_.num_points() - 1);
      return site.vertices;
    case SitePlace::list: {
      require_numbers(site);
      std::vector<std::int32_t> vertices = read_vertex_list(site.file, mesh_.num_points());
      if (vertices.empty())
        fail<InputError>(set_.origin, ": '", site.text, "': the list has no vertex");
      return vertices;
    }
    case SitePlace::point:
      return {nearest(site)};
    case SitePlace::sphere:
    case SitePlace::box:
      break;
    }
    return inside(site);
  }

private:
  void require_numbers(const SiteChoice& site) const {
    if (mesh_.num_left_out > 0)
      fail<InputError>(set_.origin, ": '", site.text,
                       "': numbers of vertices mean nothing here, because the mesh has ",
                       mesh_.num_left_out,
                       " points without tetrahedron, which are left out: choose by point:X,Y,Z, "
                       "sphere or box, or remove these points from the mesh");
  }

  std::int32_t nearest(const SiteChoice& site) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t found = 0;
    for (std::size_t v = 0; v < mesh_.num_points(); ++v) {
      const double distance = squared_distance(&mesh_.point[3 * v], site.number.data());
      if (distance < least) {
        least = distance;
        found = v;
      }
    }
    if (longest_edge_ < 0)
      longest_edge_ = longest_edge(mesh_);
    if (std::sqrt(least) > longest_edge_)
      fail<InputError>(set_.origin, ": '", site.text, "': the nearest vertex is ",
                       std::setprecision(4), std::sqrt(least),
                       " mm away, more than the longest edge; the mesh spans ", span_text(bounds_),
                       " mm: are these coordinates mm?");
    return std::int32_t(found);
  }

  /// What lies on the surface is inside, rounding allowed for.
  std::vector<std::int32_t> inside(const SiteChoice& site) const {
    const double slack = rounding_of(bounds_);
    const double* x = site.number.data();
    std::vector<std::int32_t> vertices;
    for (std::size_t v = 0; v < mesh_.num_points(); ++v) {
      const double* p = &mesh_.point[3 * v];
      if (site.place == SitePlace::sphere ? std::sqrt(squared_distance(p, x)) <= x[3] + slack
                                          : contains(site.number, p, slack))
        vertices.push_back(std::int32_t(v));
    }
    if (vertices.empty())
      fail<InputError>(set_.origin, ": '", site.text, "': no vertex is inside; the mesh spans ",
                       span_text(bounds_), " mm: are these coordinates mm?");
    return vertices;
  }

  const TetraMesh& mesh_;
  const SiteSet& set_;
  Box bounds_;
  double longest_edge_ = -1;
};

} // namespace

std::vector<EikonalSite> PlacedSites::merged(const SiteSet& set) const {
  std::map<std::int32_t, double> earliest;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    for (const std::int32_t vertex : vertices[i]) {
      const auto [place, is_new] = earliest.insert({vertex, set.sites[i].time});
      if (!is_new)
        place->second = std::min(place->second, set.sites[i].time);
    }
  std::vector<EikonalSite> sites;
  for (const auto& [vertex, time] : earliest)
    sites.push_back({vertex, time});
  return sites;
}

void PlacedSites::leave_blocked_out(const ConductingParts& parts) {
  if (parts.num_blocked() == 0)
    return;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto end = std::remove_if(vertices[i].begin(), vertices[i].end(),
                                    [&](std::int32_t vertex) { return parts.part_of(vertex) < 0; });
    num_blocked[i] = vertices[i].end() - end;
    vertices[i].erase(end, vertices[i].end());
  }
}

PlacedSites place_sites(const TetraMesh& mesh, const SiteSet& set) {
  SiteFinder finder(mesh, set);
  PlacedSites placed;
  for (const SiteChoice& site : set.sites)
    placed.vertices.push_back(finder.find(site));
  placed.num_blocked.assign(set.sites.size(), 0);
  return placed;
}

} // namespace ossatura
