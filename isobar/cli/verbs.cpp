// The verbs of the program, in the order --help lists them.
#include "isobar/cli/verb.hpp"

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

std::span<const Verb* const> verbs() {
  static constexpr const Verb* all[] = {&demo_verb, &train_verb,   &run_verb,    &watch_verb, &report_verb,
                                        &eval_verb, &predict_verb, &plan_verb,   &zoo_verb,   &onnx_verb,
                                        &list_verb, &data_verb,    &doctor_verb, &bench_verb, &scale_verb};
  return all;
}

}  // namespace isobar::cli
