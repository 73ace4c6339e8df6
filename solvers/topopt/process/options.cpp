// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/process/options.hpp>

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace ossatura {

namespace {

bool is_axis(int axis) {
  return axis >= 0 && axis < 3;
}

std::string describe_bad_value(const DesignProcess& p) {
  std::ostringstream text;
  bool good = is_axis(p.extrude.value_or(0)) && is_axis(p.overhang.value_or(ProcessAxis()).axis);
  if (p.overhang)
    good = good && std::abs(p.overhang->sense) == 1;
  if (p.draw)
    good = good && is_axis(p.draw->direction.axis) && std::abs(p.draw->direction.sense) == 1 &&
           std::isfinite(p.draw->parting.value_or(0));
  for (const DesignProcess::Plane& plane : p.symmetry)
    good = good && is_axis(plane.axis) && std::isfinite(plane.place);
  if (p.rotation)
    for (const double x : p.rotation->point)
      good = good && is_axis(p.rotation->axis) && std::isfinite(x);
  if (!good)
    return "an axis of a process that is none of x, y and z, or a place that is no number";
  if (p.rotation && p.rotation->sectors < 2)
    text << p.rotation->sectors << " sectors: at least 2, or no sectors";
  return text.str();
}

} // namespace

std::string describe_conflict(const DesignProcess& p) {
  if (const std::string bad = describe_bad_value(p); !bad.empty())
    return bad;
  if (p.draw && p.overhang)
    return "a part is cast or moulded (draw), or built in layers (overhang): leave one out";
  if (p.extrude && p.draw)
    return "a part is extruded (extrude), or cast or moulded (draw): leave one out";
  if (p.extrude && p.overhang)
    return "a part is extruded (extrude), or built in layers (overhang): leave one out";
  std::optional<int> along = p.extrude;
  std::string what = "extruded";
  if (p.draw) {
    along = p.draw->direction.axis;
    what = "drawn";
  } else if (p.overhang) {
    along = p.overhang->axis;
    what = "built";
  }
  if (!along)
    return {};
  const char name = "xyz"[*along];
  const auto say = [&](const char* of, const char* remedy) {
    std::ostringstream text;
    text << of << ", and the part is " << what << " along " << name << ": " << remedy;
    return text.str();
  };
  for (const DesignProcess::Plane& plane : p.symmetry)
    if (plane.axis == *along)
      return say("a plane of symmetry is across the direction",
                 "planes that contain the direction alone");
  if (p.rotation && p.rotation->axis != *along)
    return say("sectors turn about another axis than the direction", "take the same axis");
  return {};
}

} // namespace ossatura
