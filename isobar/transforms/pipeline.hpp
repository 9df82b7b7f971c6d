// Pipeline: transforms in order, shared by training and test set: what one learned from the training set holds for
// both.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {

class Pipeline {
 public:
  /// `resolved`, when given, receives the Specs with all defaults filled in.
  Pipeline(std::span<const std::string> specs, std::vector<std::string>* resolved = nullptr);

  /// The shape of x after the first `count` transforms.
  Shape infer(Shape x, std::size_t count) const;
  /// Reads a sample of `source` and applies the first `count` transforms to its first field.
  void read(const data::Dataset& source, const data::Reading& reading, std::int64_t index,
            std::span<const std::span<float>> out, std::size_t count) const;
  std::size_t size() const { return steps_.size(); }
  /// Whether some transform moves numbers, and whether some learns from the training set.
  bool moves() const;
  bool learns() const;

  /// Lets every transform learn what it needs from `train`. What `file` holds from an earlier call is taken from
  /// there, and what was learned is kept in it; transforms that need nothing leave no file.
  void learn(const data::Dataset& train, const std::filesystem::path& file, int threads);

 private:
  struct Step {
    std::string name;
    std::unique_ptr<Transform> transform;
  };
  std::vector<Step> steps_;
};

/// A data set seen through a pipeline; read() is as in a test, read_varied() as the data::Reading says.
class Transformed final : public data::Dataset {
 public:
  /// Uses the first `count` transforms.
  Transformed(std::shared_ptr<const data::Dataset> source, std::shared_ptr<const Pipeline> pipeline, std::size_t count);
  /// Uses all of them.
  Transformed(std::shared_ptr<const data::Dataset> source, std::shared_ptr<const Pipeline> pipeline);

  std::int64_t size() const override { return source_->size(); }
  std::vector<data::Field> fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override;
  void read_varied(const data::Reading& reading, std::int64_t index,
                   std::span<const std::span<float>> out) const override;
  std::vector<std::string> classes() const override { return source_->classes(); }
  std::string where(std::int64_t index) const override { return source_->where(index); }
  std::vector<data::FileSpan> spans() const override { return source_->spans(); }
  std::shared_ptr<data::Fetching> foresee(const data::Course& course) const override {
    return source_->foresee(course);
  }

 private:
  std::shared_ptr<const data::Dataset> source_;
  std::shared_ptr<const Pipeline> pipeline_;
  std::size_t count_;
  std::vector<data::Field> fields_;
};

}  // namespace isobar::transforms
