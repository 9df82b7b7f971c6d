// The one door to oneDNN's engine. Before the first primitive is made, the instruction set is capped to that of our own
// kernels, and where oneDNN would use AMX tiles that the machine does not describe (CPUID leaf 0x1D hidden by some
// virtual machines).
#pragma once

#include <string>

#include <oneapi/dnnl/dnnl.hpp>

namespace isobar {

/// What the processor shows of its matrix unit (AMX).
struct AmxState {
  bool flag = false;  ///< CPUID leaf 7 announces amx-tile
  int palettes = 0;   ///< CPUID leaf 0x1D: highest palette; 0 when the leaf is hidden
  bool usable() const { return flag && palettes >= 1; }
};
AmxState amx_state();

/// The ISA oneDNN is allowed, and the reason when it is less than the processor announces.
struct IsaChoice {
  std::string name;
  std::string reason;
};
IsaChoice isa_choice();

/// The CPU engine; the first call applies the caps.
const dnnl::engine& cpu_engine();

}  // namespace isobar
