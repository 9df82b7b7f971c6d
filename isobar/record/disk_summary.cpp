// disk_summary: at the end of a run, lists the files that could not be written, if any, on rank 0.
#include "isobar/disk/late_file.hpp"
#include "isobar/record/sinks.hpp"

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
