// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/preconditioners/vertex_star_schwarz.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/pfem/stars/matrices.hpp>
#include <ossatura/kernels/pfem/stars/multiply.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ossatura::detail {

namespace {

std::vector<std::uint8_t> of_vertices(const CurvedHexaMesh& mesh,
                                      const std::vector<std::uint8_t>& held) {
  return {held.begin(), held.begin() + std::ptrdiff_t(mesh.mesh.num_points())};
}

double gigabytes(std::int64_t bytes) {
  return std::ceil(double(bytes) / 1e7) / 100;
}

template<class T, class Exec>
Array<T, Exec> part_of(const Array<T, Exec>& array, std::int64_t begin, std::int64_t end) {
  return Kokkos::subview(array, std::make_pair(begin, end));
}

/// The last star of those from `first` whose matrices take at most `entries` together, at least
/// one.
std::int64_t last_star(const std::vector<std::int64_t>& begin, std::int64_t first,
                       std::int64_t entries) {
  const auto past =
      std::upper_bound(begin.begin() + first, begin.end(), begin[std::size_t(first)] + entries);
  return std::min(std::max(std::int64_t(past - begin.begin()) - 1, first + 1),
                  std::int64_t(begin.size()) - 1);
}

/// Entries of matrices in fp64 that are there at a time.
struct StarWorkset {
  std::int64_t stars, elements;
};

/// Plans by the memory there is. Throws BackendError where the inverses, of `entries` entries, do
/// not fit besides.
template<class Exec>
StarWorkset plan_workset(const HierarchicModel<Exec>& model, const HierarchicStars& stars,
                         std::int64_t most_rows, std::int64_t entries,
                         const VertexStarOptions& options) {
  const std::int64_t most = matrix_entries(MatrixStorage::packed, most_rows);
  const std::int64_t kept = entries * std::int64_t(options.single ? sizeof(float) : sizeof(double));
  const std::int64_t share = options.memory > 0 ? options.memory / 8 : std::int64_t(1) << 40;
  const std::int64_t star_bytes =
      options.star_memory > 0 ? options.star_memory : std::min(std::int64_t(1) << 30, share);
  const std::int64_t workset_bytes =
      options.workset > 0 ? options.workset : std::min(std::int64_t(1) << 28, share);
  StarWorkset workset{std::max(most, std::min(entries, star_bytes / 8)), 1};
  for (const HexaBatch<Exec>& batch : model.batch) {
    const std::int64_t own = matrix_entries(MatrixStorage::packed, batch.num_dofs());
    workset.elements =
        std::max(workset.elements, own * std::clamp(workset_bytes / (8 * own), std::int64_t(1),
                                                    std::max(batch.num_elem, std::int64_t(1))));
  }
  const std::int64_t lists = std::int64_t(4 * stars.place.size() + 32 * stars.mode.size());
  const std::int64_t needed = kept + lists + 8 * (workset.stars + workset.elements);
  if (options.memory > 0 && needed > options.memory)
    fail<BackendError>("the inverses of ", stars.num_stars(), " vertex stars of up to ", most_rows,
                       " components take ", gigabytes(needed), " GB, and ",
                       gigabytes(options.memory),
                       " GB are left; take the jacobi preconditioner, a lower order or fewer "
                       "elements");
  return workset;
}

/// A batch needs these lists to be added to stars.
template<class Exec>
struct StarBatch {
  std::vector<int> elem;  ///< of the model, by place in the batch
  Array<int, Exec> place; ///< in the batch, by element of the model; -1 if in another
  CornerModeArrays<Exec> corners;
};

template<class Exec>
std::vector<StarBatch<Exec>> describe_batches(const Exec& exec, const HierarchicModel<Exec>& model,
                                              std::size_t num_elem) {
  std::vector<StarBatch<Exec>> batches;
  for (const HexaBatch<Exec>& batch : model.batch) {
    StarBatch<Exec> own;
    own.elem = download(exec, batch.elem);
    std::vector<int> place(num_elem, -1);
    for (std::size_t k = 0; k < own.elem.size(); ++k)
      place[std::size_t(own.elem[k])] = int(k);
    own.place = upload(exec, "ossatura::stars::batch_place", place);
    own.corners = upload_corner_modes(exec, corner_modes(batch.space, batch.order));
    batches.push_back(std::move(own));
  }
  return batches;
}

/// Marks the elements in the stars from `first` to `last`.
std::vector<std::uint8_t> elements_of_stars(const HierarchicStars& stars, std::int64_t first,
                                            std::int64_t last, std::size_t num_elem) {
  std::vector<std::uint8_t> marks(num_elem, 0);
  for (std::int64_t k = stars.corner_begin[std::size_t(first)];
       k < stars.corner_begin[std::size_t(last)]; ++k)
    marks[stars.corner[std::size_t(k)] / 8] = 1;
  return marks;
}

} // namespace

template<class Exec>
VertexStarSchwarz<Exec>::VertexStarSchwarz(const Exec& exec, const CurvedHexaMesh& mesh,
                                           const HierarchicNumbering& numbering,
                                           const HierarchicModel<Exec>& model,
                                           const std::vector<std::uint8_t>& held,
                                           const VertexStarOptions& options)
    : vertices_(exec, mesh.mesh, of_vertices(mesh, held), options.most_direct) {
  const HierarchicStars stars = [&] {
    const TimedScope scope("ossatura::stars::lists");
    return make_hierarchic_stars(mesh.mesh, numbering, held);
  }();
  stars_ = upload_stars(exec, stars, numbering.num_modes);
  y_ = make_zeros<double>(exec, 3 * std::int64_t(stars.mode.size()), "ossatura::stars::y");
  z_ = make_zeros<double>(exec, 3 * std::int64_t(numbering.num_modes), "ossatura::stars::z");
  form(exec, model, stars, upload(exec, "ossatura::stars::held", held), options);
}

template<class Exec>
void VertexStarSchwarz<Exec>::form(const Exec& exec, const HierarchicModel<Exec>& model,
                                   const HierarchicStars& stars,
                                   const Array<std::uint8_t, Exec>& held,
                                   const VertexStarOptions& options) {
  const std::vector<std::int64_t> begin = star_matrix_begin(stars);
  const std::int64_t num_stars = stars.num_stars(), entries = begin.back();
  const StarWorkset workset =
      plan_workset(model, stars, std::int64_t(stars_.most_rows), entries, options);
  if (options.single)
    single_ = make_uninitialized<float>(exec, entries, "ossatura::stars::inverse");
  else
    double_ = make_uninitialized<double>(exec, entries, "ossatura::stars::inverse");
  const auto work = make_uninitialized<double>(exec, workset.stars, "ossatura::stars::work");
  const auto matrix =
      make_uninitialized<double>(exec, workset.elements, "ossatura::stars::workset");
  std::size_t num_elem = 0;
  for (const HexaBatch<Exec>& batch : model.batch)
    num_elem += std::size_t(batch.num_elem);
  const std::vector<StarBatch<Exec>> batches = describe_batches(exec, model, num_elem);

  std::vector<std::uint8_t> wanted(num_elem, 1); // the vertices want all elements, with `first` 0
  std::int64_t first = 0;
  do {
    const std::int64_t last = num_stars == 0 ? 0 : last_star(begin, first, workset.stars);
    if (first > 0)
      wanted = elements_of_stars(stars, first, last, num_elem);
    Kokkos::deep_copy(exec, work, 0.0);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const HexaBatch<Exec>& batch = model.batch[b];
      const std::vector<int>& elem = batches[b].elem;
      const std::int64_t step =
          workset.elements / matrix_entries(MatrixStorage::packed, batch.num_dofs());
      for (std::int64_t e = 0; e < batch.num_elem; e += step) {
        const std::int64_t end = std::min(e + step, batch.num_elem);
        if (std::none_of(elem.begin() + e, elem.begin() + end,
                         [&](int i) { return wanted[std::size_t(i)] != 0; }))
          continue;
        form_stiffness(exec, options.form, batch, MatrixStorage::packed, e, end, matrix);
        const ElementMatrices<Exec> elements{batch.num_dofs(), e, end, batches[b].place, matrix};
        if (first == 0)
          vertices_.add(exec, batch.space, batch.order, elements);
        add_to_stars(exec, stars_, batches[b].corners, held, elements, first, last, work);
      }
    }
    if (last > first) {
      const TimedScope scope("ossatura::stars::invert");
      invert_stars(exec, stars_, first, last, work);
      const std::int64_t from = begin[std::size_t(first)], to = begin[std::size_t(last)];
      const auto inverse = part_of<double, Exec>(work, 0, to - from);
      if (options.single)
        copy(exec, inverse, part_of<float, Exec>(single_, from, to));
      else
        copy(exec, inverse, part_of<double, Exec>(double_, from, to));
    }
    first = last;
  } while (first < num_stars);
  const TimedScope scope("ossatura::stars::vertices");
  vertices_.prepare(exec);
  fence(exec, "ossatura::VertexStarSchwarz"); // scratch goes
}

template<class Exec>
Array<double, Exec> VertexStarSchwarz<Exec>::apply(const Exec& exec, const Array<double, Exec>& r) {
  if (single_.extent(0) > 0)
    multiply_stars(exec, stars_, single_, r, y_);
  else
    multiply_stars(exec, stars_, double_, r, y_);
  sum_stars(exec, stars_, y_, vertices_.apply(exec, r), z_);
  return z_;
}

template<class Exec>
std::int64_t VertexStarSchwarz<Exec>::bytes() const {
  return std::int64_t(4 * single_.extent(0) + 8 * double_.extent(0));
}

template<class Exec>
std::string VertexStarSchwarz<Exec>::describe() const {
  std::ostringstream text;
  const bool single = single_.extent(0) > 0;
  text << "vertex stars: " << stars_.num_stars << " of up to " << stars_.most_rows
       << " components, " << gigabytes(bytes()) << " GB in " << (single ? "fp32" : "fp64")
       << "; order 1: " << vertices_.describe();
  return text.str();
}

#define OSSATURA_INSTANTIATE(Exec) template class VertexStarSchwarz<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
