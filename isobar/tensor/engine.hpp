// The only access to oneDNN's engine. Before the first primitive is created, oneDNN's instruction set is capped to that
// of our own kernels, and also where oneDNN would use AMX tiles that the machine does not describe (some virtual
// machines hide CPUID leaf 0x1D).
#pragma once

#include <string>

#include <oneapi/dnnl/dnnl.hpp>

namespace isobar {

/// What the processor reports about its matrix unit (AMX).
struct AmxState {
  bool flag = false;  ///< CPUID leaf 7 announces amx-tile
  int palettes = 0;   ///< CPUID leaf 0x1D: highest palette; 0 if the leaf is hidden
  bool usable() const { return flag && palettes >= 1; }
};
AmxState amx_state();

/// The ISA oneDNN may use, and the reason if it is less than the processor announces.
struct IsaChoice {
  std::string name;
  std::string reason;
};
IsaChoice isa_choice();

/// The CPU engine; the first call applies the caps.
const dnnl::engine& cpu_engine();

}  // namespace isobar
