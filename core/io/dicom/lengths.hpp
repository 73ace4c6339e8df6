// SPDX-License-Identifier: Apache-2.0
// The lengths of a DICOM file's elements are checked before GDCM sees it: GDCM 3.0 takes them at
// their word, asks for gigabytes where one is damaged, and fills up what a truncated file lacks.
#pragma once

#include <string>

namespace ossatura {

/// Walks through the elements of the file at `path`, sequences and fragments included (PS3.5, 7).
/// Throws InputError for one that claims more bytes than are left, for others than elements, for
/// sequences in sequences beyond 32, and for a file that ends within an element.
void require_dicom_lengths(const std::string& path);

} // namespace ossatura
