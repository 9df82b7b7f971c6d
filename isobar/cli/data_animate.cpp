// isobar data animate FILE: the atmosphere as an animated map, or a still one with --frames 1.
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/pictures/weather_map.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct AnimationRequest {
  std::string file;
  datasets::WeatherOptions weather{};
  std::int64_t frames = 24;
  int pixels = 1152, milliseconds = 150;
};

void animate(const AnimationRequest& request) {
  catch_signals();
  const double begin = now_seconds();
  // Opens the file first: if it cannot be written, no frames are computed.
  disk::OutputFile out{request.file};
  const datasets::WeatherSeries series(request.weather);
  const pictures::WeatherMap map(series.atmosphere().grid(), request.pixels);
  std::vector<files::PaletteImage> frames;
  {
    record::StatusLine line(record::Screen::of(stdout));
    const auto progress = shown_on(line);
    for (std::int64_t i = 0; i < request.frames; ++i) {
      if (stop_requested()) fail("stopped: {} was not written", request.file);
      const datasets::WeatherFrame frame = series.make(i);
      frames.push_back(map.draw(frame.state, frame.labels[0]));
      progress(i + 1, request.frames);
    }
  }
  const std::vector<std::uint8_t> bytes =
      frames.size() == 1 ? files::encode_png(frames[0]) : files::encode_animation(frames, request.milliseconds);
  out.write(bytes);
  out.commit();
  fmt::print("{}: {} of precipitable water, {} x {} pixels, {} (made in {})\n", request.file,
             frames.size() == 1 ? "a map" : fmt::format("{} maps", frames.size()), map.width(), map.height(),
             human_bytes(static_cast<double>(bytes.size())), human_seconds(now_seconds() - begin));
}

}  // namespace

void declare_animate(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("animate", "draw the atmosphere as a moving map (animated PNG)");
  command.footer(
      "Maps show precipitable water; tropical cyclones are outlined in red, atmospheric rivers in yellow. Every "
      "browser\n"
      "plays the file; programs that cannot animate show its first frame.");
  const auto request = std::make_shared<AnimationRequest>();
  const auto whole = [](std::int64_t least, std::int64_t most) { return CLI::Range(least, most).description(""); };
  const auto option = [&](const char* name, auto& value, const char* type, const char* meaning) {
    return command.add_option(name, value, meaning)->type_name(type)->capture_default_str();
  };
  command.add_option("FILE", request->file, "the picture to write, such as weather.png")->required();
  option("--frames", request->frames, "N", "1: a still picture")->check(whole(1, 1000));
  option("--pixels", request->pixels, "N", "width of the map; it is half as high")->check(whole(16, 4096));
  option("--milliseconds", request->milliseconds, "N", "how long a frame is shown")->check(whole(10, 60000));
  add_weather_options(command, request->weather);
  command.callback([request] { animate(*request); });
}

}  // namespace isobar::cli
