// A replica of memory alone: parameters of given lengths that lie as in a store, and nothing to compute.
#pragma once

#include <deque>

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel::trials {

struct DeclaredPlainly {
  std::size_t numbers;
  bool trained = true;
};

/// Every parameter begins at a multiple of 16 numbers.
struct PlainMemory {
  PlainMemory(const std::vector<DeclaredPlainly>& declared, std::span<float> given) {
    const auto aligned = [](std::size_t numbers) { return (numbers + 15) / 16 * 16; };
    std::size_t end = 0;
    for (const DeclaredPlainly& d : declared) end += aligned(d.numbers);
    own.resize(2 * end);
    gradients = given.empty() ? std::span(own).first(end) : given;
    std::size_t at = 0;
    for (const DeclaredPlainly& d : declared) {
      names.push_back(fmt::format("p{}", names.size()));
      list.push_back(
          {names.back(), std::span(own).subspan(end + at, d.numbers), gradients.subspan(at, d.numbers), at, d.trained});
      at += aligned(d.numbers);
    }
  }

  std::vector<float> own;
  std::span<float> gradients;
  std::deque<std::string> names;
  std::vector<ReplicaParameter> list;
};

class PlainReplica : private PlainMemory, public Replica {
 public:
  /// In memory of its own, or with gradients in `given`.
  explicit PlainReplica(const std::vector<DeclaredPlainly>& declared, std::span<float> given = {},
                        StepTrace* trace = nullptr)
      : PlainMemory(declared, given), Replica(list, PlainMemory::gradients, trace) {}

  using Replica::gradients;
  double forward(const Feed&) override { return 0; }
  void backward(const Feed&, const std::function<void(int p)>&) override {}
  void update(int, std::span<const float>, const optim::Step&) override {}
};

}  // namespace isobar::parallel::trials
