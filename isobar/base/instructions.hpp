// Which vector instructions our own kernels use, decided at run time: the program is compiled for x86-64-v3, and code
// called through Dispatched also for AVX-512. No other function may contain such code: an inline function compiled with
// AVX-512 in one file could be the copy that the linker keeps for all files (docs/decisions/0023-instructions.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace isobar {

/// Levels of x86-64 as compilers name them: v3 has AVX2 and FMA, v4 also AVX-512 (F, BW, CD, DQ and VL).
enum class Instructions { v3, v4 };

/// The level kernels use: the best of this machine, but at most the one ISOBAR_INSTRUCTIONS names. It never changes, as
/// `const` tells the compiler: calls inside a function that is compiled for one level cost nothing. If the variable
/// names no level, the program ends with exit code 2.
[[gnu::const, gnu::noinline]] Instructions instructions() noexcept;

/// "x86-64-v3" or "x86-64-v4".
std::string_view name_of(Instructions level);

/// The level in use, and why.
struct InstructionChoice {
  Instructions used;
  std::string reason;
};

/// The choice on a machine with level `machine`, by a program compiled for `built`; `cap` is the variable's value.
InstructionChoice choose_instructions(Instructions machine, Instructions built, std::optional<std::string_view> cap);

/// The choice of this process; a wrong value of the variable is a UsageError.
InstructionChoice instruction_choice();

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
inline constexpr Instructions built_for = Instructions::v4;
#else
inline constexpr Instructions built_for = Instructions::v3;
#endif

template <class Signature>
class Dispatched;

/// A function compiled for every level and called with the instructions in use. It only refers to the body it is made
/// from: use it as a parameter, do not store it. Calls inside are inlined, so that they are compiled for the level too;
/// calls that cannot be inlined run as in the rest of the program.
template <class Result, class... Args>
class Dispatched<Result(Args...)> {
 public:
  template <class Body>
  requires(!std::is_same_v<Body, Dispatched>)
      Dispatched(const Body& body)  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : body_(&body), call_(chosen<Body>()) {}

  Result operator()(Args... args) const { return call_(body_, args...); }

 private:
  using Call = Result (*)(const void* body, Args... args);

  template <class Body>
  static Call chosen() {
    if constexpr (built_for == Instructions::v4) return run_v4<Body>;
    else return instructions() == Instructions::v4 ? run_v4<Body> : run_v3<Body>;
  }

  template <class Body>
  [[gnu::flatten]] static Result run_v3(const void* body, Args... args) {
    if (instructions() != Instructions::v3) __builtin_unreachable();
    return (*static_cast<const Body*>(body))(args...);
  }

  template <class Body>
  [[gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl"), gnu::flatten]] static Result run_v4(const void* body,
                                                                                                    Args... args) {
    if (instructions() != Instructions::v4) __builtin_unreachable();
    return (*static_cast<const Body*>(body))(args...);
  }

  const void* body_;
  Call call_;
};

/// Runs body() with the instructions in use.
template <class Body>
void run_dispatched(const Body& body) {
  Dispatched<void()>{body}();
}

}  // namespace isobar
