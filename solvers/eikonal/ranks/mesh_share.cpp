// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/ranks/mesh_share.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace ossatura::detail {

namespace {

using Numbers = std::vector<std::int32_t>;

constexpr std::size_t entries_of_thread = 1 << 14; // entries that are worth a thread
constexpr std::size_t entries_of_block = 1 << 16;  // entries, which are one thread's

/// What rank 0 sends to each rank; nothing on the others.
template<class T>
std::vector<T> deal(const Communicator& comm, std::vector<std::vector<T>> to) {
  to.resize(std::size_t(comm.size()));
  std::vector<T> own = std::move(to[0]); // which stays where it is
  to[0].clear();
  std::vector<std::vector<T>> from = comm.exchange(to);
  return comm.is_first() ? std::move(own) : std::move(from[0]);
}

/// For each of the rows [rank] of rank 0 `width` entries, entry(width * row + k); nothing where
/// there are no rows.
template<class T, class Entry>
std::vector<T> deal_rows(const Communicator& comm, std::size_t width,
                         const std::vector<Numbers>& rows, const Entry& entry) {
  std::vector<std::vector<T>> to(rows.size());
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const Numbers& row = rows[rank];
    to[rank].resize(width * row.size());
    for_parts(row.size(), entries_of_thread, [&](std::size_t first, std::size_t end) {
      T* next = to[rank].data() + width * first;
      for (std::size_t i = first; i < end; ++i)
        for (std::size_t k = 0; k < width; ++k)
          *next++ = entry(width * std::size_t(row[i]) + k);
    });
  }
  return deal(comm, std::move(to));
}

/// The same of an array [., width] of rank 0, which may have nothing.
template<class T>
std::vector<T> deal_rows(const Communicator& comm, std::size_t width,
                         const std::vector<Numbers>& rows, const std::vector<T>& array) {
  return deal_rows<T>(comm, width, array.empty() ? std::vector<Numbers>() : rows,
                      [&](std::size_t i) { return array[i]; });
}

/// The rank whose range a place in the order of the cut is in.
int owner_of(const Numbers& begin, std::int32_t place) {
  return int(std::upper_bound(begin.begin(), begin.end(), place) - begin.begin()) - 1;
}

/// The tetrahedra that each rank sees, ascending.
std::vector<Numbers> tetra_of_ranks(const TetraMesh& mesh, const PointCut& cut) {
  Numbers owner(cut.place.size());
  for_parts(owner.size(), entries_of_thread, [&](std::size_t first, std::size_t end) {
    for (std::size_t p = first; p < end; ++p)
      owner[p] = owner_of(cut.begin, cut.place[p]);
  });
  // By blocks, which are put together in their order.
  const std::size_t num_ranks = cut.begin.size() - 1, n = mesh.num_tetra();
  std::vector<std::vector<Numbers>> of_block((n + entries_of_block - 1) / entries_of_block,
                                             std::vector<Numbers>(num_ranks));
  for_parts(of_block.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t b = first; b < end; ++b)
      for (std::size_t t = entries_of_block * b; t < std::min(n, entries_of_block * (b + 1)); ++t) {
        std::int32_t rank[4];
        for (std::size_t c = 0; c < 4; ++c)
          rank[c] = owner[std::size_t(mesh.tetra[4 * t + c])];
        for (int c = 0; c < 4; ++c)
          if (std::find(rank, rank + c, rank[c]) == rank + c)
            of_block[b][std::size_t(rank[c])].push_back(std::int32_t(t));
      }
  });
  std::vector<Numbers> tetra(num_ranks);
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    std::size_t total = 0;
    for (const std::vector<Numbers>& lists : of_block)
      total += lists[rank].size();
    tetra[rank].reserve(total);
    for (const std::vector<Numbers>& lists : of_block)
      tetra[rank].insert(tetra[rank].end(), lists[rank].begin(), lists[rank].end());
  }
  return tetra;
}

/// The places in `corner` outside of [begin, end), ascending, each once.
Numbers places_outside(const Numbers& corner, std::int32_t begin, std::int32_t end) {
  const auto leave_once = [](Numbers& places) {
    places.erase(std::unique(places.begin(), places.end()), places.end());
  };
  std::vector<Numbers> of_block((corner.size() + entries_of_block - 1) / entries_of_block);
  for_parts(of_block.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; ++b) {
      for (std::size_t i = entries_of_block * b;
           i < std::min(corner.size(), entries_of_block * (b + 1)); ++i)
        if (corner[i] < begin || corner[i] >= end)
          of_block[b].push_back(corner[i]);
      std::sort(of_block[b].begin(), of_block[b].end());
      leave_once(of_block[b]);
    }
  });
  Numbers outside;
  for (const Numbers& places : of_block)
    outside.insert(outside.end(), places.begin(), places.end());
  sort_parts(outside, std::less<>());
  leave_once(outside);
  return outside;
}

/// Tells each owner which of its points are ghosts here, and hears which of its own are elsewhere.
void plan_messages(const Communicator& comm, const Numbers& begin, MeshShare& share) {
  std::vector<Numbers> wanted(std::size_t(comm.size()));
  for (const std::int32_t place : share.ghost_place)
    wanted[std::size_t(owner_of(begin, place))].push_back(place);
  for (const Numbers& places : wanted)
    share.num_received.push_back(std::int64_t(places.size()));
  for (const Numbers& places : comm.exchange(wanted)) {
    share.sends.emplace_back();
    for (const std::int32_t place : places)
      share.sends.back().push_back(share.point_at(place));
  }
}

/// The coordinates of the points of each rank.
std::vector<double> deal_points(const Communicator& comm, const TetraMesh& whole,
                                const PointCut& cut, const MeshShare& share) {
  std::vector<Numbers> asked(std::size_t(comm.size()));
  asked[0] = share.ghost_place;
  asked = comm.exchange(asked); // of each rank, on rank 0
  std::vector<Numbers> rows;
  if (comm.is_first())
    for (std::size_t rank = 0; rank < asked.size(); ++rank) {
      const std::int32_t begin = cut.begin[rank], end = cut.begin[rank + 1];
      const auto higher = std::lower_bound(asked[rank].begin(), asked[rank].end(), end);
      Numbers& row = rows.emplace_back();
      const auto add = [&](auto place, auto last) {
        for (; place != last; ++place)
          row.push_back(cut.order[std::size_t(*place)]);
      };
      add(asked[rank].begin(), higher);
      row.insert(row.end(), cut.order.begin() + begin, cut.order.begin() + end);
      add(higher, asked[rank].end());
    }
  return deal_rows(comm, 3, rows, whole.point);
}

} // namespace

std::int32_t MeshShare::place_of(int point) const {
  if (owns(point))
    return first_place + (point - own_begin);
  return ghost_place[std::size_t(point < own_begin ? point : point - num_own())];
}

int MeshShare::point_at(std::int32_t place) const {
  if (place >= first_place && place < first_place + num_own())
    return own_begin + (place - first_place);
  const auto found = std::lower_bound(ghost_place.begin(), ghost_place.end(), place);
  if (found == ghost_place.end() || *found != place)
    return -1;
  return int(found - ghost_place.begin()) + (place < first_place ? 0 : num_own());
}

MeshShare deal_mesh(const Communicator& comm, const TetraMesh& whole, const PointCut& cut,
                    const std::vector<ConductionVelocity>& by_tetra) {
  MeshShare share;
  Numbers begin = cut.begin;
  comm.broadcast(begin);
  share.total_points = begin.back();
  share.total_tetra = std::int64_t(whole.num_tetra());
  comm.broadcast(share.total_tetra);

  std::vector<Numbers> rows; // of each rank
  if (comm.is_first())
    rows = tetra_of_ranks(whole, cut);
  share.mesh.tetra = deal_rows<std::int32_t>(
      comm, 4, rows, [&](std::size_t i) { return cut.place[std::size_t(whole.tetra[i])]; });
  share.mesh.tag = deal_rows(comm, 1, rows, whole.tag);
  share.mesh.fibre = deal_rows(comm, 3, rows, whole.fibre);
  share.mesh.sheet = deal_rows(comm, 3, rows, whole.sheet);
  share.by_tetra = deal_rows(comm, 1, rows, by_tetra);
  share.tetra_name = deal(comm, std::move(rows));

  share.first_place = begin[std::size_t(comm.rank())];
  const std::int32_t end = begin[std::size_t(comm.rank()) + 1];
  Numbers& corner = share.mesh.tetra; // as places, so far
  share.ghost_place = places_outside(corner, share.first_place, end);
  share.own_begin =
      int(std::lower_bound(share.ghost_place.begin(), share.ghost_place.end(), share.first_place) -
          share.ghost_place.begin());
  share.own_end = share.own_begin + (end - share.first_place);
  for_parts(corner.size(), entries_of_thread, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      corner[i] = share.point_at(corner[i]);
  });
  plan_messages(comm, begin, share);
  share.mesh.point = deal_points(comm, whole, cut, share);
  return share;
}

} // namespace ossatura::detail
