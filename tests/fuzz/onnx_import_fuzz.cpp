// Fuzzing the ONNX importer: any bytes become a graph or an Error, and nothing else happens. Built by `make fuzz` with
// clang's libFuzzer under the address and undefined sanitizers.
#include <cstdint>
#include <string_view>

#include "isobar/base/error.hpp"
#include "isobar/onnx/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isobar;
  try {
    const onnx::OnnxModel model = onnx::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const std::int64_t batch : {0, 3}) onnx::import_model(model, {.batch = batch});
  } catch (const Error&) {
  }
  return 0;
}
