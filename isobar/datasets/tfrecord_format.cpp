// tfrecord(gzip=false, type=float32, y_type=float32, per_file=0) as a format to write: x as bytes of that type, y as a
// list of floats, or of integers with y_type=int64. per_file=N makes a folder of files with N samples each.
#include "isobar/datasets/tfrecord_format.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/tf_example.hpp"
#include "isobar/files/tfrecord_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;
using Record = std::span<const std::uint8_t>;

constexpr std::int64_t look_limit = 1'000'000'000;
constexpr std::string_view shape_note = "/shape", type_note = "/type";

class TfrecordSamples final : public SampleWriter {
 public:
  TfrecordSamples(const fs::path& to, Outline outline, files::NumberType type, bool whole_labels, bool gzip,
                  std::int64_t per_file)
      : outline_(std::move(outline)), type_(type), whole_labels_(whole_labels), gzip_(gzip), per_file_(per_file) {
    if (per_file > 0) folder_.emplace(to);
    else file_.emplace(to, gzip);
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == outline_.fields.size(), "every field of the sample");
    const Field& x = outline_.fields[0];
    pack_field(type_, count_, x, fields[0], bytes_);
    example_.bytes(x.name, bytes_);
    example_.integers(x.name + std::string(shape_note), x.shape.extents());
    const std::string_view type = name_of(type_);
    example_.bytes(x.name + std::string(type_note), {reinterpret_cast<const std::uint8_t*>(type.data()), type.size()});
    for (std::size_t f = 1; f < fields.size(); ++f) write_label(outline_.fields[f], fields[f]);
    if (folder_ && count_ % per_file_ == 0) begin_file();
    file_->write(example_.finish());
    ++count_;
  }

  void finish() override {
    if (file_) file_->commit();
    if (folder_) folder_->commit();
  }

 private:
  void begin_file() {
    if (file_) file_->commit();
    file_.emplace(folder_->inside() / fmt::format("{:08}.tfrecord{}", count_ / per_file_, gzip_ ? ".gz" : ""), gzip_);
  }

  void write_label(const Field& field, std::span<const float> numbers) {
    if (whole_labels_) {
      std::vector<std::int64_t> whole;
      for (const float number : numbers) {
        if (!(std::abs(number) < 0x1p62f) || number != std::nearbyint(number))
          fail("sample {}: '{}' cannot be stored as int64: {} is no whole number", count_, field.name, number);
        whole.push_back(static_cast<std::int64_t>(number));
      }
      example_.integers(field.name, whole);
    } else {
      example_.floats(field.name, numbers);
    }
    if (field.shape.rank() > 1) example_.integers(field.name + std::string(shape_note), field.shape.extents());
  }

  Outline outline_;
  files::NumberType type_;
  bool whole_labels_, gzip_;
  std::int64_t per_file_, count_ = 0;
  std::optional<disk::OutputFolder> folder_;
  std::optional<files::TfrecordWriter> file_;
  files::ExampleWriter example_;
  std::vector<std::uint8_t> bytes_;
};

const files::Feature* find_one(const std::vector<files::Feature>& features,
                               std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const files::Feature& feature : features)
      if (feature.name == name) return &feature;
  return nullptr;
}

bool is_picture(const files::Feature& feature) {
  if (feature.kind != files::Feature::Kind::bytes || feature.count != 1) return false;
  const Record bytes = feature.bytes();
  return bytes.size() > 4 && ((bytes[0] == 0xFF && bytes[1] == 0xD8) || (bytes[0] == 0x89 && bytes[1] == 'P'));
}

bool is_note(const files::Feature& feature) {
  return feature.name.ends_with(shape_note) || feature.name.ends_with(type_note);
}

// The data sets that would read records like this one.
void suggest(const fs::path& path, Record record, const std::vector<files::Feature>& features, Contents& contents) {
  const auto numeric = [](const files::Feature& f) {
    return f.count > 0 && !is_note(f) &&
           (f.kind == files::Feature::Kind::floats || f.kind == files::Feature::Kind::integers);
  };
  const files::Feature* x = find_one(features, {"x", "image/encoded", "image", "image_raw", "data_raw", "data"});
  for (const files::Feature& feature : features)
    if (!x && (is_picture(feature) || numeric(feature))) x = &feature;
  const files::Feature* y = find_one(features, {"y", "label", "labels", "image/class/label", "label_raw"});
  for (const files::Feature& feature : features)
    if (!y && &feature != x && numeric(feature)) y = &feature;
  if (!x || x->count == 0) {
    contents.obstacle = "no feature holds samples; x=NAME and y=NAME choose others";
    return;
  }
  Spec spec("tfrecord", {{"path", path.string()}});
  const auto add = [&](std::string_view key, Value value) { spec.set(key, std::move(value)); };
  const std::size_t bytes = x->kind == files::Feature::Kind::bytes ? x->bytes().size() : 0;
  constexpr std::size_t cells = 128 * 128 * 128;
  if (x->name == "x" && bytes == cells * 4 * 2 && y && y->name == "y" && stored_notes(record, "x").shape.rank() == 0) {
    add("layout", "cosmoflow");
  } else if (x->name == "data_raw" && bytes == cells * 4) {
    add("layout", "cosmoflow_sc18");
  } else {
    if (x->name != "x") add("x", std::string(x->name));
    if (!y) add("y", "");
    else if (y->name != "y") add("y", std::string(y->name));
    const bool noted = stored_notes(record, std::string(x->name)).type.has_value();
    if (is_picture(*x)) {
      add("image", true);
    } else if (bytes > 0 && !noted) {
      contents.obstacle = fmt::format(
          "feature '{}' holds {} bytes: type (as int16) and shape = [...] say what they mean", x->name, bytes);
      return;
    }
  }
  contents.readers.push_back(std::move(spec));
}

}  // namespace

StoredNotes stored_notes(Record record, const std::string& feature) {
  StoredNotes notes;
  constexpr std::int64_t most_axes = 16;
  if (const auto shape = files::find_feature(record, feature + std::string(shape_note));
      shape && shape->kind == files::Feature::Kind::integers && shape->count <= most_axes) {
    std::vector<float> extents(shape->count);
    shape->numbers(extents);
    // No sample has extents that a float cannot hold exactly.
    const bool sound = std::ranges::all_of(extents, [](float n) { return n >= 1 && n < 0x1p24f; });
    const Shape found(std::vector<std::int64_t>(extents.begin(), extents.end()));
    if (sound && is_sound(found)) notes.shape = found;
  }
  if (const auto type = files::find_feature(record, feature + std::string(type_note));
      type && type->kind == files::Feature::Kind::bytes && type->count == 1) {
    const Record name = type->bytes();
    notes.type = files::number_type({reinterpret_cast<const char*>(name.data()), name.size()});
  }
  return notes;
}

bool recognises_tfrecord(const Glance& glance) { return files::begins_with_record(glance.head); }

Contents look_tfrecord(const Glance& glance) {
  const fs::path& first = glance.inside[0];
  const files::TfrecordFile file(first, look_limit);
  Contents contents;
  contents.summary = fmt::format("TFRecord, {} records", file.size());
  if (glance.folder) {
    const std::size_t count = list_files(glance.path, {".tfrecord", ".tfrecords", ".tfr"}).size();
    contents.summary = fmt::format("TFRecord, {} files; {} records in the first, {}", count, file.size(),
                                   first.lexically_relative(glance.path).string());
  }
  if (file.size() == 0) {
    contents.obstacle = "the file has no records";
    return contents;
  }
  files::ByteBuffer scratch;
  const Record record = file.record(0, scratch);
  std::vector<files::Feature> features;
  try {
    features = files::features_of(record);
  } catch (const Error& error) {
    contents.obstacle = fmt::format("the first record {}", error.what());
    return contents;
  }
  for (const files::Feature& feature : features) {
    FilePart part{std::string(feature.name), fmt::format("[{}]", feature.count), std::string(name_of(feature.kind)),
                  ""};
    if (feature.kind == files::Feature::Kind::bytes && feature.count == 1) {
      part.shape = fmt::format("{} bytes", feature.bytes().size());
      if (is_picture(feature)) part.note = "a picture";
      if (const StoredNotes notes = stored_notes(record, part.name); notes.type)
        part.note = fmt::format("{} {}", notes.shape.str(), name_of(*notes.type));
    }
    if (feature.steps > 0) part.note = fmt::format("{} steps", feature.steps);
    contents.parts.push_back(std::move(part));
  }
  suggest(glance.path, record, features, contents);
  return contents;
}

std::unique_ptr<SampleWriter> create_tfrecord(const fs::path& to, const Outline& outline, Args& args) {
  const bool gzip = args.flag("gzip", false);
  const files::NumberType type = read_number_type(args, "type", files::NumberType::float32);
  const bool whole = args.one_of("y_type", "float32", {"float32", "int64"}) == "int64";
  const std::int64_t per_file = args.integer("per_file", 0);
  args.require(per_file >= 0, "per_file >= 0, where 0 means all samples in one file");
  args.finish();
  return std::make_unique<TfrecordSamples>(to, outline, type, whole, gzip, per_file);
}

}  // namespace isobar::datasets
