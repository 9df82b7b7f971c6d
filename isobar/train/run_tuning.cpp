#include "isobar/train/run_tuning.hpp"

#include <fmt/format.h>

#include "isobar/base/cache_file.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/late_file.hpp"
#include "isobar/ops/tuning_text.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/tune/remembered.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "tuning.txt";
constexpr std::size_t longest_file = 8 << 20;

// The tuning in the folder, as text, read on rank 0; empty if there is none.
std::string read_kept(const fs::path& folder) {
  std::error_code none;
  const fs::path file = folder / file_name;
  if (!fs::exists(file, none)) return {};
  std::string text = read_cache(file, longest_file);
  if (ops::parse_tuning(text)) return text;
  fmt::print(stderr, "isobar: {} is damaged: continues without tuning, the last bits of results may differ\n",
             one_line(file.string(), 400));
  return {};
}

std::shared_ptr<const ops::Tuning> shared(std::string text, comm::Comm& comm) {
  broadcast(comm, text);
  auto tuning = ops::parse_tuning(text);
  if (!tuning || tuning->all().empty()) return nullptr;
  return std::make_shared<const ops::Tuning>(std::move(*tuning));
}

}  // namespace

std::shared_ptr<const ops::Tuning> run_tuning(const Job& job, std::int64_t rows, bool under_way, comm::Comm& comm) {
  std::string text;
  std::error_code none;
  if (comm.rank() == 0) {
    const bool goes_on = (under_way || !job.overwrite) && fs::exists(job.folder / "recipe.toml", none);
    if (goes_on) text = read_kept(job.folder);
    else if (job.tuned && !job.deterministic)
      if (const auto known = tune::known_tuning(job.model.resolved, rows)) text = ops::tuning_text(*known);
  }
  return shared(std::move(text), comm);
}

std::shared_ptr<const ops::Tuning> kept_tuning(const fs::path& folder, comm::Comm& comm) {
  return shared(comm.rank() == 0 ? read_kept(folder) : std::string(), comm);
}

void keep_tuning(const fs::path& folder, const ops::Tuning& tuning) {
  disk::write_late(folder / file_name, ops::tuning_text(tuning));
}

}  // namespace isobar::train
