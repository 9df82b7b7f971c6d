#include "isobar/base/instructions.hpp"

#include <cstdio>
#include <cstdlib>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

constexpr const char* variable = "ISOBAR_INSTRUCTIONS";

// The builtin also checks whether the operating system saves the registers.
Instructions of_this_machine() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? Instructions::v4 : Instructions::v3;
}

Instructions decide() {
  try {
    return instruction_choice().used;
  } catch (const Error& e) {  // no caller could catch it: kernels call this first
    fmt::print(stderr, "isobar: {}\n", e.what());
    std::_Exit(2);
  }
}

}  // namespace

Instructions instructions() noexcept {
  static const Instructions decided = decide();
  return decided;
}

std::string_view name_of(Instructions level) { return level == Instructions::v4 ? "x86-64-v4" : "x86-64-v3"; }

InstructionChoice choose_instructions(Instructions machine, Instructions built, std::optional<std::string_view> cap) {
  if (cap && *cap != "v3" && *cap != "v4")
    fail_usage("{}={}: no such instructions; valid are v3 (AVX2) and v4 (AVX-512)", variable, *cap);
  if (cap == "v3" && built == Instructions::v4)
    fail_usage("{}=v3: this program was built with AVX-512 throughout; build it with -DISOBAR_ARCH=x86-64-v3",
               variable);
  if (built == Instructions::v4) return {Instructions::v4, "the program was built with it"};
  if (machine == Instructions::v3) return {Instructions::v3, "this processor has no AVX-512"};
  if (cap == "v3") return {Instructions::v3, fmt::format("this processor has x86-64-v4, {}=v3 caps it", variable)};
  return {Instructions::v4, "the best this processor has"};
}

InstructionChoice instruction_choice() {
  const char* const cap = std::getenv(variable);
  return choose_instructions(of_this_machine(), built_for, cap ? std::optional<std::string_view>(cap) : std::nullopt);
}

}  // namespace isobar
