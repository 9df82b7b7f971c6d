// Tests of many small tensors compute with one thread: more would cost more than they gain, above all on busy cores.
#pragma once

#include <omp.h>

namespace isobar {

/// While it lives, parallel loops have one thread.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int threads_ = omp_get_max_threads();
};

}  // namespace isobar
