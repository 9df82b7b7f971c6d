// The files of a data set: found by rank 0, and packed to be sent to the others.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include "isobar/base/error.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/feeding/counted_file.hpp"
#include "isobar/feeding/stage_plan.hpp"

namespace isobar::feeding {
namespace {

namespace fs = std::filesystem;

// The text of an argument, or null if it is a number, a list or a Spec with arguments.
const std::string* text_of(const Value& value) {
  const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  return spec && (*spec)->arguments().empty() ? &(*spec)->name() : nullptr;
}

bool is_dataset(const std::string& name) {
  return std::ranges::any_of(datasets::datasets(), [&](const datasets::DatasetRow* row) { return row->name == name; });
}

// A data set inside another one, as in join(x='hdf5(path=a)', y='npy(path=b)').
bool nested(const Value& value, Spec& inner) {
  const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  if (!spec) return false;
  if (!(*spec)->arguments().empty()) {
    inner = **spec;
  } else {
    if ((*spec)->name().find('(') == std::string::npos) return false;
    try {
      inner = Spec((*spec)->name());
    } catch (const Error&) {
      return false;
    }
  }
  return is_dataset(inner.name());
}

void add_source(StageList& list, std::vector<std::string> keys, const std::string& named) {
  const fs::path path = fs::absolute(named).lexically_normal();
  const fs::path whole = path.has_filename() ? path : path.parent_path();  // without a trailing slash
  std::error_code code;
  StageSource source;
  source.keys = std::move(keys);
  const bool folder = fs::is_directory(whole, code);
  source.single = fs::is_regular_file(whole, code);
  source.pattern = !folder && !source.single;
  // The folder of a file may name its class, so it is included.
  const fs::path root = (folder ? whole : whole.parent_path()).parent_path();
  source.root = root.string();
  source.inside = whole.lexically_relative(root).string();
  const auto number = std::ssize(list.sources);
  list.sources.push_back(source);
  for (const fs::path& file : datasets::list_files(whole, {})) {
    struct stat facts {};
    if (::stat(file.c_str(), &facts) != 0) fail("{}: cannot be examined: {}", file.string(), std::strerror(errno));
    list.files.push_back({number, file.lexically_relative(root).string(), facts.st_size, change_time(facts)});
  }
}

void collect(const Spec& spec, const std::vector<std::string>& before, StageList& list) {
  for (const auto& [key, value] : spec.arguments()) {
    std::vector<std::string> keys = before;
    keys.push_back(key);
    Spec inner;
    const std::string* text = text_of(value);
    if (nested(value, inner)) collect(inner, keys, list);
    else if (text && (key == "path" || (key == "labels" && *text != "folder" && !text->empty())))
      add_source(list, keys, *text);
  }
}

Spec replaced(const Spec& spec, std::span<const std::string> keys, const std::string& path) {
  Spec result = spec;
  Value text(path);
  text.quoted = true;
  if (keys.size() == 1) {
    result.set(keys[0], text);
    return result;
  }
  const Value& value = *spec.find(keys[0]);
  Spec inner;
  expects(nested(value, inner), "a data set in the argument");
  inner = replaced(inner, keys.subspan(1), path);
  Value inside = value.quoted ? Value(inner.str()) : Value(inner);
  inside.quoted = value.quoted;
  result.set(keys[0], inside);
  return result;
}

// Numbers and texts as a sequence of bytes; only ever read by the program that wrote it.
class Packer {
 public:
  void number(std::int64_t value) { raw(&value, sizeof value); }
  void text(const std::string& value) {
    number(std::ssize(value));
    raw(value.data(), value.size());
  }
  std::vector<std::byte> bytes;

 private:
  void raw(const void* from, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + count);
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}
  std::int64_t number() {
    std::int64_t value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const std::size_t length = number();
    return {reinterpret_cast<const char*>(take(length)), length};
  }

 private:
  const std::byte* take(std::size_t count) {
    expects(count <= left_.size(), "a whole list of files");
    const std::byte* at = left_.data();
    left_ = left_.subspan(count);
    return at;
  }
  std::span<const std::byte> left_;
};

}  // namespace

fs::path StageList::original(const StageFile& file) const { return fs::path(sources[file.source].root) / file.name; }

fs::path StageList::staged(std::int64_t source, const std::string& name) const {
  std::string folder;
  for (const std::string& key : sources[source].keys) folder += (folder.empty() ? "" : ".") + key;
  return fs::path(folder) / name;
}

std::int64_t StageList::bytes() const {
  std::int64_t sum = 0;
  for (const StageFile& file : files) sum += file.bytes;
  return sum;
}

std::vector<std::byte> StageList::pack() const {
  Packer out;
  out.number(std::ssize(sources));
  for (const StageSource& source : sources) {
    out.number(std::ssize(source.keys));
    for (const std::string& key : source.keys) out.text(key);
    out.text(source.root);
    out.text(source.inside);
    out.number(source.single);
    out.number(source.pattern);
  }
  out.number(std::ssize(files));
  for (const StageFile& file : files) {
    out.number(file.source);
    out.text(file.name);
    out.number(file.bytes);
    out.number(file.changed);
  }
  return std::move(out.bytes);
}

StageList StageList::unpack(std::span<const std::byte> bytes) {
  Unpacker in(bytes);
  StageList list;
  for (std::int64_t left = in.number(); left > 0; --left) {
    StageSource source;
    for (std::int64_t keys = in.number(); keys > 0; --keys) source.keys.push_back(in.text());
    source.root = in.text();
    source.inside = in.text();
    source.single = in.number() != 0;
    source.pattern = in.number() != 0;
    list.sources.push_back(std::move(source));
  }
  for (std::int64_t left = in.number(); left > 0; --left) {
    StageFile file;
    file.source = in.number();
    file.name = in.text();
    file.bytes = in.number();
    file.changed = in.number();
    list.files.push_back(std::move(file));
  }
  return list;
}

StageList list_for_staging(const Spec& dataset) {
  StageList list;
  collect(dataset, {}, list);
  if (list.sources.empty())
    fail_usage("staging: data set '{}' reads no files: there is no argument path; use staging = \"none\"",
               dataset.str());
  return list;
}

Spec with_sources(const Spec& dataset, const StageList& list, std::span<const std::string> paths) {
  Spec result = dataset;
  for (std::size_t s = 0; s < list.sources.size(); ++s) result = replaced(result, list.sources[s].keys, paths[s]);
  return result;
}

}  // namespace isobar::feeding
