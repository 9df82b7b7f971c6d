// All splits.
#include "isobar/split/split.hpp"

namespace isobar::split {

extern const Row<Split> none;  // none.cpp

Table<Row<Split>> splits() {
  static constexpr const Row<Split>* all[] = {&none};
  return all;
}

}  // namespace isobar::split
