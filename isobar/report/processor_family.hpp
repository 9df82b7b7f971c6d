// Processor families and the year they were introduced: speeds can only be compared if the age of the hardware is
// known. Virtual machines often hide the name, so the family and model numbers of the processor are looked up as well.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isobar::report {

struct ProcessorFamily {
  std::string name;
  int year = 0;  ///< of the first members of the family
};

/// Looks up the name that a processor reports, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", or its numbers, "family
/// 6 model 106 stepping 6"; nothing if the table has neither.
std::optional<ProcessorFamily> processor_family(std::string_view name, std::string_view numbers = {});

}  // namespace isobar::report
