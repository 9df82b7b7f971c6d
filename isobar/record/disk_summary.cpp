#include "isobar/record/disk_summary.hpp"

#include "isobar/disk/late_file.hpp"

namespace isobar::record {
namespace {

class DiskSummary final : public train::Sink {
 public:
  train::SinkTurn turn() const override { return train::SinkTurn::last; }
  void end(const train::End&) override {
    disk::flush_late_files();
    disk::disk_warnings().conclude();
  }
};

}  // namespace

std::unique_ptr<train::Sink> disk_summary() { return std::make_unique<DiskSummary>(); }

}  // namespace isobar::record
