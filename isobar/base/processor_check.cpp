// If the processor lacks what the program was built for, says so in one line and ends the program with exit code 1,
// before any other initialiser: an illegal instruction would give no message. Only this file is compiled for any
// x86-64, so it uses no inline function of a library: the linker may keep the copy of another file.
#include <unistd.h>

#include "isobar/base/processor_needs.hpp"

extern "C" {
// The linker is told to look for this symbol (cmake/instructions.cmake), and so links this file.
__attribute__((constructor(101))) void isobar_check_processor();
}

namespace {

char line[512];
unsigned length = 0;

void add(const char* text) {
  while (*text && length + 1 < sizeof line) line[length++] = *text++;
}

void add_missing(unsigned feature, bool there, const char* name) {
  if (there || !(isobar::processor_needs & feature)) return;
  add(length == 0 ? "isobar: this processor lacks instructions that the program was built for: " : ", ");
  add(name);
}

}  // namespace

void isobar_check_processor() {
  __builtin_cpu_init();
  add_missing(isobar::needs_avx2, __builtin_cpu_supports("avx2"), "avx2");
  add_missing(isobar::needs_fma, __builtin_cpu_supports("fma"), "fma");
  add_missing(isobar::needs_bmi, __builtin_cpu_supports("bmi"), "bmi");
  add_missing(isobar::needs_bmi2, __builtin_cpu_supports("bmi2"), "bmi2");
  add_missing(isobar::needs_avx512f, __builtin_cpu_supports("avx512f"), "avx512f");
  add_missing(isobar::needs_avx512bw, __builtin_cpu_supports("avx512bw"), "avx512bw");
  add_missing(isobar::needs_avx512cd, __builtin_cpu_supports("avx512cd"), "avx512cd");
  add_missing(isobar::needs_avx512dq, __builtin_cpu_supports("avx512dq"), "avx512dq");
  add_missing(isobar::needs_avx512vl, __builtin_cpu_supports("avx512vl"), "avx512vl");
  add_missing(isobar::needs_avx512vbmi, __builtin_cpu_supports("avx512vbmi"), "avx512vbmi");
  add_missing(isobar::needs_avx512ifma, __builtin_cpu_supports("avx512ifma"), "avx512ifma");
  add_missing(isobar::needs_avx512vbmi2, __builtin_cpu_supports("avx512vbmi2"), "avx512vbmi2");
  add_missing(isobar::needs_avx512vnni, __builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add_missing(isobar::needs_avx512bitalg, __builtin_cpu_supports("avx512bitalg"), "avx512bitalg");
  add_missing(isobar::needs_avx512vpopcntdq, __builtin_cpu_supports("avx512vpopcntdq"), "avx512vpopcntdq");
  add_missing(isobar::needs_avx512bf16, __builtin_cpu_supports("avx512bf16"), "avx512bf16");
  add_missing(isobar::needs_gfni, __builtin_cpu_supports("gfni"), "gfni");
  add_missing(isobar::needs_vpclmulqdq, __builtin_cpu_supports("vpclmulqdq"), "vpclmulqdq");
  add_missing(isobar::needs_avx512er, __builtin_cpu_supports("avx512er"), "avx512er");
  if (length == 0) return;
  add("; it needs x86-64-v3 at least, and no more when built with -DISOBAR_ARCH=x86-64-v3\n");
  if (write(STDERR_FILENO, line, length) < 0) _exit(2);
  _exit(1);
}
