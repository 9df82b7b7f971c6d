#include "isobar/datasets/format.hpp"

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {
namespace {

template <class Has>
std::string names_of(Has has) {
  std::vector<std::string> names;
  for (const DatasetRow* row : datasets())
    if (has(*row)) names.emplace_back(row->name);
  return join(names, ", ");
}

}  // namespace

const DatasetRow& recognise(const Glance& glance) {
  for (const DatasetRow* row : datasets())
    if (row->recognises && row->recognises(glance)) return *row;
  fail("{}: is of no known format{}; known: {}", glance.path.string(),
       glance.folder ? fmt::format(" (looking at {})", glance.inside[0].string()) : "",
       names_of([](const DatasetRow& row) { return row.recognises != nullptr; }));
}

Contents look_into(const Glance& glance) { return recognise(glance).look(glance); }

std::unique_ptr<SampleWriter> make_writer(const Spec& spec, const std::filesystem::path& to, const Outline& outline) {
  const DatasetRow& row = find(datasets(), spec.name(), "format");
  if (!row.create)
    fail_usage("format '{}' cannot be written; those that can: {}", spec.name(),
               names_of([](const DatasetRow& other) { return other.create != nullptr; }));
  std::error_code code;
  if (std::filesystem::exists(to, code)) fail("{}: exists already; nothing is written over it", to.string());
  Args args(spec, "format");
  auto writer = row.create(to, outline, args);
  args.finish();
  return writer;
}

}  // namespace isobar::datasets
