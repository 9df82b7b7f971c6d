#include "isobar/comm/schedule.hpp"

#include <algorithm>

#include "isobar/comm/reserved_tags.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::comm {

Range block(std::size_t count, int parts, int index) {
  expects(parts >= 1 && index >= 0 && index < parts, "one of the blocks");
  const auto places = static_cast<std::size_t>(parts), place = static_cast<std::size_t>(index);
  const std::size_t length = count / places, longer = count % places;
  return {length * place + std::min(place, longer), length + (place < longer ? 1 : 0)};
}

void run(Comm& comm, const Schedule& schedule, const Numbers& data) {
  Walk walk(comm, schedule, data, schedule_tag);
  while (!walk.advance()) walk.wait(0.1);
}

}  // namespace isobar::comm
