#include "isobar/checkpoint/plain_layout.hpp"

namespace isobar::checkpoint {

std::size_t plain_count(const exec::ParamStore& store, int p) {
  return static_cast<std::size_t>(store.parameter(p).declared.shape.count());
}

std::size_t plain_count(const exec::ParamStore& store) {
  std::size_t count = 0;
  for (int p = 0; p < store.count(); ++p) count += plain_count(store, p);
  return count;
}

std::vector<float> plain_array(const exec::ParamStore& store, std::span<const float> stored) {
  std::vector<float> plain(plain_count(store));
  std::size_t at = 0;
  for (int p = 0; p < store.count(); at += plain_count(store, p), ++p)
    store.read_plain(p, stored_part(store, p, stored), std::span(plain).subspan(at, plain_count(store, p)));
  return plain;
}

void set_plain_array(const exec::ParamStore& store, std::span<const float> plain, std::span<float> stored) {
  std::size_t at = 0;
  for (int p = 0; p < store.count(); at += plain_count(store, p), ++p)
    store.write_plain(p, plain.subspan(at, plain_count(store, p)), stored_part(store, p, stored));
}

}  // namespace isobar::checkpoint
