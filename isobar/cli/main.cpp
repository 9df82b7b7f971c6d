// The program `isobar`: its verbs, and what happens before any of them.
#include "isobar/cli/sibling.hpp"
#include "isobar/comm_mpi/launch.hpp"
#include "isobar/control/shield.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/verbs/command_line.hpp"

namespace isobar::cli {

extern const Verb bench_verb;    // bench.cpp
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

constexpr const Verb* verbs[] = {&demo_verb, &train_verb,   &run_verb,    &watch_verb, &report_verb,
                                 &eval_verb, &predict_verb, &plan_verb,   &zoo_verb,   &onnx_verb,
                                 &list_verb, &data_verb,    &doctor_verb, &bench_verb, &scale_verb};

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
