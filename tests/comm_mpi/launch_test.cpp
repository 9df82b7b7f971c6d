#include "isobar/comm_mpi/launch.hpp"

#include <cstdlib>
#include <map>

#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi {
namespace {

// Sets only these launcher variables in the environment; restores it afterwards.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& wanted) {
    for (const char* name : names)
      if (const char* value = std::getenv(name)) before_[name] = value;
    set(wanted);
  }
  ~Environment() { set(before_); }

 private:
  static constexpr const char* names[] = {
      "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",       "PMI_SIZE",        "PMI_RANK",      "PMIX_RANK",
      "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS",       "MPI_LOCALRANKID", "SLURM_LOCALID", "SLURM_NTASKS",
      "MPI_LOCALNRANKS",      "OMPI_COMM_WORLD_LOCAL_RANK",
  };
  void set(const std::map<std::string, std::string>& wanted) {
    for (const char* name : names) unsetenv(name);
    for (const auto& [name, value] : wanted) setenv(name.c_str(), value.c_str(), 1);
  }
  std::map<std::string, std::string> before_;
};

void expect(const std::map<std::string, std::string>& variables, const Launch& wanted, const std::string& library) {
  const Environment environment(variables);
  const Launch launch = launched();
  EXPECT_EQ(launch.launcher, wanted.launcher);
  EXPECT_EQ(launch.rank, wanted.rank);
  EXPECT_EQ(launch.ranks, wanted.ranks);
  EXPECT_EQ(library_for(launch), library);
}

TEST(Launch, IsReadFromTheEnvironment) {
  expect({}, {1, 0, ""}, "");
  expect({{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}}, {4, 3, "MPICH"}, "MPICH");
  expect({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"PMIX_RANK", "1"}}, {2, 1, "Open MPI"},
         "Open MPI");
  expect({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}, {"PMIX_RANK", "5"}}, {8, 5, "PMIx"}, "Open MPI");
  expect({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}}, {8, 5, "srun"}, "");
}

TEST(Launch, AShellInsideAnAllocationIsNoLauncher) {
  expect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, {1, 0, ""}, "");
}

TEST(Launch, NonsenseIsNoLauncher) {
  expect({{"PMI_SIZE", "4"}, {"PMI_RANK", "four"}}, {1, 0, ""}, "");
  expect({{"PMI_SIZE", "4"}, {"PMI_RANK", "4"}}, {1, 0, ""}, "");
  expect({{"PMI_SIZE", "-4"}, {"PMI_RANK", "0"}}, {1, 0, ""}, "");
}

TEST(Launch, KnowsTheNumberOnTheNode) {
  const Environment none(std::map<std::string, std::string>{});
  EXPECT_EQ(launched_local_rank(), -1);
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    const Environment environment(std::map<std::string, std::string>{{name, "3"}});
    EXPECT_EQ(launched_local_rank(), 3);
  }
}

}  // namespace
}  // namespace isobar::comm_mpi
