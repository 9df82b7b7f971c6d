// tfrecord(path=..., x=x, y=y, type=int16, shape=[...], ...): tf.train.Examples in TFRecord files, compressed with gzip
// or not. Lists of numbers are used as they are, with one axis unless shape says otherwise; bytes need a type and a
// shape, or image=true. layout=cosmoflow and cosmoflow_sc18 set all of this. Samples are counted when the set is
// opened, for which compressed files are unpacked once; per_file=N avoids that: every file but the last has N samples,
// and any other number is an Error on reading. Files of several samples are kept unpacked within max_gigabytes.
#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "isobar/base/text.hpp"
#include "isobar/datasets/counts.hpp"
#include "isobar/datasets/file_cache.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/join_dataset.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/datasets/tfrecord_format.hpp"
#include "isobar/files/archive.hpp"
#include "isobar/files/image.hpp"
#include "isobar/files/tf_example.hpp"
#include "isobar/files/tfrecord_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

// Where one field of a sample comes from.
struct TfrecordSource {
  std::string name;                       // of the feature
  std::optional<files::NumberType> type;  // of bytes
  Shape shape;                            // rank 0: as in the first record
  bool image = false;
};

struct TfrecordOptions {
  fs::path path;
  TfrecordSource x, y;
  std::vector<std::int64_t> size;  // of images: height and width, or empty
  int channels = 3;
  CountScaling scaling = CountScaling::none;
  std::int64_t samples = 0, per_file = 0, max_bytes = 0;
};

std::string known_features(std::span<const std::uint8_t> record) {
  std::vector<std::string> names;
  for (const files::Feature& feature : files::features_of(record))
    names.push_back(fmt::format("{} ({})", feature.name, name_of(feature.kind)));
  return names.empty() ? "none" : join(names, ", ");
}

class Tfrecord final : public Dataset {
 public:
  Tfrecord(TfrecordOptions options, std::vector<fs::path> files, Survey& survey)
      : options_(std::move(options)), files_(std::move(files)), cache_(options_.max_bytes, most_open) {
    const std::shared_ptr<const files::TfrecordFile> first = count_samples(survey);
    size_ = limited(options_.path, options_.samples, firsts_.back());
    const auto learn = [&](std::span<const std::uint8_t> record) {
      complete(record, options_.x);
      fields_.push_back({"x", options_.x.shape});
      if (options_.y.name.empty()) return;
      complete(record, options_.y);
      fields_.push_back({"y", options_.y.shape});
    };
    try {
      if (first && first->size() > 1) cache_.get(0, [&] { return first; });
      files::ByteBuffer scratch;
      if (first && first->size() > 0) learn(first->record(0, scratch));
      else with_record(0, learn);
    } catch (const Error& error) {
      fail("{}: {}", where(0), error.what());
    }
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    with_record(index, [&](std::span<const std::uint8_t> record) {
      fill(record, options_.x, options_.scaling, out[0]);
      if (out.size() > 1) fill(record, options_.y, CountScaling::none, out[1]);
    });
  }

  std::string where(std::int64_t index) const override {
    const std::size_t file = file_of(firsts_, index);
    return fmt::format("{} record {}", files_[file].string(), index - firsts_[file]);
  }

  std::vector<FileSpan> spans() const override { return spans_of(files_, firsts_, size_); }

 private:
  static constexpr std::size_t most_open = 128;

  // firsts_[f] is the number of the first sample of file f, the last entry that of all. Returns the first file if
  // it had to be opened.
  std::shared_ptr<const files::TfrecordFile> count_samples(Survey& survey) {
    constexpr std::string_view question = "tfrecord";
    std::vector<std::int64_t> counts(files_.size(), options_.per_file);
    std::vector<std::size_t> unknown;
    for (std::size_t f = options_.per_file > 0 ? files_.size() - 1 : 0; f < files_.size(); ++f)
      if (const FileFacts* const known = survey.find(question, files_[f])) counts[f] = known->numbers.at(0);
      else unknown.push_back(f);
    std::shared_ptr<const files::TfrecordFile> first;
    std::vector<std::exception_ptr> failures(unknown.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      files::ByteBuffer memory;
      for (std::size_t i; (i = next++) < unknown.size();) {
        const std::size_t f = unknown[i];
        try {
          auto file = std::make_shared<files::TfrecordFile>(files_[f], options_.max_bytes, std::move(memory));
          counts[f] = file->size();
          if (f == 0) first = std::move(file);
          else memory = file->release();
        } catch (...) {
          failures[i] = std::current_exception();
        }
      }
    };
    const std::size_t threads = std::min<std::size_t>(std::thread::hardware_concurrency(), unknown.size());
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work);
      work();
    }
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      if (failures[i]) std::rethrow_exception(failures[i]);
      survey.note(question, files_[unknown[i]], {{counts[unknown[i]]}});
    }
    firsts_.push_back(0);
    for (const std::int64_t count : counts) firsts_.push_back(firsts_.back() + count);
    return first;
  }

  void check_count(std::size_t f, std::int64_t found) const {
    const std::int64_t wanted = firsts_[f + 1] - firsts_[f];
    if (found != wanted) fail("{}: holds {} records, {} were expected", files_[f].string(), found, wanted);
  }

  template <class F>
  void with_record(std::int64_t index, F work) const {
    const std::size_t f = file_of(firsts_, index);
    const std::int64_t number = index - firsts_[f];
    thread_local files::ByteBuffer scratch, memory;
    if (firsts_[f + 1] - firsts_[f] == 1) {  // read once per epoch: nothing to keep
      files::TfrecordFile file(files_[f], options_.max_bytes, std::move(memory));
      check_count(f, file.size());
      work(file.record(number, scratch));
      memory = file.release();
      return;
    }
    const auto file =
        cache_.get(f, [&] { return std::make_shared<files::TfrecordFile>(files_[f], options_.max_bytes); });
    check_count(f, file->size());
    work(file->record(number, scratch));
  }

  static files::Feature need(std::span<const std::uint8_t> record, const std::string& name) {
    if (const auto feature = files::find_feature(record, name); feature && feature->kind != files::Feature::Kind::empty)
      return *feature;
    fail("has no feature '{}' with values; it has: {}", name, known_features(record));
  }

  // Takes from the first record what the arguments do not say.
  void complete(std::span<const std::uint8_t> record, TfrecordSource& source) const {
    const files::Feature feature = need(record, source.name);
    if (source.image) {
      if (feature.kind != files::Feature::Kind::bytes) fail("feature '{}' holds numbers, not an image", source.name);
      files::Image image;
      files::decode_image(feature.bytes(), wish(), image);
      const bool as_it_is = options_.size.empty();
      source.shape = {as_it_is ? image.height : options_.size[0], as_it_is ? image.width : options_.size[1],
                      options_.channels};
      return;
    }
    const auto notes = stored_notes(record, source.name);
    if (source.shape.rank() == 0) source.shape = notes.shape;
    if (!source.type) source.type = notes.type;
    const bool bytes = feature.kind == files::Feature::Kind::bytes;
    if (bytes && !source.type)
      fail(
          "feature '{}' holds {} bytes; type (as int16) and shape say what they mean, image=true that they are a "
          "picture",
          source.name, feature.bytes().size());
    if (source.shape.rank() > 0) return check_size(feature, source);
    const std::int64_t count = bytes ? feature.bytes().size() / width_of(*source.type) : feature.count;
    if (bytes && &source == &options_.x && count > 1)
      fail("feature '{}' holds {} numbers of type {}; shape = [...] says how they lie", source.name, count,
           name_of(*source.type));
    source.shape = {count};
    if (count == 0) fail("feature '{}' holds no values", source.name);
  }

  // A record holds exactly the numbers of its shape, so no more memory is allocated than it justifies.
  static void check_size(const files::Feature& feature, const TfrecordSource& source) {
    const std::int64_t wanted = source.shape.count();
    if (feature.kind != files::Feature::Kind::bytes) {
      if (feature.count != wanted)
        fail("feature '{}' holds {} numbers, but a sample of {} has {}", source.name, feature.count, source.shape.str(),
             wanted);
      return;
    }
    if (!source.type) fail("feature '{}' holds bytes, in the first record it held numbers", source.name);
    const std::int64_t bytes = width_of(*source.type) * wanted;
    const std::int64_t held = feature.bytes().size();
    if (feature.count != 1 || held != bytes)
      fail("feature '{}' holds {} bytes in {} pieces, but a sample of {} in {} has {} in one", source.name, held,
           feature.count, source.shape.str(), name_of(*source.type), bytes);
  }

  files::ImageWish wish() const {
    const bool fixed = options_.size.empty() && options_.x.shape.rank() == 3;
    return {options_.channels, fixed ? options_.x.shape[0] : 0, fixed ? options_.x.shape[1] : 0};
  }

  void fill(std::span<const std::uint8_t> record, const TfrecordSource& source, CountScaling scaling,
            std::span<float> out) const {
    const files::Feature feature = need(record, source.name);
    if (source.image) {
      if (feature.kind != files::Feature::Kind::bytes) fail("feature '{}' holds numbers, not an image", source.name);
      return files::decode_fitted(feature.bytes(), wish(), source.shape[0], source.shape[1], out);
    }
    check_size(feature, source);
    if (feature.kind != files::Feature::Kind::bytes) {
      feature.numbers(out);
      return apply_scaling(scaling, out);
    }
    const std::span<const std::uint8_t> bytes = feature.bytes();
    if (source.type == files::NumberType::int16 && scaling == CountScaling::log)
      return expand_counts({reinterpret_cast<const std::int16_t*>(bytes.data()), out.size()}, scaling, out);
    to_floats(*source.type, bytes, std::endian::little, out);
    apply_scaling(scaling, out);
  }

  TfrecordOptions options_;
  std::vector<fs::path> files_;
  std::vector<std::int64_t> firsts_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
  mutable FileCache<files::TfrecordFile> cache_;
};

std::optional<files::NumberType> optional_type(Args& args, std::string_view key, std::string_view otherwise) {
  const std::string name = args.text(key, otherwise);
  if (name.empty()) return std::nullopt;
  const auto type = files::number_type(name);
  args.require(type.has_value(), fmt::format("{} = one of {}", key, join(files::number_type_names(), ", ")));
  return type;
}

std::unique_ptr<Dataset> make_tfrecord(Args& args, Survey& survey) {
  TfrecordOptions options;
  const std::string layout = args.one_of("layout", "", {"", "cosmoflow", "cosmoflow_sc18"});
  const bool current = layout == "cosmoflow", sc18 = layout == "cosmoflow_sc18";
  options.x.name = args.text("x", sc18 ? "data_raw" : "x");
  const std::string labels = args.text("labels", "");
  options.y.name = args.text("y", sc18 ? "label_raw" : "y");
  const std::vector<std::int64_t> cube{128, 128, 128, current ? 4 : 1};
  options.x.shape = Shape(args.integers("shape", layout.empty() ? std::vector<std::int64_t>{} : cube));
  options.x.type = optional_type(args, "type", current ? "int16" : sc18 ? "float32" : "");
  options.y.type = optional_type(args, "y_type", sc18 ? "float32" : "");
  options.scaling = args.flag("log", false) ? CountScaling::log : CountScaling::none;
  options.x.image = args.flag("image", false);
  options.size = args.integers("size", {});
  if (options.size.size() == 1) options.size.push_back(options.size[0]);
  options.channels = args.integer("channels", 3);
  options.per_file = args.integer("per_file", current ? 1 : sc18 ? 64 : 0);
  options.samples = args.integer("samples", 0);
  options.max_bytes = files::read_memory_limit(args);
  args.require(is_sound(options.x.shape), "shape = extents above 0");
  args.require(options.size.size() <= 2 && is_sound(Shape(options.size)), "size = [height, width]");
  args.require(options.channels == 1 || options.channels == 3, "channels = 1 (grey) or 3 (red, green, blue)");
  args.require(options.samples >= 0 && options.per_file >= 0,
               "samples and per_file >= 0, where 0 means all, and counting");
  options.path = args.text("path");
  args.finish();
  const std::vector<fs::path> files = list_files(options.path, {".tfrecord", ".tfrecords", ".tfr"});
  if (labels.empty()) return std::make_unique<Tfrecord>(std::move(options), files, survey);
  TfrecordOptions other = options;
  options.y.name.clear();
  auto x = std::make_unique<Tfrecord>(std::move(options), files, survey);
  if (labels == "folder") return label_by_folder(std::move(x), files);
  other.path = labels;
  other.x = std::exchange(other.y, {});
  other.scaling = CountScaling::none;
  auto y = std::make_unique<Tfrecord>(other, list_files(other.path, {".tfrecord", ".tfrecords", ".tfr"}), survey);
  return join_datasets(std::move(x), std::move(y));
}

}  // namespace

extern const DatasetRow tfrecord;
const DatasetRow tfrecord{"tfrecord",    "TFRecord files of tf.train.Example, compressed with gzip or not",
                          make_tfrecord, recognises_tfrecord,
                          look_tfrecord, create_tfrecord};

}  // namespace isobar::datasets
