#include "isobar/tensor/engine.hpp"

#include <cpuid.h>
#include <cstdlib>
#include <string_view>

#include "isobar/base/instructions.hpp"

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

// The limit the user sets by oneDNN's own variable; empty: none.
std::string_view wish() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char* const value = std::getenv(name)) return value;
  return {};
}

// Chosen once: oneDNN ignores changes after its first primitive.
IsaChoice guard() {
  const AmxState amx = amx_state();
  IsaChoice choice;
  const bool lower = wish() == "SSE41" || wish() == "AVX" || wish() == "AVX2";
  if (instructions() == Instructions::v3 && !lower) {
    const bool capped = dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) == dnnl::status::success;
    choice.reason = capped ? instruction_choice().reason : "the cap of ISOBAR_INSTRUCTIONS came too late";
  } else if (amx.flag && amx.palettes < 1 && wish().empty()) {
    if (dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16) == dnnl::status::success)
      choice.reason = "AMX is announced but CPUID leaf 0x1D is hidden, so oneDNN is capped below it";
    else choice.reason = "AMX is announced without palettes and the cap came too late: bf16 may crash";
  }
  choice.name = isa_name(dnnl::get_effective_cpu_isa());
  if (choice.reason.empty())
    choice.reason = wish().empty() ? "the best this processor announces" : "set by ONEDNN_MAX_CPU_ISA";
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
  if (__get_cpuid_max(0, nullptr) >= 0x1D && __get_cpuid_count(0x1D, 0, &a, &b, &c, &d)) state.palettes = a;
  return state;
}

IsaChoice isa_choice() { return guarded(); }

const dnnl::engine& cpu_engine() {
  guarded();
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

}  // namespace isobar
