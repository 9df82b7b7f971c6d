// lmdb(path=..., y=label, size=[], channels=3, samples=0): an LMDB database of Caffe's Datum messages, in the order of
// the keys. x is [height, width, channels], with the channels as stored, for pictures usually blue, green, red; an
// encoded Datum is decoded to red, green, blue. y is the label; y='' leaves it out.
#include <algorithm>

#include "isobar/datasets/packing.hpp"
#include "isobar/files/archive.hpp"
#include "isobar/files/datum.hpp"
#include "isobar/files/image.hpp"
#include "isobar/files/lmdb_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

class Lmdb final : public Dataset {
 public:
  Lmdb(const fs::path& path, bool labels, std::vector<std::int64_t> size, int channels, std::int64_t samples)
      : file_(path), labels_(labels), resize_(std::move(size)), channels_(channels) {
    size_ = limited(path, samples, file_.size());
    try {
      with_datum(0, [&](const files::Datum& datum) {
        if (!datum.encoded) {
          shape_ = {datum.height, datum.width, datum.channels};
          return;
        }
        const files::Image& image = decoded(datum);
        shape_ = {image.height, image.width, channels_};
        if (!resize_.empty()) shape_ = {resize_[0], resize_[1], channels_};
      });
    } catch (const Error& error) {
      fail("{}: {}", where(0), error.what());
    }
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override {
    if (!labels_) return {{"x", shape_}};
    return {{"x", shape_}, {"y", Shape{1}}};
  }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    with_datum(index, [&](const files::Datum& datum) {
      if (labels_) out[1][0] = static_cast<float>(datum.label);
      if (datum.encoded) return files::fit_image(decoded(datum), shape_[0], shape_[1], out[0]);
      const Shape shape{datum.height, datum.width, datum.channels};
      if (shape != shape_) fail("is a picture of {}, the first one is {}", shape.str(), shape_.str());
      datum.pixels(out[0]);
    });
  }

  std::string where(std::int64_t index) const override {
    return fmt::format("{} entry {}", file_.path().string(), index);
  }

 private:
  template <class F>
  void with_datum(std::int64_t index, F work) const {
    thread_local files::ByteBuffer scratch;
    const std::span<const std::uint8_t> value = file_.value(index, scratch);
    files::Datum datum;
    try {
      datum = files::read_datum(value);
    } catch (const Error& error) {
      fail("holds {} bytes that are not a Datum of Caffe ({})", value.size(), error.what());
    }
    work(datum);
  }

  const files::Image& decoded(const files::Datum& datum) const {
    thread_local files::Image image;
    const bool fixed = resize_.empty() && shape_.rank() == 3;
    if (fixed && shape_[2] != channels_) fail("is encoded, the first one is not");
    files::decode_image(datum.data, {channels_, fixed ? shape_[0] : 0, fixed ? shape_[1] : 0}, image);
    return image;
  }

  files::LmdbFile file_;
  bool labels_;
  std::vector<std::int64_t> resize_;
  int channels_;
  std::int64_t size_ = 0;
  Shape shape_;
};

std::unique_ptr<Dataset> make_lmdb(Args& args, Survey&) {
  const bool labels = args.one_of("y", "label", {"label", ""}) == "label";
  std::vector<std::int64_t> size = args.integers("size", {});
  if (size.size() == 1) size.push_back(size[0]);
  const std::int64_t channels = args.integer("channels", 3), samples = args.integer("samples", 0);
  args.require(size.size() <= 2 && is_sound(Shape(size)), "size = [height, width] for encoded pictures");
  args.require(channels == 1 || channels == 3, "channels = 1 (grey) or 3 (red, green, blue) for encoded pictures");
  args.require(samples >= 0, "samples >= 0, where 0 means all");
  const fs::path path = args.text("path");
  args.finish();
  return std::make_unique<Lmdb>(path, labels, std::move(size), channels, samples);
}

bool recognises_lmdb(const Glance& glance) { return files::begins_with_lmdb(glance.head); }

Contents look_lmdb(const Glance& glance) {
  const files::LmdbFile file(glance.inside[0]);
  Contents contents;
  contents.summary = fmt::format("LMDB database, {} entries", file.size());
  if (file.size() == 0) {
    contents.obstacle = "the database is empty";
    return contents;
  }
  files::ByteBuffer scratch;
  const std::span<const std::uint8_t> value = file.value(0, scratch);
  try {
    const files::Datum datum = files::read_datum(value);
    const std::string shape = fmt::format("[{}, {}, {}]", datum.channels, datum.height, datum.width);
    contents.parts.push_back({"Datum", shape,
                              datum.encoded      ? "JPEG or PNG"
                              : datum.floats > 0 ? "float32"
                                                 : "uint8",
                              fmt::format("label {}", datum.label)});
    contents.readers.push_back(Spec("lmdb", {{"path", glance.path.string()}}));
  } catch (const Error& error) {
    contents.parts.push_back({"value", fmt::format("{} bytes", value.size()), "", ""});
    contents.obstacle = fmt::format("the values are not Caffe Datums ({}), and no other kind is known", error.what());
  }
  return contents;
}

/// lmdb(type=uint8) as a format to write: uint8 or float32.
class LmdbSamples final : public SampleWriter {
 public:
  LmdbSamples(const fs::path& to, const Outline& outline, bool floats) : outline_(outline), floats_(floats) {
    const Shape& x = outline.fields[0].shape;
    if (x.rank() < 1 || x.rank() > 3) fail("lmdb: x is {}; a Datum holds [height, width, channels]", x.str());
    if (outline.fields.size() > 1 && outline.fields[1].shape != Shape{1})
      fail("lmdb: y is {}; a Datum holds one label", outline.fields[1].shape.str());
    channels_ = x.rank() == 2 ? 1 : x[-1];
    height_ = x.rank() > 1 ? x[0] : 1;
    width_ = x.rank() > 1 ? x[1] : 1;
    // The overhead of a Datum, the key, and rounding up to whole pages.
    constexpr std::int64_t around = 8192;
    file_.emplace(to, outline.count * (x.count() * (floats ? 4 : 1) + around));
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == outline_.fields.size(), "every field of the sample");
    const std::span<const float> x = fields[0];
    const std::size_t all = channels_, plane = x.size() / all;
    planes_.resize(x.size());
    for (std::size_t c = 0; c < all; ++c)
      for (std::size_t p = 0; p < plane; ++p) planes_[c * plane + p] = x[p * all + c];
    constexpr std::int64_t most = 0x7FFFFFFF;
    const std::int64_t label = fields.size() > 1 ? class_number(count_, fields[1][0], most) : 0;
    const std::string key = fmt::format("{:010}", count_);
    if (floats_) {
      file_->write(key, files::datum_of_floats(channels_, height_, width_, label, planes_));
    } else {
      pack_field(files::NumberType::uint8, count_, outline_.fields[0], planes_, bytes_);
      file_->write(key, files::datum_of_bytes(channels_, height_, width_, label, bytes_));
    }
    ++count_;
  }

  void finish() override { file_->commit(); }

 private:
  Outline outline_;
  bool floats_;
  std::int64_t channels_ = 1, height_ = 1, width_ = 1, count_ = 0;
  std::vector<float> planes_;
  std::vector<std::uint8_t> bytes_;
  std::optional<files::LmdbWriter> file_;
};

std::unique_ptr<SampleWriter> create_lmdb(const fs::path& to, const Outline& outline, Args& args) {
  const bool floats = args.one_of("type", "uint8", {"uint8", "float32"}) == "float32";
  args.finish();
  return std::make_unique<LmdbSamples>(to, outline, floats);
}

}  // namespace

extern const DatasetRow lmdb;
const DatasetRow lmdb{"lmdb",     "Caffe's databases: LMDB with Datum messages", make_lmdb, recognises_lmdb, look_lmdb,
                      create_lmdb};

}  // namespace isobar::datasets
