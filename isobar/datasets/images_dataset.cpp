// images(path=..., part='', size=[], channels=3, samples=0): JPEG and PNG files in a folder or in a tar or zip archive.
// The class of a file is its folder, numbered in the order of the names; labels='' leaves it out. part='train' takes
// the files below that folder. Samples are in the order of their paths, so an archive and its unpacked files are the
// same set. Files of an archive are held in memory as they are, within max_gigabytes; read() decodes them.
#include <algorithm>
#include <filesystem>
#include <map>

#include "isobar/datasets/images_format.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/files/archive.hpp"
#include "isobar/files/image.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

struct ImagesOptions {
  fs::path path;
  std::string part;
  std::vector<std::int64_t> size;  // height and width, or empty
  int channels = 3;
  bool labels = true;
  std::int64_t samples = 0;  // 0: all
  std::int64_t max_bytes = 0;
};

class Images final : public Dataset {
 public:
  explicit Images(ImagesOptions options) : options_(std::move(options)) {
    std::error_code code;
    if (!fs::exists(options_.path, code)) fail("{}: there is no such folder or archive", options_.path.string());
    in_memory_ = !fs::is_directory(options_.path, code);
    in_memory_ ? list_archive() : list_folder();
    if (files_.empty())
      fail("{}: holds no .jpg, .jpeg or .png files{}", options_.path.string(),
           options_.part.empty() ? "" : " below '" + options_.part + "'");
    std::ranges::sort(files_, {}, &File::name);
    if (options_.labels) number_classes();
    files_.resize(limited(options_.path, options_.samples, std::ssize(files_)));
    if (!options_.size.empty()) {
      height_ = options_.size[0], width_ = options_.size[1];
      return;
    }
    try {
      files::Image first;
      files::decode_image(content_of(0), wish(), first);
      height_ = first.height, width_ = first.width;
    } catch (const Error& error) {
      fail("{}: {}", where(0), error.what());
    }
  }

  std::int64_t size() const override { return std::ssize(files_); }
  std::vector<Field> fields() const override {
    if (!options_.labels) return {{"x", Shape{height_, width_, options_.channels}}};
    return {{"x", Shape{height_, width_, options_.channels}}, {"y", Shape{1}}};
  }
  std::vector<std::string> classes() const override { return classes_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    files::decode_fitted(content_of(index), wish(), height_, width_, out[0]);
    if (options_.labels) out[1][0] = static_cast<float>(files_[index].label);
  }

  std::string where(std::int64_t index) const override {
    const std::string& name = files_[index].name;
    return in_memory_ ? options_.path.string() + ": " + name : (options_.path / name).string();
  }

 private:
  struct File {
    std::string name;  // below options_.path
    int label = 0;
    std::size_t first = 0, bytes = 0;  // in held_
  };

  bool wanted(const std::string& name) const {
    return files::is_image_name(name) && (options_.part.empty() || name.starts_with(options_.part + "/"));
  }

  void list_archive() {
    files::ArchiveReader reader(options_.path);
    while (reader.next()) {
      if (reader.name().empty()) fail("{}: is neither a folder nor a tar or zip archive", options_.path.string());
      if (!wanted(reader.name())) continue;
      const std::size_t first = held_.size();
      reader.append(held_, options_.max_bytes);
      files_.push_back({reader.name(), 0, first, held_.size() - first});
    }
    held_.shrink_to_fit();
  }

  void list_folder() {
    const fs::path below = options_.path / options_.part;
    std::error_code code;
    fs::recursive_directory_iterator at(below, fs::directory_options::follow_directory_symlink, code);
    for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
      const std::string name = at->path().lexically_relative(options_.path).generic_string();
      if (wanted(name) && at->is_regular_file(code)) files_.push_back({name});
    }
    if (code) fail("{}: cannot be listed: {}", below.string(), code.message());
  }

  // Classes are numbered before `samples` cuts the list: a part of a set has the classes of the whole.
  void number_classes() {
    std::map<std::string, int> numbers;
    const auto class_of = [&](const File& file) {
      const std::string_view folder = std::string_view(file.name).substr(0, file.name.rfind('/'));
      const bool is_part = folder.size() == file.name.size() || folder == options_.part;
      const std::string name(folder.substr(folder.rfind('/') + 1));  // npos + 1: all of it
      if (name.empty() || is_part)
        fail("{}: '{}' is in no folder that names its class; expected: {}CLASS/FILE", options_.path.string(), file.name,
             options_.part.empty() ? "" : options_.part + "/");
      return name;
    };
    for (const File& file : files_) numbers.emplace(class_of(file), 0);
    for (auto& [name, number] : numbers) {
      number = classes_.size();
      classes_.push_back(name);
    }
    for (File& file : files_) file.label = numbers.at(class_of(file));
  }

  // The file of a sample: in the archive's memory, or read into the thread's.
  std::span<const std::uint8_t> content_of(std::int64_t index) const {
    const File& file = files_[index];
    if (in_memory_) return {held_.data() + file.first, file.bytes};
    thread_local files::Bytes content;
    const files::InputFile opened(options_.path / file.name);
    if (opened.size() > options_.max_bytes)
      fail("{}: has {}; max_gigabytes raises the limit", opened.path().string(), human_bytes(opened.size()));
    content.resize(opened.size());
    opened.read_at(0, content);
    return content;
  }

  // If a size is given, images are resized to it; otherwise all must have the size of the first.
  files::ImageWish wish() const {
    const bool any = !options_.size.empty();
    return {options_.channels, any ? 0 : height_, any ? 0 : width_};
  }

  ImagesOptions options_;
  bool in_memory_ = false;
  files::Bytes held_;
  std::vector<File> files_;
  std::vector<std::string> classes_;
  std::int64_t height_ = 0, width_ = 0;
};

std::unique_ptr<Dataset> make_images(Args& args, Survey&) {
  ImagesOptions options;
  options.part = args.text("part", "");
  while (options.part.ends_with('/')) options.part.pop_back();
  options.size = args.integers("size", {});
  if (options.size.size() == 1) options.size.push_back(options.size[0]);
  options.channels = args.integer("channels", 3);
  options.labels = args.one_of("labels", "folder", {"folder", ""}) == "folder";
  options.samples = args.integer("samples", 0);
  options.max_bytes = files::read_memory_limit(args);
  constexpr std::int64_t longest = 1 << 14;
  args.require(
      options.size.size() <= 2 && std::ranges::all_of(options.size, [](auto n) { return n > 0 && n < longest; }),
      "size = [height, width], each above 0 and below 16384");
  args.require(options.channels == 1 || options.channels == 3, "channels = 1 (grey) or 3 (red, green, blue)");
  args.require(options.samples >= 0, "samples >= 0, where 0 means all");
  options.path = args.text("path");
  args.finish();
  return std::make_unique<Images>(std::move(options));
}

}  // namespace

extern const DatasetRow images;
const DatasetRow images{
    "images",    "JPEG and PNG files, in folders named after their class or in a tar archive of them",
    make_images, recognises_images,
    look_images, create_images};

}  // namespace isobar::datasets
