#include "isobar/parallel/buckets.hpp"

#include <utility>

#include "isobar/base/error.hpp"

namespace isobar::parallel {

Buckets::Buckets(std::span<const exec::GradientPlace> places, std::size_t gradients, std::size_t numbers) {
  const int count = std::ssize(places);
  const auto begin = [&](int p) { return p < count ? places[p].offset : gradients; };
  for (int p = 0; p < count; ++p) {
    expects(begin(p) <= begin(p + 1), "gradients in the order of the parameters");
    if (places[p].trained) {
      const bool opens = buckets_.empty() || buckets_.back().last < p || buckets_.back().range.count >= numbers;
      if (opens) buckets_.push_back({p, p, {begin(p), 0}});
      buckets_.back().last = p + 1;
      buckets_.back().range.count = begin(p + 1) - buckets_.back().range.begin;
    } else {
      if (untrained_.empty() || untrained_.back().end() != begin(p)) untrained_.push_back({begin(p), 0});
      untrained_.back().count = begin(p + 1) - untrained_.back().begin;
    }
    bucket_of_.push_back(places[p].trained ? this->count() - 1 : -1);
  }
  missing_.resize(buckets_.size());
}

void Buckets::begin() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) missing_[b] = buckets_[b].last - buckets_[b].first;
}

int Buckets::final(int p) {
  const int b = bucket_of_[static_cast<std::size_t>(p)];
  return b >= 0 && --missing_[static_cast<std::size_t>(b)] == 0 ? b : -1;
}

std::vector<int> Buckets::rest() {
  std::vector<int> list;
  for (std::size_t b = 0; b < buckets_.size(); ++b)
    if (std::exchange(missing_[b], 0) > 0) list.push_back(static_cast<int>(b));
  return list;
}

}  // namespace isobar::parallel
