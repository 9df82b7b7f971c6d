// The instruction sets the program was built for, as data: if the processor lacks one, the program says so first.
#pragma once

namespace isobar {

/// An instruction set that the compiler may use anywhere; the names are those of __builtin_cpu_supports.
enum ProcessorFeature : unsigned {
  needs_avx2 = 1u << 0,
  needs_fma = 1u << 1,
  needs_bmi = 1u << 2,
  needs_bmi2 = 1u << 3,
  needs_avx512f = 1u << 4,
  needs_avx512bw = 1u << 5,
  needs_avx512cd = 1u << 6,
  needs_avx512dq = 1u << 7,
  needs_avx512vl = 1u << 8,
  needs_avx512vbmi = 1u << 9,
  needs_avx512ifma = 1u << 10,
  needs_avx512vbmi2 = 1u << 11,
  needs_avx512vnni = 1u << 12,
  needs_avx512bitalg = 1u << 13,
  needs_avx512vpopcntdq = 1u << 14,
  needs_avx512bf16 = 1u << 15,
  needs_gfni = 1u << 16,
  needs_vpclmulqdq = 1u << 17,
  needs_avx512er = 1u << 18,  // Xeon Phi only
};

/// The features that this program was compiled with (processor_needs.cpp sees the flags of all other files).
extern const unsigned processor_needs;

}  // namespace isobar
