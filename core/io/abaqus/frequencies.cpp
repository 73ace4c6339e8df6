// SPDX-License-Identifier: Apache-2.0
// Steps of an Abaqus file that ask for natural frequencies. Such a step has no loads and makes no
// load case: it says how many of the lowest frequencies are to be found, and below which.
//
// [1] Abaqus, Keywords Reference: *FREQUENCY. G. Dhondt, CalculiX CrunchiX User's Manual,
// *FREQUENCY.
#include <ossatura/core/io/abaqus/reader.hpp>

namespace ossatura {

void AbaqusReader::read_frequencies() {
  text_.require_params({"SOLVER", "EIGENSOLVER", "NORMALIZATION", "STORAGE"});
  const AbaqusKeyword& keyword = text_.keyword();
  if (!in_step_)
    text_.bad(keyword.written, " stands in no step");
  if (has_procedure_)
    text_.bad(keyword.written, " beside another procedure; give it a step of its own");
  if (parts_.frequencies)
    text_.bad(keyword.written, " a second time; keep one of these steps");
  if (has_loads(fresh_) || has_temperatures_)
    text_.bad(keyword.written, " in a step with loads, on which natural frequencies do not depend; "
                               "give it a step of its own");
  has_procedure_ = is_of_frequencies_ = true;
  FrequencyRequest request;
  request.step = step_;
  long count = 0;
  if (!text_.next_row() || !text_.number(count) || count < 1 || count > 1000000)
    text_.bad_field("the number of natural frequencies is expected, 1 or more");
  request.count = int(count);
  double least = 0, shift = 0;
  if (!text_.number_or_blank(least))
    text_.bad_field("the lowest frequency of interest is expected, or nothing");
  if (least > 0)
    text_.bad("frequencies from ", least,
              " on are not looked for, but the lowest; leave the lower "
              "end of the range out");
  if (!text_.number_or_blank(request.below) || !(request.below >= 0))
    text_.bad_field("the highest frequency of interest is expected, or nothing");
  if (!text_.number_or_blank(shift) || shift != 0)
    text_.bad("frequencies near a shift of ", shift,
              " are not looked for, but the lowest; leave "
              "the shift out");
  if (text_.next_row()) // sizes of spaces are in the rest of the first
    text_.bad("a second row of ", keyword.written, "; keep one");
  parts_.frequencies = request;
}

bool AbaqusReader::has_loads(const CaseLoads& loads) {
  for (const KeyedLoads* list :
       {&loads.forces, &loads.moments, &loads.pressures, &loads.displacements})
    for (const auto& [key, value] : *list)
      if (value != 0)
        return true;
  return !loads.masses.empty();
}

void AbaqusReader::refuse_loads_of_frequencies() {
  if (is_of_frequencies_)
    text_.bad(text_.keyword().written,
              " in a step with *FREQUENCY, which depends on no loads; move "
              "it to a step of its own");
}

void AbaqusReader::end_frequencies() {
  if (has_loads(fresh_))
    text_.bad("the step before moves nodes and has *FREQUENCY, which depends on no loads; move the "
              "displacements to a step of their own");
  if (perturbation_ && (has_loads(earlier_) || !warming_of_step().empty()))
    add_note("natural frequencies of step '" + step_ +
             "' are without the stiffening by loads of earlier steps, which CalculiX has in a step "
             "with PERTURBATION, and Abaqus after steps with NLGEOM");
  fresh_ = {};
}

} // namespace ossatura
