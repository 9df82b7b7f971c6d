// Pipeline: transforms in order, shared by training and test set: what a transform learned from the training set
// applies to both. A FieldRoute is a pipeline laid out for one data set: which transform acts on which field, from
// which memory to which.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {

class Pipeline {
 public:
  /// `resolved`, if given, receives the Specs with all defaults filled in.
  Pipeline(std::span<const std::string> specs, std::vector<std::string>* resolved = nullptr);

  std::size_t size() const { return steps_.size(); }
  /// Whether any transform learns from the training set.
  bool learns() const;

  /// Lets every transform learn what it needs from `train`. What `file` holds from an earlier call is reused, and what
  /// was learned is stored in it; without transforms that learn, there is no file.
  void learn(const datasets::Dataset& train, const std::filesystem::path& file, int threads);
  /// Loads from `file` what an earlier learn() stored; without transforms that learn, no file is needed.
  void recall(const std::filesystem::path& file);
  /// Drops the transforms of fields that samples of `source` do not have, such as unknown targets. Call it after
  /// recall().
  void leave_out_absent(const datasets::Dataset& source);
  /// What the transforms that learn have learned, in their order; empty until then. Other ranks get it from here.
  std::vector<std::vector<float>*> learned();

 private:
  friend class FieldRoute;
  struct Step {
    std::string name;   // as in the recipe
    std::string spec;   // with all defaults
    std::string field;  // the field it acts on
    std::unique_ptr<Transform> transform;

    std::size_t field_of(const std::vector<Grid>& grids) const;
  };
  std::vector<Step> steps_;
};

/// The first transforms of a pipeline, laid out for the fields of a data set.
class FieldRoute {
 public:
  /// A field to which a transform cannot be applied is an Error. The pipeline must outlive the route.
  FieldRoute(const Pipeline& pipeline, std::size_t count, const datasets::Dataset& source);

  /// The resulting fields.
  const std::vector<Grid>& result() const { return grids_; }
  /// Reads a sample of `source` into `out`, one span per field, and applies the transforms.
  void read(const datasets::Dataset& source, const datasets::Reading& reading, std::int64_t index,
            std::span<const std::span<float>> out) const;
  /// The same for a region of the result; reads of the source what it needs.
  void read_region(const datasets::Dataset& source, const datasets::Reading& reading, std::int64_t index,
                   std::span<const Box> region, std::span<const std::span<float>> out) const;
  /// What of the source can be needed for a region of the result, whatever is drawn.
  datasets::Region reach(std::span<const Box> region) const;

 private:
  // The numbers of a field are in the caller's memory or in one of two pieces of scratch memory, which suffice to go
  // from one shape to the next.
  enum class Place : std::uint8_t { first, second, out };
  struct Act {
    std::size_t step, field;
    const Transform* transform;
    Grid grid;    // of the field before the transform
    Shape after;  // of the field after it
    bool stays;   // works in place
  };
  /// An act on some numbers of a field, or a part that is cut out of them.
  struct Leg {
    std::size_t field;
    std::optional<std::size_t> act;  // none: a cut
    Box from, to;
    Place to_place = Place::out;
  };
  /// What is read of every field, where to, and what is then done with it.
  struct Trip {
    bool whole = false;
    datasets::Region region{};
    std::vector<Place> begins{};
    std::vector<Leg> legs{};
  };
  using Drawing = std::function<const Draw*(std::size_t step)>;

  void add(const Pipeline::Step& step, std::size_t number, std::size_t field);
  Trip whole_trip() const;
  Trip trip_to(std::span<const Box> region, const Drawing& draw) const;
  void place(Trip& trip) const;
  void travel(const Trip& trip, const datasets::Dataset& source, const datasets::Reading& reading, std::int64_t index,
              std::span<const std::span<float>> out) const;

  std::vector<Grid> grids_;
  std::vector<Shape> sources_;  // of every field as it is read
  std::vector<Act> acts_;
  Trip whole_;  // to all of the result
};

/// A data set seen through a pipeline; read() does not vary samples, read_varied() does what its datasets::Reading
/// says.
class Transformed final : public datasets::Dataset {
 public:
  /// Uses the first `count` transforms.
  Transformed(std::shared_ptr<const datasets::Dataset> source, std::shared_ptr<const Pipeline> pipeline,
              std::size_t count);
  /// Uses all of them.
  Transformed(std::shared_ptr<const datasets::Dataset> source, std::shared_ptr<const Pipeline> pipeline);

  std::int64_t size() const override { return source_->size(); }
  std::vector<datasets::Field> fields() const override;
  void read(std::int64_t index, std::span<const std::span<float>> out) const override;
  void read_varied(const datasets::Reading& reading, std::int64_t index,
                   std::span<const std::span<float>> out) const override;
  void read_region(const datasets::Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override;
  bool reads_regions() const override { return source_->reads_regions(); }
  /// What of the source can be needed for a region of the result, whatever is drawn: all that a rank need hold.
  datasets::Region reach(std::span<const Box> region) const { return route_.reach(region); }
  std::vector<std::string> channels() const override { return route_.result()[0].channels; }
  std::vector<std::string> classes() const override;
  std::string where(std::int64_t index) const override { return source_->where(index); }
  std::vector<datasets::FileSpan> spans() const override { return source_->spans(); }
  /// The source's geography, unless a transform changes the grid.
  std::optional<datasets::Geography> geography() const override;
  std::shared_ptr<datasets::Fetching> foresee(const datasets::Course& course) const override {
    return source_->foresee(course);
  }

 private:
  std::shared_ptr<const datasets::Dataset> source_;
  std::shared_ptr<const Pipeline> pipeline_;
  FieldRoute route_;
};

}  // namespace isobar::transforms
