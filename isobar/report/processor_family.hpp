// Processor families and the year they were introduced: speeds can only be compared with the age of the hardware beside
// them. Virtual machines often hide the name, so the family and model numbers of the processor are looked up as well.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isobar::report {

struct ProcessorFamily {
  std::string name;
  int year = 0;  ///< the first of the family were sold
};

/// By the name a processor gives itself, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", or by its numbers, "family 6
/// model 106 stepping 6"; nothing when the table has neither.
std::optional<ProcessorFamily> processor_family(std::string_view name, std::string_view numbers = {});

}  // namespace isobar::report
