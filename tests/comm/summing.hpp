// A reducer together with the memory in which it makes sums.
#pragma once

#include "isobar/comm/reducer.hpp"

namespace isobar::tests {

class Summing {
 public:
  Summing(comm::Comm& comm, std::size_t floats, const comm::ReducerOptions& options)
      : memory_(gradient_memory(comm, floats, options)), reducer_(make_reducer(comm, *memory_, options)) {}

  comm::Reducer* operator->() const { return reducer_.get(); }
  comm::Reducer& operator*() const { return *reducer_; }

 private:
  std::unique_ptr<comm::GradientMemory> memory_;
  std::unique_ptr<comm::Reducer> reducer_;
};

/// All ranks must call.
inline Summing summing(comm::Comm& comm, std::size_t floats, const comm::ReducerOptions& options = {}) {
  return {comm, floats, options};
}

}  // namespace isobar::tests
