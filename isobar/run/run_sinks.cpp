#include "isobar/run/run_sinks.hpp"

#include "isobar/pictures/pictures.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/page.hpp"
#include "isobar/run/post_mortem_sink.hpp"

namespace isobar::run {

RunSinks make_sinks(const train::Job& job, const Showing& showing) {
  RunSinks sinks;
  sinks.push_back(post_mortem_sink());
  if (showing.screen) sinks.push_back(record::progress(showing.screen, false, showing.around.peaks.flops_per_second));
  sinks.push_back(record::json_lines());
  sinks.push_back(record::metrics_csv());
  if (job.report.mlperf) sinks.push_back(record::mlperf_log(job));
  sinks.push_back(record::run_facts(showing.around));
  sinks.push_back(record::profile());
  sinks.push_back(record::chrome_trace(job.report.trace_mb * 1'000'000));
  if (job.report.tensorboard) sinks.push_back(record::tensorboard(job.report));
  sinks.push_back(record::run_summary());
  sinks.push_back(report::curves());
  if (job.report.pictures) sinks.push_back(pictures::pictures());
  if (job.report.page) sinks.push_back(report::page_sink());
  sinks.push_back(record::disk_summary());
  return sinks;
}

std::vector<train::Sink*> listeners(const RunSinks& sinks) {
  std::vector<train::Sink*> all;
  for (const auto& sink : sinks) all.push_back(sink.get());
  return all;
}

}  // namespace isobar::run
