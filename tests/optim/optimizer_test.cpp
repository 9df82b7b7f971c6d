// Conformance of every update rule of the catalogue: padding stays zero, a resumed run continues bit for bit,
// threads and shards change nothing, and several steps follow a double-precision reference written independently.
#include "isobar/optim/optimizer.hpp"

#include <cmath>
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/loops.hpp"
#include "isobar/base/random.hpp"

namespace isobar::optim {
namespace {

struct State {
  State(const Optimizer& rule, std::size_t count) : w(count), slots(static_cast<std::size_t>(rule.slots())) {
    for (auto& slot : slots) slot.assign(count, 0.0f);
  }
  std::vector<std::span<float>> spans(std::size_t begin, std::size_t count) {
    std::vector<std::span<float>> list;
    for (auto& slot : slots) list.push_back(std::span(slot).subspan(begin, count));
    return list;
  }
  bool operator==(const State&) const = default;

  std::vector<float> w;
  std::vector<std::vector<float>> slots;
};

std::vector<float> noise(std::size_t count, std::uint64_t stream, double scale) {
  const Random random(7, stream);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(scale * random.normal_pair(i)[0]);
  return values;
}

Step step_at(std::int64_t index) {
  return {.index = index, .learning_rate = 0.02 / static_cast<double>(1 + index / 3)};
}

void run(const Optimizer& rule, State& state, std::int64_t first, std::int64_t last) {
  for (std::int64_t t = first; t <= last; ++t) {
    const auto g = noise(state.w.size(), static_cast<std::uint64_t>(t), 0.3);
    rule.update(state.w, g, state.spans(0, state.w.size()), step_at(t));
  }
}

// The default of every row, so that a new rule is also tested, and the variants of the current rules.
std::vector<Spec> all_specs() {
  std::vector<Spec> specs;
  for (const auto* row : optimizers()) specs.emplace_back(std::string(row->name));
  for (const char* text : {"sgd(momentum=0.9)",
                           "sgd(momentum=0.9, nesterov=true, weight_decay=0.1)",
                           "sgd(weight_decay=0.1)",
                           "sgd(momentum=0.9, form=torch)",
                           "sgd(momentum=0.9, form=torch, nesterov=true)",
                           "adam(form=tf, epsilon=0.1)",
                           "adam(weight_decay=0.1)",
                           "adam(beta1=0, epsilon=0.01)",
                           "adamw(form=tf, weight_decay=0.5)",
                           "adagrad(initial=0.1, weight_decay=0.1)",
                           "rmsprop(momentum=0.9)",
                           "rmsprop(centered=true, weight_decay=0.1)",
                           "rmsprop(centered=true, momentum=0.5, rho=0.99, epsilon=0.001)",
                           "lamb(weight_decay=0)",
                           "lamb(weight_decay=0, adapt=all)",
                           "lamb(weight_decay=0.3, bias_correction=false, beta1=0)",
                           "larc(mode=scale)",
                           "larc(mode=unit, eta=0.1)",
                           "larc(mode=clip, eta=0.003, base=sgd(momentum=0.9, form=torch, weight_decay=0.1))",
                           "larc(mode=scale, base=adamw(weight_decay=0.5), adapt=decayed)",
                           "lars(momentum=0)",
                           "lars(eta=1, weight_decay=0.2)",
                           "lars(eta=0.5, adapt=decayed)"})
    specs.emplace_back(text);
  return specs;
}

class Conformance : public testing::TestWithParam<Spec> {
 protected:
  std::unique_ptr<Optimizer> rule_ = make(optimizers(), GetParam(), "optimizer");
};

TEST_P(Conformance, PaddingStaysExactlyZero) {
  State state(*rule_, 100);
  const std::vector<float> zero(100, 0.0f);
  for (std::int64_t t = 1; t <= 20; ++t) rule_->update(state.w, zero, state.spans(0, 100), step_at(t));
  EXPECT_EQ(state, State(*rule_, 100));
}

TEST_P(Conformance, ResumeContinuesBitForBit) {
  State straight(*rule_, 1000), first_half(*rule_, 1000);
  straight.w = first_half.w = noise(1000, 99, 1);
  run(*rule_, straight, 1, 10);
  run(*rule_, first_half, 1, 5);
  State resumed = first_half;
  run(*make(optimizers(), GetParam(), "optimizer"), resumed, 6, 10);
  EXPECT_EQ(straight, resumed);
  EXPECT_NE(straight.w, first_half.w);
}

TEST_P(Conformance, ThreadsChangeNothing) {
  const std::size_t count = 2 * loop_part + 37;
  const int before = omp_get_max_threads();
  State one(*rule_, count), several(*rule_, count);
  one.w = several.w = noise(count, 99, 1);
  omp_set_num_threads(1);
  run(*rule_, one, 1, 2);
  omp_set_num_threads(3);
  run(*rule_, several, 1, 2);
  omp_set_num_threads(before);
  EXPECT_EQ(one, several);
}

TEST_P(Conformance, ShardsAreUpdatedAsTheWholeWouldBe) {
  State whole(*rule_, 101), sharded(*rule_, 101);  // or not, if the rule needs the whole parameter
  whole.w = sharded.w = noise(101, 99, 1);
  for (std::int64_t t = 1; t <= 3; ++t) {
    const auto g = noise(101, static_cast<std::uint64_t>(t), 0.3);
    rule_->update(whole.w, g, whole.spans(0, 101), step_at(t));
    for (const auto& [begin, count] : {std::pair<std::size_t, std::size_t>{0, 7}, {7, 61}, {68, 33}})
      rule_->update(std::span(sharded.w).subspan(begin, count), std::span(g).subspan(begin, count),
                    sharded.spans(begin, count), step_at(t));
  }
  EXPECT_EQ(whole == sharded, !rule_->needs_whole());
}

TEST_P(Conformance, RateScaleMultipliesTheRate) {
  State scaled(*rule_, 50), given(*rule_, 50);
  scaled.w = given.w = noise(50, 99, 1);
  const auto g = noise(50, 1, 0.3);
  const bool replaced = GetParam().name() == "lars";  // by the local rate
  rule_->update(scaled.w, g, scaled.spans(0, 50), {.index = 1, .learning_rate = 0.25, .rate_scale = 0.5});
  rule_->update(given.w, g, given.spans(0, 50), {.index = 1, .learning_rate = replaced ? 0.25 : 0.125});
  EXPECT_EQ(scaled, given);
}

TEST_P(Conformance, GradientScaleMultipliesTheGradient) {
  State scaled(*rule_, 50), given(*rule_, 50);
  scaled.w = given.w = noise(50, 99, 1);
  const auto g = noise(50, 1, 0.3);
  std::vector<float> quarter(g);
  for (float& v : quarter) v *= 0.25f;
  rule_->update(scaled.w, g, scaled.spans(0, 50), {.index = 1, .learning_rate = 0.125, .gradient_scale = 0.25});
  rule_->update(given.w, quarter, given.spans(0, 50), {.index = 1, .learning_rate = 0.125});
  EXPECT_EQ(scaled, given);
}

TEST_P(Conformance, DecayScaleZeroIsNoDecayAtAll) {
  Spec without = GetParam();
  if (const Value* base = without.find("base")) {
    Spec bare_base = *std::get<std::shared_ptr<const Spec>>(base->held);
    bare_base.set("weight_decay", 0.0);
    without.set("base", std::move(bare_base));
  } else if (without.name() != "larc") {  // whose own default is adam without decay
    without.set("weight_decay", 0.0);
  }
  const auto bare = make(optimizers(), without, "optimizer");
  State scaled(*rule_, 50), plain(*bare, 50);
  scaled.w = plain.w = noise(50, 99, 1);
  const auto g = noise(50, 1, 0.3);
  rule_->update(scaled.w, g, scaled.spans(0, 50), {.index = 1, .learning_rate = 0.1, .decay_scale = 0});
  bare->update(plain.w, g, plain.spans(0, 50), {.index = 1, .learning_rate = 0.1});
  const Value* const adapt = GetParam().find("adapt");
  if (!adapt || adapt->str() != "decayed") EXPECT_EQ(scaled, plain);
  else EXPECT_NE(scaled, plain);  // such a parameter is not adapted either
}

TEST_P(Conformance, EmptyParameterIsLegal) {
  State state(*rule_, 0);
  EXPECT_NO_THROW(rule_->update(state.w, {}, state.spans(0, 0), step_at(1)));
}

TEST_P(Conformance, WrongLengthsAreTheProgrammersFault) {
  State state(*rule_, 4);
  const std::vector<float> g(4), short_gradient(3);
  auto slots = state.spans(0, 4);
  EXPECT_THROW(rule_->update(state.w, short_gradient, slots, step_at(1)), std::logic_error);
  EXPECT_THROW(rule_->update(state.w, g, slots, step_at(0)), std::logic_error);
  slots.emplace_back();
  EXPECT_THROW(rule_->update(state.w, g, slots, step_at(1)), std::logic_error);
}

// One weight in double precision, following the papers and the manuals of the libraries.
struct Reference {
  double w, a = 0, b = 0, c = 0;
};

void reference_step(const Spec& spec, Reference& r, double g, const Step& step) {
  Args args(spec);
  const double lr = step.learning_rate * step.rate_scale;
  const double decay = args.real("weight_decay", spec.name() == "adamw" ? 0.01 : 0) * step.decay_scale;
  const double mu = args.real("momentum", 0);
  if (spec.name() != "adamw") g += decay * r.w;
  if (spec.name() == "sgd") {
    const bool nesterov = args.flag("nesterov", false);
    if (args.text("form", "tf") == "tf") {
      r.a = mu * r.a - lr * g;
      r.w += nesterov ? mu * r.a - lr * g : r.a;
    } else {
      r.a = mu * r.a + g;
      r.w -= lr * (nesterov ? g + mu * r.a : r.a);
    }
  } else if (spec.name() == "adam" || spec.name() == "adamw") {
    const double beta1 = args.real("beta1", 0.9), beta2 = args.real("beta2", 0.999);
    const double epsilon = args.real("epsilon", 1e-8);
    if (spec.name() == "adamw") r.w *= 1 - lr * decay;
    r.a = beta1 * r.a + (1 - beta1) * g;
    r.b = beta2 * r.b + (1 - beta2) * g * g;
    const auto t = static_cast<double>(step.index);
    const double correction1 = 1 - std::pow(beta1, t), correction2 = 1 - std::pow(beta2, t);
    if (args.text("form", "paper") == "tf")
      r.w -= lr * std::sqrt(correction2) / correction1 * r.a / (std::sqrt(r.b) + epsilon);
    else r.w -= lr * (r.a / correction1) / (std::sqrt(r.b / correction2) + epsilon);
  } else if (spec.name() == "adagrad") {
    r.a += g * g;
    r.w -= lr * g / (std::sqrt(r.a + args.real("initial", 0)) + args.real("epsilon", 1e-10));
  } else if (spec.name() == "rmsprop") {
    const double rho = args.real("rho", 0.9);
    r.a = rho * r.a + (1 - rho) * g * g;
    if (args.flag("centered", false)) r.b = rho * r.b + (1 - rho) * g;
    r.c = mu * r.c + lr * g / (std::sqrt(r.a - r.b * r.b) + args.real("epsilon", 1e-7));
    r.w -= r.c;
  } else {
    FAIL() << "no reference for " << spec.name() << ": write one here";
  }
}

double length(const std::vector<double>& values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return std::sqrt(squares);
}

// One parameter: rules that use its norms compute a factor first, all others work weight by weight.
void reference_update(const Spec& spec, std::vector<Reference>& r, std::vector<double> g, Step step) {
  Args args(spec);
  std::vector<double> w;
  for (const Reference& one : r) w.push_back(one.w);
  const double rate = step.learning_rate * step.rate_scale;
  Spec inner = spec;
  if (spec.name() == "larc") {
    const double local = args.real("eta", 0.002) * length(w) / length(g);
    const std::string mode = args.text("mode", "clip");
    for (double& v : g)
      v *= mode == "clip" ? std::min(local, rate) / rate : mode == "unit" ? std::min(local, 1.) : local;
    inner = args.spec("base", "adam");
  } else if (spec.name() == "lars") {
    const double decay = args.real("weight_decay", 0.0005), scaled = decay * step.decay_scale;
    step.rate_scale = args.real("eta", 0.001) * length(w) / (length(g) + scaled * length(w));
    inner = Spec("sgd", {{"momentum", args.real("momentum", 0.9)}, {"weight_decay", decay}});
  } else if (spec.name() == "lamb") {
    const double beta1 = args.real("beta1", 0.9), beta2 = args.real("beta2", 0.999);
    const double decay = args.real("weight_decay", 0.01) * step.decay_scale;
    const bool corrects = args.flag("bias_correction", true);
    const auto t = static_cast<double>(step.index);
    std::vector<double> u;
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i].a = beta1 * r[i].a + (1 - beta1) * g[i];
      r[i].b = beta2 * r[i].b + (1 - beta2) * g[i] * g[i];
      const double m = corrects ? r[i].a / (1 - std::pow(beta1, t)) : r[i].a;
      const double v = corrects ? r[i].b / (1 - std::pow(beta2, t)) : r[i].b;
      u.push_back(m / (std::sqrt(v) + args.real("epsilon", 1e-6)) + decay * w[i]);
    }
    const bool adapts = decay != 0 || args.text("adapt", "decayed") == "all";
    const double ratio = adapts ? length(w) / length(u) : 1;
    for (std::size_t i = 0; i < r.size(); ++i) r[i].w -= rate * ratio * u[i];
    return;
  }
  for (std::size_t i = 0; i < r.size(); ++i) reference_step(inner, r[i], g[i], step);
}

TEST_P(Conformance, FollowsTheReferenceOverManySteps) {
  const std::size_t count = 40;
  State state(*rule_, count);
  state.w = noise(count, 99, 1);
  std::vector<Reference> expected;
  for (const float w : state.w) expected.push_back({w});
  for (std::int64_t t = 1; t <= 25; ++t) {
    Step step = step_at(t);
    step.decay_scale = 0.5;
    step.rate_scale = 2;
    const auto g = noise(count, static_cast<std::uint64_t>(t), 0.3);
    rule_->update(state.w, g, state.spans(0, count), step);
    reference_update(GetParam(), expected, {g.begin(), g.end()}, step);
  }
  for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(state.w[i], expected[i].w, 3e-5) << "weight " << i;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Conformance, testing::ValuesIn(all_specs()), [](const auto& one) {
  std::string name = std::to_string(one.index) + "_" + one.param.str();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

// Numbers computed by hand, so that reference and rule cannot be wrong together.
float after(const char* text, std::initializer_list<Step> steps, float w, float g) {
  const auto rule = make(optimizers(), Spec(text), "optimizer");
  State state(*rule, 1);
  state.w[0] = w;
  for (const Step& step : steps) rule->update(state.w, std::array{g}, state.spans(0, 1), step);
  return state.w[0];
}

TEST(KnownAnswer, sgd) {
  const Step first{1, 0.1}, second{2, 0.1}, slow{2, 0.01};
  EXPECT_FLOAT_EQ(after("sgd", {first, second}, 1, 0.5f), 0.9f);
  EXPECT_FLOAT_EQ(after("sgd(weight_decay=0.5)", {first}, 1, 0.5f), 0.9f);
  EXPECT_FLOAT_EQ(after("sgd(momentum=0.9)", {first, second}, 1, 0.5f), 0.855f);
  EXPECT_FLOAT_EQ(after("sgd(momentum=0.9, nesterov=true)", {first}, 1, 0.5f), 0.905f);
  // the forms differ when the rate changes: an old gradient keeps its rate in one and gets the new rate in the other
  EXPECT_FLOAT_EQ(after("sgd(momentum=0.9, form=tf)", {first, slow}, 1, 0.5f), 0.9f);
  EXPECT_FLOAT_EQ(after("sgd(momentum=0.9, form=torch)", {first, slow}, 1, 0.5f), 0.9405f);
}

TEST(KnownAnswer, adam) {
  EXPECT_FLOAT_EQ(after("adam", {{1, 0.001}}, 1, 0.5f), 0.999f);  // the first step is the rate for any gradient
  EXPECT_FLOAT_EQ(after("adam", {{1, 0.001}}, 1, -0.01f), 1.001f);
  EXPECT_FLOAT_EQ(after("adam(epsilon=1, form=paper)", {{1, 0.1}}, 1, 0.5f), 1 - 0.1f / 3);
  EXPECT_FLOAT_EQ(after("adam(epsilon=1, form=tf)", {{1, 0.1}}, 1, 0.5f), 0.99844347f);
}

TEST(KnownAnswer, adamw) {
  EXPECT_FLOAT_EQ(after("adamw", {{1, 0.01}}, 1, 0.5f), 0.9899f);  // the rate, and the decay 0.01 times the rate
  EXPECT_FLOAT_EQ(after("adamw(weight_decay=0.1)", {{1, 0.01}}, 1, 0.5f), 0.989f);
}

TEST(KnownAnswer, adagrad) {
  EXPECT_FLOAT_EQ(after("adagrad", {{1, 0.1}, {2, 0.1}}, 1, 0.5f), 0.9f - 0.1f / std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(after("adagrad(initial=0.11)", {{1, 0.1}}, 1, 0.5f), 1 - 0.05f / 0.6f);
}

TEST(KnownAnswer, rmsprop) {
  EXPECT_FLOAT_EQ(after("rmsprop(rho=0.75)", {{1, 0.1}}, 1, 0.5f), 0.8f);                     // a = 1/16
  EXPECT_FLOAT_EQ(after("rmsprop(rho=0.75, momentum=0.5)", {{1, 0.1}, {2, 0}}, 1, 1), 0.7f);  // v = 0.2, then 0.1
  EXPECT_FLOAT_EQ(after("rmsprop(rho=0.5, centered=true)", {{1, 0.1}}, 1, 1), 0.8f);          // a - c^2 = 1/2 - 1/4
}

TEST(Catalogue, BadArgumentsAreUsageErrors) {
  for (const char* text : {"sgd(lr=0)",
                           "sgd(lr=-1)",
                           "sgd(lr=nan)",
                           "sgd(lr=inf)",
                           "sgd(lr=fast)",
                           "sgd(momentum=1)",
                           "sgd(momentum=-0.1)",
                           "sgd(nesterov=true)",
                           "sgd(form=caffe)",
                           "sgd(rate=0.1)",
                           "adam(beta1=1)",
                           "adam(beta2=1.5)",
                           "adam(epsilon=0)",
                           "adam(epsilon=1e-50)",
                           "adam(weight_decay=-1)",
                           "adam(weight_decay=inf)",
                           "adagrad(epsilon=0)",
                           "rmsprop(rho=1)",
                           "adma",
                           "lamb(epsilon=0)",
                           "lamb(adapt=some)",
                           "larc(eta=0)",
                           "larc(mode=cut)",
                           "larc(fallback=-1)",
                           "larc(lr=1)",
                           "larc(base=larc)",
                           "larc(base=lamb)",
                           "larc(base=adma)",
                           "larc(base=adam(lr=0))",
                           "lars(eta=0)",
                           "lars(eta=inf)",
                           "lars(momentum=1)"})
    EXPECT_THROW(make(optimizers(), Spec(text), "optimizer"), UsageError) << text;
}

TEST(Catalogue, BaseRateIsWhatTheUserAskedFor) {
  EXPECT_EQ(make(optimizers(), "adam(lr=0.25)", "optimizer")->base_rate(), 0.25);
  EXPECT_EQ(make(optimizers(), "adam", "optimizer")->base_rate(), 0.001);
  EXPECT_EQ(make(optimizers(), "larc(base=sgd(lr=0.5))", "optimizer")->base_rate(), 0.5);
}

TEST(Catalogue, DescribesArgumentsAndDefaults) {
  const auto list = describe(find(optimizers(), "sgd", "optimizer"));
  EXPECT_EQ(list,
            (std::vector<std::string>{"lr=0.01", "momentum=0.0", "nesterov=false", "weight_decay=0.0", "form=tf"}));
}

}  // namespace
}  // namespace isobar::optim
