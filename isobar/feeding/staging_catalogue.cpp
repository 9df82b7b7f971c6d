// The kinds of staging, one row per file.
#include "isobar/feeding/staging.hpp"

namespace isobar::feeding {

extern const Row<Staging> staging_files;  // staging_files.cpp
extern const Row<Staging> staging_none;   // staging_none.cpp
extern const Row<Staging> staging_store;  // staging_store.cpp

Table<Row<Staging>> stagings() {
  static constexpr const Row<Staging>* all[] = {&staging_files, &staging_none, &staging_store};
  return all;
}

}  // namespace isobar::feeding
