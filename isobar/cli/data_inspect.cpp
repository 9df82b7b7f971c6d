// isobar data inspect: what is inside a data set.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/data/dataset.hpp"

namespace isobar::cli {
namespace {

struct Spread {
  double low = std::numeric_limits<double>::infinity(), mean = 0, high = -low;
};

Spread spread_of(std::span<const float> values) {
  Spread spread;
  for (const double v : values) {
    spread.low = std::min(spread.low, v);
    spread.high = std::max(spread.high, v);
    spread.mean += v / static_cast<double>(values.size());
  }
  return spread;
}

void inspect(const std::string& spec, std::int64_t wanted) {
  const auto dataset = data::make_dataset(spec);
  const std::vector<data::Field> fields = dataset->fields();
  fmt::print("{} samples\n", with_commas(dataset->size()));
  for (const data::Field& field : fields)
    fmt::print("  {:<4} {}, {} a sample\n", field.name, field.shape.str(),
               human_bytes(static_cast<double>(field.shape.count()) * sizeof(float)));
  std::vector<std::vector<float>> memory;
  for (const data::Field& field : fields) memory.emplace_back(static_cast<std::size_t>(field.shape.count()));
  const std::vector<std::span<float>> out(memory.begin(), memory.end());
  for (std::int64_t i = 0; i < std::min(wanted, dataset->size()); ++i) {
    dataset->read(i, out);
    fmt::print("\n{}\n", dataset->where(i));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const Spread spread = spread_of(out[f]);
      fmt::print("  {:<4} min {:<10.4g} mean {:<10.4g} max {:<10.4g}", fields[f].name, spread.low, spread.mean,
                 spread.high);
      if (out[f].size() <= 8) fmt::print(" [{:.4g}]", fmt::join(out[f], ", "));
      fmt::print("\n");
    }
  }
}

}  // namespace

void declare_inspect(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("inspect", "show the size, fields and first samples of a data set");
  const auto spec = std::make_shared<std::string>();
  const auto samples = std::make_shared<std::int64_t>(3);
  command.add_option("SPEC", *spec, "a data set, as 'hdf5(path=universe/train)'; see 'isobar list datasets'")
      ->required();
  command.add_option("--samples", *samples, "how many to look into")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1000).description(""));
  command.callback([spec, samples] { inspect(*spec, *samples); });
}

}  // namespace isobar::cli
