#include "isobar/comm/comm.hpp"

#include <numeric>

namespace isobar::comm {

Comm::Comm(Group group, std::shared_ptr<WorldView> view) : group_(std::move(group)), view_(std::move(view)) {
  const auto size = static_cast<std::size_t>(group_.size);
  for (std::vector<int>* list : {&group_.nodes, &group_.members}) {
    if (!list->empty()) continue;
    list->resize(size);
    std::iota(list->begin(), list->end(), 0);
  }
  expects(group_.rank >= 0 && group_.rank < group_.size, "a rank of the group");
  expects(group_.nodes.size() == size && group_.members.size() == size, "a node and a number for every rank");
}

void throw_wrong_length(const std::string& sent, int from, std::size_t room, Length length, int to) {
  throw std::logic_error(fmt::format("{} from rank {} met a receive of {}{} bytes on rank {}", sent, from,
                                     length == Length::at_most ? "at most " : "", room, to));
}

std::unique_ptr<Comm> duplicate(Comm& comm) {
  std::vector<int> all(static_cast<std::size_t>(comm.size()));
  std::iota(all.begin(), all.end(), 0);
  return comm.among(all);
}

}  // namespace isobar::comm
