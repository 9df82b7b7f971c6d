// The program `isobar`: its verbs, and what happens before any of them.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/comm_mpi/launch.hpp"
#include "isobar/comm_mpi/world.hpp"
#include "isobar/control/shield.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/verbs/command_line.hpp"

namespace isobar::cli {

extern const Verb bench_verb;    // bench.cpp
extern const Verb compare_verb;  // compare.cpp
extern const Verb data_verb;     // data.cpp
extern const Verb demo_verb;     // demo.cpp
extern const Verb doctor_verb;   // doctor.cpp
extern const Verb eval_verb;     // eval.cpp
extern const Verb list_verb;     // list.cpp
extern const Verb onnx_verb;     // onnx.cpp
extern const Verb plan_verb;     // plan.cpp
extern const Verb predict_verb;  // predict.cpp
extern const Verb report_verb;   // report.cpp
extern const Verb run_verb;      // run.cpp
extern const Verb scale_verb;    // scale.cpp
extern const Verb train_verb;    // train.cpp
extern const Verb watch_verb;    // watch.cpp
extern const Verb zoo_verb;      // zoo.cpp

namespace {

constexpr const Verb* verbs[] = {&demo_verb,    &train_verb, &run_verb,   &watch_verb,  &report_verb, &eval_verb,
                                 &predict_verb, &plan_verb,  &zoo_verb,   &onnx_verb,   &list_verb,   &data_verb,
                                 &doctor_verb,  &bench_verb, &scale_verb, &compare_verb};

// The program is built once for every MPI library: bin/isobar and, if there are two, bin/isobar-openmpi. If a launcher
// of the other library started this one, the right one, in the same folder, takes over.
void become_sibling_if_needed(char** argv) {
  const comm_mpi::Launch launch = comm_mpi::launched();
  const std::string wanted = comm_mpi::library_for(launch);
  const std::string_view library = comm_mpi::library();
  if (wanted.empty() || wanted == library || (library != "MPICH" && library != "Open MPI")) return;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto sibling = self.parent_path() / (wanted == "MPICH" ? "isobar" : "isobar-openmpi");
  // With only one MPI library, its program is always bin/isobar.
  if (sibling != self && std::filesystem::exists(sibling)) {
    execv(sibling.c_str(), argv);
    fail("started by the launcher of {}, but this program is linked with {}, and {} cannot be run: {}", wanted, library,
         sibling.string(), std::strerror(errno));
  }
  fail(
      "started by the launcher of {}, but this program is linked with {}, and there is none for {} beside it ({}); use "
      "the launcher of {}, or install {} and build again",
      wanted, library, wanted, sibling.string(), library,
      wanted == "MPICH" ? "libmpich-dev and mpich" : "libopenmpi-dev and openmpi-bin");
}

// Before anything else: this process stays as the shield, and a child process becomes the rank.
void raise_shield_if_supervised() {
  if (const comm_mpi::Launch launch = comm_mpi::launched(); !launch.launcher.empty())
    control::raise_shield(launch.rank, comm_mpi::left_behind());
}

}  // namespace
}  // namespace isobar::cli

int main(int argc, char** argv) {
  using namespace isobar;
  return end_of("isobar", [&] {
    cli::become_sibling_if_needed(argv);
    cli::raise_shield_if_supervised();
    return run_program({"isobar", "Isobar trains scientific deep networks on CPUs, from a laptop to a supercomputer.",
                        machine::program_version(), cli::verbs},
                       argc, argv);
  });
}
