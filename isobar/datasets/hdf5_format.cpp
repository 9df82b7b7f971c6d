#include "isobar/datasets/hdf5_format.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/hdf5_layouts.hpp"
#include "isobar/datasets/netcdf_format.hpp"
#include "isobar/hdf5/hdf5_tree.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;
using hdf5::Hdf5Entry;

constexpr std::size_t most_shown_parts = 200;

std::string brackets(const Shape& shape) {
  return shape.rank() == 0 ? "a single number" : fmt::format("[{}]", fmt::join(shape.extents(), ", "));
}

const Hdf5Entry* called(const std::vector<Hdf5Entry>& entries, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const Hdf5Entry& entry : entries)
      if (entry.obstacle.empty() && (entry.name == name || entry.name.ends_with("/" + std::string(name))))
        return &entry;
  return nullptr;
}

// x is the largest array of numbers, unless one is called x; y has as many samples, or a name that says so.
void suggest(const Glance& glance, const std::vector<Hdf5Entry>& entries, Contents& contents) {
  const Hdf5Entry* x = called(entries, {"x"});
  if (!x)
    for (const Hdf5Entry& entry : entries)
      if (entry.obstacle.empty() && entry.shape.rank() > (glance.folder ? 0 : 1) &&
          (!x || entry.shape.count() > x->shape.count()))
        x = &entry;
  if (!x || x->shape.count() == 0) {
    contents.obstacle = entries.empty() ? "there are no arrays" : "no array holds samples: numbers, with a sample axis";
    return;
  }
  const Hdf5Entry* y = called(entries, {"y", "label", "labels", "target", "targets", "class"});
  const auto fits = [&](const Hdf5Entry& entry) {
    return &entry != x && entry.obstacle.empty() &&
           (glance.folder || (entry.shape.rank() > 0 && entry.shape[0] == x->shape[0]));
  };
  if (y && !fits(*y)) y = nullptr;
  for (const Hdf5Entry& entry : entries)
    if (!y && !glance.folder && fits(entry)) y = &entry;
  Spec spec("hdf5", {{"path", glance.path.string()}});
  if (x->name != "x") spec.set("x", x->name);
  if (!y) spec.set("y", "");
  else if (y->name != "y") spec.set("y", y->name);
  contents.readers.push_back(std::move(spec));
}

}  // namespace

std::vector<fs::path> list_hdf5(const fs::path& path) { return list_files(path, {".h5", ".hdf5", ".hdf", ".he5"}); }

bool recognises_hdf5(const Glance& glance) {
  // After a user block the signature is at 512, 1024, 2048, ...
  const bool signed_so = std::ranges::any_of(std::initializer_list<std::size_t>{0, 512, 1024, 2048},
                                             [&](std::size_t at) { return glance.begins("\x89HDF\r\n\x1a\n", at); });
  return signed_so && !has_netcdf_marks(glance);
}

Contents look_hdf5(const Glance& glance) {
  Contents contents;
  const std::vector<fs::path> all = glance.folder ? list_hdf5(glance.path) : glance.inside;
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(all[0]);
  const std::vector<Hdf5Entry> entries = hdf5::list_arrays(file, most_shown_parts);
  for (const Hdf5Entry& entry : entries)
    contents.parts.push_back(
        {one_line(entry.name), brackets(entry.shape), entry.type,
         entry.obstacle.empty() || entry.type.empty() ? entry.obstacle : "cannot be read as numbers"});
  const Hdf5Layout* const layout = recognise_layout(file);
  contents.summary = "HDF5";
  if (glance.folder) contents.summary += fmt::format(", {} files", all.size());
  if (layout) contents.summary += fmt::format(": {}", layout->about);
  if (glance.folder)
    contents.summary += fmt::format("; in the first, {}", all[0].lexically_relative(glance.path).string());
  if (entries.size() == most_shown_parts) contents.summary += fmt::format("; the first {} arrays", most_shown_parts);
  if (layout)
    contents.readers.push_back(Spec("hdf5", {{"path", glance.path.string()}, {"layout", std::string(layout->name)}}));
  else suggest(glance, entries, contents);
  return contents;
}

}  // namespace isobar::datasets
