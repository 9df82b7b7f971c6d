// hdf5(type=float32, y_type=float32, per_file=0, layout='', gzip=0, chunk=[...]) as a format to write. One file with
// the sample as first axis; per_file=N makes a folder of files of N samples, and files of 1 sample have no such axis. A
// layout names the arrays and says how many samples a file has. gzip=1 to 9 compresses, in chunks of at most one
// sample.
#include <algorithm>
#include <optional>

#include "isobar/base/text.hpp"
#include "isobar/datasets/hdf5_format.hpp"
#include "isobar/datasets/hdf5_layouts.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;
using Extents = std::vector<std::int64_t>;

struct Manner {
  std::string x = "x", y = "y";
  files::NumberType type, y_type;
  bool channels_first = false;
  std::int64_t per_file = 0;  // 0: all in one file
  int gzip = 0;
  Extents chunk{};  // of a sample of x as stored; empty: chosen here
};

constexpr std::int64_t usual_chunk = 1 << 20;  // bytes

// Chunks that are whole ranges of the first axes, near the usual size.
Extents chosen_chunk(const Shape& sample, std::int64_t number_bytes) {
  Extents chunk = sample.extents();
  for (std::size_t a = 0; a < chunk.size(); ++a) {
    const std::int64_t rest = sample.count(a + 1, sample.rank()) * number_bytes;
    chunk[a] = std::clamp<std::int64_t>(usual_chunk / std::max<std::int64_t>(1, rest), 1, chunk[a]);
    if (chunk[a] > 1 || rest <= usual_chunk) break;
  }
  return chunk;
}

class Hdf5Writer final : public SampleWriter {
 public:
  Hdf5Writer(const fs::path& to, Outline outline, Manner manner)
      : to_(to), outline_(std::move(outline)), manner_(std::move(manner)), x_shape_(outline_.fields[0].shape) {
    if (manner_.channels_first) {
      Extents turned = x_shape_.extents();
      std::ranges::rotate(turned, turned.end() - 1);
      x_shape_ = Shape(turned);
    }
    if (manner_.per_file > 0) folder_.emplace(to);
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == outline_.fields.size() && count_ < outline_.count, "the samples that were announced");
    const std::int64_t rows = manner_.per_file > 0 ? manner_.per_file : outline_.count;
    if (count_ % rows == 0) begin_file(std::min(rows, outline_.count - count_));
    for (std::size_t f = 0; f < fields.size() && f < 2; ++f) {
      const bool is_x = f == 0;
      std::span<const float> numbers = fields[f];
      if (is_x && manner_.channels_first) numbers = turned(numbers);
      pack_field(is_x ? manner_.type : manner_.y_type, count_, outline_.fields[f], numbers, bytes_);
      file_->write_rows(is_x ? manner_.x : manner_.y, single() ? 0 : count_ % rows, bytes_);
    }
    ++count_;
  }

  void finish() override {
    if (count_ != outline_.count) fail("{}: {} samples of {} were written", to_.string(), count_, outline_.count);
    if (file_) file_->commit(!folder_);
    if (folder_) folder_->commit();
  }

 private:
  bool single() const { return manner_.per_file == 1; }

  void begin_file(std::int64_t rows) {
    if (file_) file_->commit(false);
    file_.emplace(
        hdf5::Hdf5File::create(folder_ ? folder_->inside() / fmt::format("{:08}.h5", count_ / manner_.per_file) : to_));
    if (!single()) file_->set_integer("/", sample_axis_note, 1);
    for (std::size_t f = 0; f < outline_.fields.size() && f < 2; ++f) {
      const bool is_x = f == 0;
      const Shape& sample = is_x ? x_shape_ : outline_.fields[f].shape;
      hdf5::Hdf5Making making{is_x ? manner_.type : manner_.y_type, {}, 0};
      const std::int64_t width = files::width_of(making.type);
      // Labels of a few bytes each would be one chunk each: they are stored contiguously.
      const bool small = !is_x && sample.count() * width < (64 << 10);
      if ((manner_.gzip > 0 || (is_x && !manner_.chunk.empty())) && !small) {
        Extents chunk = is_x && !manner_.chunk.empty() ? manner_.chunk : chosen_chunk(sample, width);
        if (!single()) chunk.insert(chunk.begin(), 1);
        making.chunk = Shape(chunk);
        making.gzip = manner_.gzip;
      }
      Extents extents = sample.extents();
      if (!single()) extents.insert(extents.begin(), rows);
      if (!single() && !is_x && sample == Shape{1}) extents.pop_back();  // the usual way to store class labels
      file_->make_array(is_x ? manner_.x : manner_.y, Shape(extents), making);
    }
    if (!outline_.channels.empty()) file_->set_text(manner_.x, "channels", join(outline_.channels, "\n"));
    if (outline_.fields.size() > 1 && !outline_.classes.empty())
      file_->set_text(manner_.y, "classes", join(outline_.classes, "\n"));
  }

  std::span<const float> turned(std::span<const float> numbers) {
    const std::size_t channels = x_shape_[0], space = numbers.size() / channels;
    turned_.resize(numbers.size());
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t s = 0; s < space; ++s) turned_[c * space + s] = numbers[s * channels + c];
    return turned_;
  }

  fs::path to_;
  Outline outline_;
  Manner manner_;
  Shape x_shape_;  // of a sample, as stored
  std::int64_t count_ = 0;
  std::optional<disk::OutputFolder> folder_;
  std::optional<hdf5::Hdf5File> file_;
  std::vector<float> turned_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::unique_ptr<SampleWriter> create_hdf5(const fs::path& to, const Outline& outline, Args& args) {
  expects(!outline.fields.empty(), "samples with fields");
  Manner manner;
  const std::string layout_name = args.text("layout", "");
  const bool labels = outline.fields.size() > 1;
  if (!layout_name.empty()) {
    const Hdf5Layout& layout = hdf5_layout(layout_name);
    args.require(!layout.planes, fmt::format("a layout with one set of labels; {} has several", layout.name));
    manner.x = layout.x;
    manner.y = layout.y;
    manner.channels_first = layout.channels_first;
    manner.per_file = layout.sample_axis ? 0 : 1;
  }
  manner.type = read_number_type(args, "type", files::NumberType::float32);
  manner.y_type = read_number_type(args, "y_type", files::NumberType::float32);
  manner.per_file = args.integer("per_file", manner.per_file);
  manner.gzip = args.integer("gzip", 0);
  manner.chunk = args.integers("chunk", {});
  args.require(manner.per_file >= 0, "per_file >= 0, where 0 means all samples in one file");
  args.require(manner.gzip >= 0 && manner.gzip <= 9, "gzip from 0, which is none, to 9");
  args.finish();
  const Shape& x = outline.fields[0].shape;
  if (manner.channels_first && x.rank() < 2)
    fail("layout {}: samples of shape {} have no channels to be put first", layout_name, x.str());
  if (layout_name != "" && manner.per_file != 1 && !hdf5_layout(layout_name).sample_axis)
    fail_usage("layout {}: a file holds one sample; per_file = {} does not fit", layout_name, manner.per_file);
  if (!manner.chunk.empty()) {
    Extents most = x.extents();
    if (manner.channels_first) std::ranges::rotate(most, most.end() - 1);
    bool fits = manner.chunk.size() == most.size();
    for (std::size_t a = 0; fits && a < most.size(); ++a) fits = manner.chunk[a] >= 1 && manner.chunk[a] <= most[a];
    args.require(fits, fmt::format("chunk = extents within a sample as it is stored, [{}]", fmt::join(most, ", ")));
  }
  if (labels && !is_sound(outline.fields[1].shape))
    fail("labels of shape {} cannot be stored", outline.fields[1].shape.str());
  return std::make_unique<Hdf5Writer>(to, outline, std::move(manner));
}

}  // namespace isobar::datasets
