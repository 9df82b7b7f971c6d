#include "isobar/pictures/pictures.hpp"

#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/disk/disk_warnings.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/subject.hpp"

namespace isobar::pictures {

extern const PictureKind boxes;       // picture_boxes.cpp
extern const PictureKind confusion;   // picture_confusion.cpp
extern const PictureKind maps;        // picture_maps.cpp
extern const PictureKind mistakes;    // picture_mistakes.cpp
extern const PictureKind regression;  // picture_regression.cpp
extern const PictureKind made_text;   // picture_text.cpp
extern const PictureKind weather;     // picture_weather.cpp

// In the order in which they are shown.
Table<PictureKind> picture_kinds() {
  static constexpr const PictureKind* all[] = {&regression, &mistakes, &maps, &weather, &boxes, &made_text, &confusion};
  return all;
}

namespace {

void warn(std::string_view what, const std::exception& error) {
  fmt::print(stderr, "isobar: no picture of {}: {}\n", what, error.what());
}

class Pictures final : public train::Sink {
 public:
  void start(const train::Start& start) override {
    folder_ = start.folder / "pictures";
    if (const Value* loss = start.recipe.find("loss"))
      if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&loss->held)) loss_ = **spec;
  }

  void end(const train::End& end) override {
    // An interrupted run draws no pictures, to end quickly; they are drawn when it is resumed and finishes.
    if (end.reason != train::End::Reason::finished) return;
    PictureRequest request;
    request.viewer = end.viewer;
    request.loss = loss_;
    request.target_names = end.target_names;
    request.target_shape = end.target_shape;
    request.predictions = end.predictions;
    request.targets = end.targets;
    request.results = end.test;
    try {
      if (end.viewer || !end.predictions.empty()) disk::written_or_told([&] { draw_pictures(folder_, request); });
    } catch (const std::exception& error) {
      warn("this run", error);
    }
  }

 private:
  std::filesystem::path folder_;
  Spec loss_;
};

}  // namespace

std::vector<Picture> draw_pictures(const std::filesystem::path& folder, const PictureRequest& request) {
  Subject subject(request);
  std::vector<Picture> drawn;
  for (const PictureKind* kind : picture_kinds()) {
    if (!kind->fits(subject)) continue;
    std::error_code code;
    if (std::filesystem::create_directories(folder, code); code) throw disk::DiskError(folder, code.message());
    try {
      for (Picture& picture : kind->draw(subject, folder)) {
        picture.kind = kind->name;
        drawn.push_back(std::move(picture));
      }
    } catch (const disk::DiskError&) {
      throw;
    } catch (const std::exception& error) {
      warn(kind->summary, error);
    }
  }
  if (drawn.empty()) return drawn;
  nlohmann::json list = nlohmann::json::array();
  for (const Picture& picture : drawn)
    list.push_back({{"kind", picture.kind},
                    {"title", picture.title},
                    {"caption", picture.caption},
                    {"file", picture.file.generic_string()}});
  disk::write_text(folder / "pictures.json", list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return drawn;
}

std::unique_ptr<train::Sink> pictures() { return std::make_unique<Pictures>(); }

}  // namespace isobar::pictures
