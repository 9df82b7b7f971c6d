#include "isobar/tensor/engine.hpp"

#include <cpuid.h>
#include <cstdlib>

namespace isobar {
namespace {

std::string isa_name(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 BF16";
    case dnnl::cpu_isa::avx512_core_amx: return "AVX-512 AMX";
    default: return "other";
  }
}

// Chosen once: oneDNN ignores changes after its first primitive.
IsaChoice guard() {
  const AmxState amx = amx_state();
  IsaChoice choice;
  if (amx.flag && amx.palettes < 1 && !std::getenv("ONEDNN_MAX_CPU_ISA") && !std::getenv("DNNL_MAX_CPU_ISA")) {
    if (dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16) == dnnl::status::success)
      choice.reason = "AMX is announced but CPUID leaf 0x1D is hidden, so oneDNN is capped below it";
    else choice.reason = "AMX is announced without palettes and the cap came too late: bf16 may crash";
  }
  choice.name = isa_name(dnnl::get_effective_cpu_isa());
  if (choice.reason.empty())
    choice.reason =
        std::getenv("ONEDNN_MAX_CPU_ISA") ? "set by ONEDNN_MAX_CPU_ISA" : "the best this processor announces";
  return choice;
}

const IsaChoice& guarded() {
  static const IsaChoice choice = guard();
  return choice;
}

}  // namespace

AmxState amx_state() {
  AmxState state;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) state.flag = d & (1u << 24);
  if (__get_cpuid_max(0, nullptr) >= 0x1D && __get_cpuid_count(0x1D, 0, &a, &b, &c, &d))
    state.palettes = static_cast<int>(a);
  return state;
}

IsaChoice isa_choice() { return guarded(); }

const dnnl::engine& cpu_engine() {
  guarded();
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

}  // namespace isobar
