// Used if ONNX's messages or protobuf were not found: no ONNX file is read or written.
#include "isobar/base/error.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {
namespace {

[[noreturn]] void fail_without_onnx(std::string_view attempt, std::string_view file) {
  fail("cannot {} {}: this build has no ONNX; install libonnx-dev and libprotobuf-dev and build again", attempt, file);
}

}  // namespace

OnnxModel read_model(const std::filesystem::path& file) { fail_without_onnx("read", file.string()); }
OnnxModel parse_model(std::string_view, std::string_view origin) { fail_without_onnx("read", origin); }
Array read_tensor(const std::filesystem::path& file) { fail_without_onnx("read", file.string()); }
void write_model(const OnnxModel&, const std::filesystem::path& file) { fail_without_onnx("write", file.string()); }
std::string model_bytes(const OnnxModel& model) { fail_without_onnx("write", model.name); }

}  // namespace isobar::onnx
