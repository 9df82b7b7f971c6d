#include "isobar/parallel/server_words.hpp"

#include <algorithm>
#include <numeric>

namespace isobar::parallel {

std::vector<int> deal_by_size(std::span<const ServedParameter> parameters, int servers) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t p) { return parameters[p].count; });
  std::vector<std::size_t> load(servers);
  std::vector<int> server_of(parameters.size());
  for (const std::size_t p : order) {
    const auto lightest = std::ranges::min_element(load);
    *lightest += parameters[p].count;
    server_of[p] = static_cast<int>(lightest - load.begin());
  }
  return server_of;
}

}  // namespace isobar::parallel
