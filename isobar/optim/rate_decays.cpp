// The schedules that lower the rate by themselves, and the constant one.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "isobar/optim/rate_schedule.hpp"

namespace isobar::optim {
namespace {

// Reads `epochs`, the length of a decay (0 means the whole run), and returns the part of it that is over, in [0, 1].
class Elapsed {
 public:
  explicit Elapsed(Args& args) : epochs_(args.real("epochs", 0)) {
    args.require(epochs_ >= 0 && std::isfinite(epochs_), "epochs must be above 0, or 0 for the whole run");
  }
  double part(const Progress& progress) const {
    const double length = epochs_ > 0 ? epochs_ : progress.total_epochs();
    return length > 0 ? std::min(1.0, progress.epochs() / length) : 1;
  }

 private:
  double epochs_;
};

// Reads `end`, the final factor of a decay, in [0, 1].
double read_end(Args& args) {
  const double end = args.real("end", 0);
  args.require(end >= 0 && end <= 1, "end is a factor of the base rate and must lie between 0 and 1");
  return end;
}

// The base rate throughout.
class ConstantRate final : public RateSchedule {
 public:
  double rate(double base, const Progress&) const override { return base; }
};

// Half a cosine (Loshchilov and Hutter, 2017, without restarts): base (end + (1 - end) (1 + cos(pi t)) / 2), t the part
// of `epochs` that is over; afterwards base end.
class Cosine final : public RateSchedule {
 public:
  explicit Cosine(Args& args) : end_(read_end(args)), elapsed_(args) {}
  double rate(double base, const Progress& progress) const override {
    const double height = (1 + std::cos(std::numbers::pi * elapsed_.part(progress))) / 2;
    return base * (end_ + (1 - end_) * height);
  }

 private:
  double end_;
  Elapsed elapsed_;
};

// Exponential decay, changed every step: base gamma^(epochs / every), epochs with their fraction.
class Exponential final : public RateSchedule {
 public:
  explicit Exponential(Args& args) : every_(args.real("every", 1)), gamma_(args.real("gamma", 0.95)) {
    args.require(every_ > 0 && std::isfinite(every_), "every must be finite and above 0 epochs");
    args.require(gamma_ > 0 && gamma_ <= 1, "gamma must be above 0 and at most 1");
  }
  double rate(double base, const Progress& progress) const override {
    return base * std::pow(gamma_, progress.epochs() / every_);
  }

 private:
  double every_, gamma_;
};

// Piecewise constant, as in MLPerf's CosmoFlow: factors are absolute, not cumulative, and factor i holds once epoch >
// boundary i (strictly), with epochs counted from 0.
class Piecewise final : public RateSchedule {
 public:
  explicit Piecewise(Args& args)
      : boundaries_(args.reals("boundaries", {32, 64})), factors_(args.reals("factors", {0.25, 0.125})) {
    args.require(boundaries_.size() == factors_.size(), "boundaries and factors must have the same length");
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      args.require(i == 0 || boundaries_[i] > boundaries_[i - 1], "boundaries must increase");
      args.require(boundaries_[i] >= 0, "boundaries are epochs and must not be negative");
      args.require(factors_[i] >= 0 && factors_[i] < 1e6, "factors must be at least 0 and below 1e6");
    }
  }
  double rate(double base, const Progress& progress) const override {
    double factor = 1;
    for (std::size_t i = 0; i < factors_.size(); ++i)
      if (static_cast<double>(progress.epoch()) > boundaries_[i]) factor = factors_[i];
    return base * factor;
  }

 private:
  std::vector<double> boundaries_, factors_;
};

// Polynomial decay: base (end + (1 - end) (1 - t)^power), t the part of `epochs` that is over; afterwards base end.
class Polynomial final : public RateSchedule {
 public:
  explicit Polynomial(Args& args) : power_(args.real("power", 1)), end_(read_end(args)), elapsed_(args) {
    args.require(power_ > 0 && std::isfinite(power_), "power must be finite and above 0");
  }
  double rate(double base, const Progress& progress) const override {
    return base * (end_ + (1 - end_) * std::pow(1 - elapsed_.part(progress), power_));
  }

 private:
  double power_, end_;
  Elapsed elapsed_;
};

// Drops at regular intervals: base gamma^floor(epoch / every), epochs counted from 0.
class StepDrop final : public RateSchedule {
 public:
  explicit StepDrop(Args& args) : every_(args.integer("every", 30)), gamma_(args.real("gamma", 0.1)) {
    args.require(every_ >= 1, "every must be at least 1 epoch");
    args.require(gamma_ > 0 && gamma_ <= 1, "gamma must be above 0 and at most 1");
  }
  double rate(double base, const Progress& progress) const override {
    return base * std::pow(gamma_, static_cast<double>(progress.epoch() / every_));
  }

 private:
  std::int64_t every_;
  double gamma_;
};

}  // namespace

extern const Row<RateSchedule> rate_constant{"constant", "the base rate throughout", make_member<ConstantRate>};

extern const Row<RateSchedule> rate_cosine{"cosine", "down to a factor `end` of the base rate along half a cosine",
                                           make_member<Cosine>};

extern const Row<RateSchedule> rate_exponential{"exponential", "times gamma per `every` epochs, smoothly",
                                                make_member<Exponential>};

extern const Row<RateSchedule> rate_piecewise{"piecewise", "a factor of the base rate for each range of epochs",
                                              make_member<Piecewise>};

extern const Row<RateSchedule> rate_polynomial{
    "polynomial", "down to a factor `end` of the base rate along a power of the time left", make_member<Polynomial>};

extern const Row<RateSchedule> rate_step{"step", "times gamma after every `every` epochs", make_member<StepDrop>};

}  // namespace isobar::optim
