// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/ranks/mesh_share.hpp>

#include <algorithm>

namespace ossatura::detail {

namespace {

using Numbers = std::vector<std::int32_t>;

/// What rank 0 sends to each rank; nothing on the others.
template<class T>
std::vector<T> deal(const Communicator& comm, std::vector<std::vector<T>> to) {
  to.resize(std::size_t(comm.size()));
  return std::move(comm.exchange(to)[0]);
}

/// `width` entries of each of the rows, of an array of rank 0: rows[rank], as rank 0 knows them.
template<class T>
std::vector<T> deal_rows(const Communicator& comm, const std::vector<T>& array, std::size_t width,
                         const std::vector<Numbers>& rows) {
  std::vector<std::vector<T>> to;
  if (comm.is_first() && !array.empty())
    for (const Numbers& own : rows) {
      T* next = to.emplace_back(own.size() * width).data();
      for (const std::int32_t row : own)
        next = std::copy_n(array.data() + width * std::size_t(row), width, next);
    }
  return deal(comm, std::move(to));
}

/// The rank whose range a place in the order of the cut is in.
int owner_of(const Numbers& begin, std::int32_t place) {
  return int(std::upper_bound(begin.begin(), begin.end(), place) - begin.begin()) - 1;
}

/// The tetrahedra that each rank sees, ascending.
std::vector<Numbers> tetra_of_ranks(const TetraMesh& mesh, const Numbers& place,
                                    const Numbers& begin) {
  std::vector<Numbers> tetra(begin.size() - 1);
  Numbers owner(place.size());
  for (std::size_t p = 0; p < place.size(); ++p)
    owner[p] = owner_of(begin, place[p]);
  for (std::size_t t = 0; t < mesh.num_tetra(); ++t) {
    int rank[4];
    for (std::size_t c = 0; c < 4; ++c)
      rank[c] = owner[std::size_t(mesh.tetra[4 * t + c])];
    for (int c = 0; c < 4; ++c)
      if (std::find(rank, rank + c, rank[c]) == rank + c)
        tetra[std::size_t(rank[c])].push_back(std::int32_t(t));
  }
  return tetra;
}

/// Own places and those of the corners, ascending, each once.
Numbers visible_places(const Numbers& corner, std::int32_t own_begin, std::int32_t own_end) {
  Numbers seen;
  for (std::int32_t place = own_begin; place < own_end; ++place)
    seen.push_back(place);
  Numbers ghosts;
  for (const std::int32_t place : corner)
    if (place < own_begin || place >= own_end)
      ghosts.push_back(place);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  const auto higher = std::lower_bound(ghosts.begin(), ghosts.end(), own_end);
  seen.insert(seen.begin(), ghosts.begin(), higher);
  seen.insert(seen.end(), higher, ghosts.end());
  return seen;
}

/// Tells each owner which of its points are ghosts here, and hears which of its own are elsewhere.
void plan_messages(const Communicator& comm, const Numbers& begin, const Numbers& seen,
                   MeshShare& share) {
  std::vector<Numbers> wanted(std::size_t(comm.size()));
  for (const std::int32_t place : seen)
    if (const int owner = owner_of(begin, place); owner != comm.rank())
      wanted[std::size_t(owner)].push_back(place);
  for (const Numbers& places : wanted)
    share.num_received.push_back(std::int64_t(places.size()));
  const std::int32_t offset = share.own_begin - begin[std::size_t(comm.rank())];
  for (const Numbers& places : comm.exchange(wanted)) {
    share.sends.emplace_back();
    for (const std::int32_t place : places)
      share.sends.back().push_back(place + offset);
  }
}

} // namespace

MeshShare deal_mesh(const Communicator& comm, const TetraMesh& whole, const PointCut& cut,
                    const std::vector<ConductionVelocity>& by_tetra) {
  MeshShare share;
  Numbers begin = cut.begin;
  comm.broadcast(begin);
  share.total_points = begin.back();
  share.total_tetra = std::int64_t(whole.num_tetra());
  comm.broadcast(share.total_tetra);

  std::vector<Numbers> rows; // of each rank
  Numbers corner;            // of tetrahedra, as places in the order of the cut
  if (comm.is_first()) {
    Numbers place(cut.order.size());
    for (std::size_t i = 0; i < place.size(); ++i)
      place[std::size_t(cut.order[i])] = std::int32_t(i);
    rows = tetra_of_ranks(whole, place, begin);
    corner.reserve(whole.tetra.size());
    for (const std::int32_t point : whole.tetra)
      corner.push_back(place[std::size_t(point)]);
  }
  corner = deal_rows(comm, corner, 4, rows);
  share.mesh.tag = deal_rows(comm, whole.tag, 1, rows);
  share.mesh.fibre = deal_rows(comm, whole.fibre, 3, rows);
  share.mesh.sheet = deal_rows(comm, whole.sheet, 3, rows);
  share.by_tetra = deal_rows(comm, by_tetra, 1, rows);
  share.tetra_name = deal(comm, std::move(rows));

  const std::int32_t first = begin[std::size_t(comm.rank())],
                     last = begin[std::size_t(comm.rank()) + 1];
  const Numbers seen = visible_places(corner, first, last);
  share.own_begin = int(std::lower_bound(seen.begin(), seen.end(), first) - seen.begin());
  share.own_end = share.own_begin + (last - first);
  const auto number_of = [&](std::int32_t place) {
    return place >= first && place < last
               ? share.own_begin + (place - first)
               : std::int32_t(std::lower_bound(seen.begin(), seen.end(), place) - seen.begin());
  };
  share.mesh.tetra.reserve(corner.size());
  for (const std::int32_t place : corner)
    share.mesh.tetra.push_back(number_of(place));
  plan_messages(comm, begin, seen, share);

  std::vector<Numbers> asked(std::size_t(comm.size()));
  asked[0] = seen;
  asked = comm.exchange(asked); // of each rank, on rank 0
  if (comm.is_first())
    for (Numbers& places : asked)
      for (std::int32_t& place : places)
        place = cut.order[std::size_t(place)];
  share.mesh.point = deal_rows(comm, whole.point, 3, asked);
  if (!comm.is_first())
    asked.clear();
  share.point_name = deal(comm, std::move(asked));
  return share;
}

} // namespace ossatura::detail
