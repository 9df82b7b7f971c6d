#include "isobar/comm_mpi/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

namespace isobar::comm_mpi {
namespace {

std::optional<int> number(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return {};
  const std::string_view view = text;
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size() || value < 0) return {};
  return value;
}

}  // namespace

// A shell inside a Slurm allocation has SLURM_PROCID too: only srun sets the size of a step.
Launch launched() {
  struct Signs {
    const char *launcher, *ranks, *rank;
  };
  static constexpr Signs known[] = {
      {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
      {"MPICH", "PMI_SIZE", "PMI_RANK"},
      {"PMIx", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"},
      {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
  };
  for (const Signs& signs : known) {
    const auto ranks = number(signs.ranks), rank = number(signs.rank);
    if (ranks && rank && *rank < *ranks) return {*ranks, *rank, signs.launcher};
  }
  return {};
}

int launched_local_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const auto value = number(variable)) return *value;
  return -1;
}

// Open MPI's shared memory: /dev/shm/vader_segment.HOST.USER.JOB.LOCAL_RANK, with the job in hexadecimal digits.
std::string left_behind() {
  const char* job = std::getenv("OMPI_MCA_ess_base_jobid");
  const int local_rank = launched_local_rank();
  if (!job || local_rank < 0) return {};
  return fmt::format("/dev/shm/vader_segment.*.{}.{:x}.{}", geteuid(), std::strtoul(job, nullptr, 10), local_rank);
}

std::string library_for(const Launch& launch) {
  if (launch.launcher == "Open MPI" || launch.launcher == "PMIx") return "Open MPI";
  return launch.launcher == "MPICH" ? "MPICH" : "";
}

}  // namespace isobar::comm_mpi
