// The instructions that kernels use, as a user meets them: told by doctor, capped by ISOBAR_INSTRUCTIONS.
#include "isobar/base/instructions.hpp"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

using isobar::Instructions;

Outcome with_cap(const std::string& cap, const std::string& arguments) {
  return run_isobar(arguments, "ISOBAR_INSTRUCTIONS=" + cap + " ");
}

// The lowest level: a program built entirely with AVX-512 has only one.
const std::string least = isobar::built_for == Instructions::v4 ? "v4" : "v3";

TEST(Instructions, DoctorTellsThemAndWhy) {
  const Outcome doctor = run_isobar("doctor --quick", "env -u ISOBAR_INSTRUCTIONS ");
  EXPECT_SHOWS(doctor, "built for      x86-64-v");
  EXPECT_SHOWS(doctor, "kernels use    x86-64-v");
  const Outcome capped = with_cap(least, "doctor --quick");
  EXPECT_SHOWS(capped, "kernels use    x86-64-" + least + ": th");
  EXPECT_SHOWS(capped, least == "v3" ? "oneDNN uses    AVX2: this processor has " : "oneDNN uses    AVX-512");
}

TEST(Instructions, AWrongCapIsAWrongCall) {
  expect_wrong(with_cap("avx2", "zoo"), "zoo", "isobar",
               "ISOBAR_INSTRUCTIONS=avx2: no such instructions; valid are v3");
}

TEST(Instructions, APlanIsThatOfItsLevel) {
  const auto fingerprint = [](const std::string& cap) {
    const Outcome plan = with_cap(cap, "plan 'hep(size=64)' --batch 2");
    const std::size_t at = plan.text.find("fingerprint ");
    EXPECT_NE(at, std::string::npos) << plan;
    return plan.text.substr(at, 28);
  };
  const bool two_levels = least == "v3" && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(fingerprint(least), fingerprint(least));
  EXPECT_EQ(fingerprint(least) != fingerprint("v4"), two_levels);
}

std::string metrics(const std::string& run) {
  std::ifstream in(run + "/metrics.jsonl");
  return {std::istreambuf_iterator<char>(in), {}};
}

// The loss of the last step.
double last_loss(const std::string& text) {
  double loss = std::nan("");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line);
    if (object.value("kind", "") == "step") loss = object.value("loss", 0.0);
  }
  return loss;
}

TEST(Instructions, ALevelGivesTheSameBytesAndAnotherTheSameTraining) {
  const TemporaryFolder folder;
  const std::string train = "train " + small_recipe(folder) + " --threads 2 --quiet --set folder=";
  for (const auto& [run, cap] : {std::pair<std::string, std::string>{"a", least}, {"b", least}, {"c", "v4"}}) {
    const Outcome outcome = with_cap(cap, train + folder / run);
    ASSERT_EQ(outcome.code, 0) << outcome;
  }
  EXPECT_EQ(metrics(folder / "a"), metrics(folder / "b"));
  const double narrow = last_loss(metrics(folder / "a")), wide = last_loss(metrics(folder / "c"));
  EXPECT_NEAR(narrow, wide, 1e-4 * std::abs(wide));
}

}  // namespace
