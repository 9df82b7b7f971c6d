#include "isobar/base/trace.hpp"

#include <algorithm>

namespace isobar {

std::string_view category_name(Category category) {
  static constexpr std::array<std::string_view, category_count> names{"forward convolution",
                                                                      "forward point-wise",
                                                                      "backward convolution",
                                                                      "backward point-wise",
                                                                      "optimizer",
                                                                      "copies/transposes",
                                                                      "type conversions",
                                                                      "communication",
                                                                      "I/O",
                                                                      "idle"};
  return names[static_cast<std::size_t>(category)];
}

std::string_view lane_name(Lane lane) {
  static constexpr std::array<std::string_view, 3> names{"compute", "exchange", "reading"};
  return names[static_cast<std::size_t>(lane)];
}

std::uint32_t Trace::intern(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void Trace::record(const Event& event) {
  CategoryTotal& total = totals_[static_cast<std::size_t>(event.category)];
  ++total.events;
  total.seconds += event.seconds;
  total.flops += event.flops;
  total.bytes += event.bytes;
  if (events_.size() < capacity_) events_.push_back(event);
  else ++dropped_;
}

void Trace::clear() {
  events_.clear();
  totals_.fill({});
  dropped_ = 0;
}

}  // namespace isobar
