#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

Roles Strategy::roles(int ranks) const {
  return {std::vector(static_cast<std::size_t>(ranks), Roles::Role::trains),
          std::vector<int>(static_cast<std::size_t>(ranks))};
}

}  // namespace isobar::parallel
