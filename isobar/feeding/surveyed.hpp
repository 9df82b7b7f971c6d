// Making data sets on all ranks of a group while only one looks into every file.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "isobar/comm/comm.hpp"
#include "isobar/datasets/survey.hpp"

namespace isobar::feeding {

/// Gives all ranks the survey of rank 0. All ranks must call.
void share_survey(datasets::Survey& survey, comm::Comm& comm);

/// Makes something with `survey` on every rank: on rank 0 first, on the others with what it has noted. When rank 0
/// fails, the others try with what it has noted until then, and meet the same error themselves. All ranks must call.
template <class F>
auto surveyed(datasets::Survey& survey, comm::Comm& comm, F make) {
  std::optional<decltype(make())> made;
  std::exception_ptr failure;
  try {
    if (comm.rank() == 0) made.emplace(make());
  } catch (...) {
    failure = std::current_exception();
  }
  share_survey(survey, comm);
  if (failure) std::rethrow_exception(failure);
  return made ? *std::move(made) : make();
}

}  // namespace isobar::feeding
