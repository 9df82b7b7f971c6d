// images() as a format to write: PNG files in folders named after their class, or in a tar archive if the name ends in
// .tar or .tar.gz. Classes without names, or whose names are not sorted, get five digits. Samples are read back in the
// order of their paths: by class, then by number.
#include "isobar/datasets/images_format.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/archive.hpp"
#include "isobar/files/archive_writer.hpp"
#include "isobar/files/image.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t looked_at = 64;

// What a folder or an archive shows: names of pictures, and the first of them.
struct Sight {
  std::vector<std::string> names;
  files::Bytes first;
};

bool is_archive(const Glance& glance) {
  return !glance.folder && (glance.begins("ustar", 257) || glance.begins("PK\x03\x04"));
}

Sight see(const Glance& glance) {
  Sight sight;
  constexpr std::int64_t most_bytes = 100'000'000;
  const auto add = [&](const std::string& name, files::ArchiveReader& reader) {
    if (sight.names.empty()) reader.append(sight.first, most_bytes);
    sight.names.push_back(name);
  };
  if (glance.folder) {
    for (const fs::path& file : glance.inside) {
      if (!files::is_image_name(file.filename().string())) continue;
      if (!sight.names.empty()) {
        sight.names.push_back(file.lexically_relative(glance.path).generic_string());
        continue;
      }
      files::ArchiveReader reader(file);
      if (reader.next()) add(file.lexically_relative(glance.path).generic_string(), reader);
    }
  } else if (is_archive(glance)) {
    files::ArchiveReader reader(glance.path);
    for (std::size_t i = 0; i < looked_at && reader.next(); ++i)
      if (files::is_image_name(reader.name())) add(reader.name(), reader);
  }
  return sight;
}

bool is_picture(const files::Bytes& bytes) {
  return bytes.size() > 4 && ((bytes[0] == 0xFF && bytes[1] == 0xD8) || (bytes[0] == 0x89 && bytes[1] == 'P'));
}

class ImageSamples final : public SampleWriter {
 public:
  ImageSamples(const fs::path& to, const Outline& outline) : outline_(outline) {
    const Shape& x = outline.fields[0].shape;
    const std::int64_t channels = x.rank() == 2 ? 1 : x.rank() == 3 ? x[2] : 0;
    if (channels != 1 && channels != 3) fail("images: x is {}; a picture is [height, width, 1 or 3]", x.str());
    if (outline.fields.size() > 1 && outline.fields[1].shape != Shape{1})
      fail("images: y is {}; a picture has one class", outline.fields[1].shape.str());
    image_ = {x[0], x[1], static_cast<int>(channels), {}};
    const std::string name = to.filename().string();
    if (name.ends_with(".tar")) archive_.emplace(to, files::ArchiveWriter::Kind::tar);
    else if (name.ends_with(".tar.gz")) archive_.emplace(to, files::ArchiveWriter::Kind::tar_gzip);
    else folder_.emplace(to);
    // A name that sorts differently would change the numbers of the classes.
    const auto& classes = outline.classes;
    named_ = std::ranges::is_sorted(classes) && std::ranges::adjacent_find(classes) == classes.end() &&
             std::ranges::none_of(classes, [](const std::string& c) {
               return c.empty() || c.starts_with('.') || c.find('/') != std::string::npos;
             });
  }

  void write(std::span<const std::span<const float>> fields) override {
    pack_field(files::NumberType::uint8, count_, outline_.fields[0], fields[0], image_.pixels);
    constexpr std::int64_t most = 99'999;
    const std::int64_t label = fields.size() > 1 ? class_number(count_, fields[1][0], most) : 0;
    const bool named = named_ && label < std::ssize(outline_.classes);
    const std::string folder = named ? outline_.classes[label] : fmt::format("{:05}", label);
    const std::string name = fmt::format("{}/{:09}.png", folder, count_);
    const std::vector<std::uint8_t> file = files::encode_png(image_);
    if (archive_) {
      archive_->begin(name, std::ssize(file));
      archive_->write(file);
    } else {
      std::error_code code;
      fs::create_directories((folder_->inside() / name).parent_path(), code);
      disk::OutputFile out(folder_->inside() / name);
      out.write(file);
      out.commit();
    }
    ++count_;
  }

  void finish() override { archive_ ? archive_->commit() : folder_->commit(); }

 private:
  Outline outline_;
  files::Image image_;
  bool named_ = false;
  std::optional<files::ArchiveWriter> archive_;
  std::optional<disk::OutputFolder> folder_;
  std::int64_t count_ = 0;
};

}  // namespace

bool recognises_images(const Glance& glance) {
  if (!glance.folder && !is_archive(glance)) return false;
  return is_picture(see(glance).first);
}

Contents look_images(const Glance& glance) {
  const Sight sight = see(glance);
  Contents contents;
  std::map<std::string, int> folders;
  bool apart = true;
  for (const std::string& name : sight.names) {
    const fs::path folder = fs::path(name).parent_path();
    apart = apart && !folder.empty();
    ++folders[folder.generic_string()];
  }
  contents.summary =
      fmt::format("pictures in {}; the first {} lie in {} folder{}", glance.folder ? "a folder" : "an archive",
                  sight.names.size(), folders.size(), folders.size() == 1 ? "" : "s");
  files::Image image;
  try {
    files::decode_image(sight.first, {}, image);
  } catch (const Error& error) {
    contents.obstacle = fmt::format("{} {}", sight.names.at(0), error.what());
    return contents;
  }
  contents.parts.push_back({sight.names[0], fmt::format("[{}, {}, 3]", image.height, image.width), "uint8",
                            sight.first[0] == 0xFF ? "JPEG" : "PNG"});
  Spec spec("images", {{"path", glance.path.string()}});
  if (!apart) spec.set("labels", "");
  contents.readers.push_back(std::move(spec));
  return contents;
}

std::unique_ptr<SampleWriter> create_images(const fs::path& to, const Outline& outline, Args& args) {
  args.finish();
  return std::make_unique<ImageSamples>(to, outline);
}

}  // namespace isobar::datasets
