// Memory laid out as all gradients, in plain layout, as checkpoints hold it: the numbers of one weight after those of
// the other, without padding.
#pragma once

#include "isobar/exec/param_store.hpp"

namespace isobar::checkpoint {

/// Numbers of a weight, and of all.
std::size_t plain_count(const exec::ParamStore& store, int p);
std::size_t plain_count(const exec::ParamStore& store);

/// The numbers of a weight in such memory.
template <class T>
std::span<T> stored_part(const exec::ParamStore& store, int p, std::span<T> all) {
  return all.subspan(store.offset(p), store.gradient(p).size());
}

/// Reads an array in plain layout, and writes it.
std::vector<float> plain_array(const exec::ParamStore& store, std::span<const float> stored);
void set_plain_array(const exec::ParamStore& store, std::span<const float> plain, std::span<float> stored);

}  // namespace isobar::checkpoint
