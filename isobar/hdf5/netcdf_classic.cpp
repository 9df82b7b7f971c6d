// Reads variables of classic NetCDF files: pread of contiguous runs of numbers, then conversion of byte order and type.
// Nothing is shared between calls, so any number of threads may read one file.
#include <algorithm>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/netcdf_classic_header.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18;  // fits the second-level cache

class ClassicStorage final : public NetcdfStorage {
 public:
  ClassicStorage(files::InputFile file, NetcdfHeader& header) : file_(std::move(file)) {
    const std::vector<ClassicPlace> places = read_classic_header(file_, header);
    for (std::size_t v = 0; v < places.size(); ++v)
      variables_.push_back({places[v], header.variables[v].stored, header.variables[v].shape});
  }

  void read(std::size_t variable, Indices from, Indices extent, std::span<float> out) const override {
    read_as<float>(variables_[variable], from, extent, out);
  }
  void read(std::size_t variable, Indices from, Indices extent, std::span<double> out) const override {
    read_as<double>(variables_[variable], from, extent, out);
  }

 private:
  struct Variable {
    ClassicPlace place;
    files::Stored stored;
    Shape shape;
  };

  template <class T>
  void read_as(const Variable& variable, Indices from, Indices extent, std::span<T> out) const {
    const files::Decoder<T> decode = decoder<T>(variable.stored);
    expects(decode != nullptr, "a variable of numbers");
    const std::int64_t width = variable.stored.bytes;
    const Indices shape = variable.shape.extents();
    if (variable.place.record_bytes == 0) {
      for_each_run(extent, shape, from, extent, IndexArray(extent.size()),
                   [&](std::int64_t source, std::int64_t target, std::int64_t count) {
                     read_run(variable.place.begin + source * width, decode, width, out.subspan(target, count));
                   });
      return;
    }
    const Indices inner = extent.subspan(1);
    const std::int64_t numbers = box_count(inner);
    for (std::int64_t record = 0; record < extent[0]; ++record) {
      const std::int64_t begin = variable.place.begin + (from[0] + record) * variable.place.record_bytes;
      for_each_run(inner, shape.subspan(1), from.subspan(1), inner, IndexArray(inner.size()),
                   [&](std::int64_t source, std::int64_t target, std::int64_t count) {
                     read_run(begin + source * width, decode, width, out.subspan(record * numbers + target, count));
                   });
    }
  }

  template <class T>
  void read_run(std::int64_t offset, files::Decoder<T> decode, std::int64_t width, std::span<T> out) const {
    const std::size_t step = width;
    thread_local std::vector<std::uint8_t> piece;
    piece.resize(piece_bytes);
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t count = std::min(out.size() - done, piece_bytes / step);
      file_.read_at(offset + done * step, std::span(piece).first(count * step));
      decode(reinterpret_cast<const std::byte*>(piece.data()), out.data() + done, count);
      done += count;
    }
  }

  files::InputFile file_;
  std::vector<Variable> variables_;
};

}  // namespace

std::unique_ptr<NetcdfStorage> open_classic(files::InputFile file, NetcdfHeader& header) {
  return std::make_unique<ClassicStorage>(std::move(file), header);
}

}  // namespace isobar::hdf5
