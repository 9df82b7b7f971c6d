// The tables of this room: update rules, learning-rate schedules and batch ramps.
#include "isobar/optim/batch_ramp.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {

extern const Row<Optimizer> adagrad;  // adagrad.cpp
extern const Row<Optimizer> adam;     // adam.cpp
extern const Row<Optimizer> adamw;    // adam.cpp
extern const Row<Optimizer> lamb;     // lamb.cpp
extern const Row<Optimizer> larc;     // larc.cpp
extern const Row<Optimizer> lars;     // lars.cpp
extern const Row<Optimizer> rmsprop;  // rmsprop.cpp
extern const Row<Optimizer> sgd;      // sgd.cpp

Table<Row<Optimizer>> optimizers() {
  static constexpr const Row<Optimizer>* all[] = {&adagrad, &adam, &adamw, &lamb, &larc, &lars, &rmsprop, &sgd};
  return all;
}

extern const Row<RateSchedule> rate_constant;     // rate_constant.cpp
extern const Row<RateSchedule> rate_cosine;       // rate_cosine.cpp
extern const Row<RateSchedule> rate_exponential;  // rate_exponential.cpp
extern const Row<RateSchedule> rate_piecewise;    // rate_piecewise.cpp
extern const Row<RateSchedule> rate_plateau;      // rate_plateau.cpp
extern const Row<RateSchedule> rate_polynomial;   // rate_polynomial.cpp
extern const Row<RateSchedule> rate_scale;        // rate_scale.cpp
extern const Row<RateSchedule> rate_step;         // rate_step.cpp
extern const Row<RateSchedule> rate_warmup;       // rate_warmup.cpp

Table<Row<RateSchedule>> rate_schedules() {
  static constexpr const Row<RateSchedule>* all[] = {&rate_constant,  &rate_cosine,  &rate_exponential,
                                                     &rate_piecewise, &rate_plateau, &rate_polynomial,
                                                     &rate_scale,     &rate_step,    &rate_warmup};
  return all;
}

extern const Row<BatchRamp> ramp_constant;  // ramp_constant.cpp
extern const Row<BatchRamp> ramp_linear;    // ramp_linear.cpp
extern const Row<BatchRamp> ramp_steps;     // ramp_steps.cpp

Table<Row<BatchRamp>> batch_ramps() {
  static constexpr const Row<BatchRamp>* all[] = {&ramp_constant, &ramp_linear, &ramp_steps};
  return all;
}

}  // namespace isobar::optim
