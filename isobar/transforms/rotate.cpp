// rotate(by=90, reflections=false): in training, a random symmetry of the square or the cube, all equally likely: 4
// rotations of an image or 24 of a volume, twice as many with reflections. by=180 keeps the order of the axes and so
// works for any extents; by=90 needs all extents equal. Nothing is rotated in a test.
#include <algorithm>
#include <array>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

/// Axis a of the output runs along axis from[a] of the input, backwards if flipped. For a square, axis 0 is unchanged.
struct Symmetry {
  std::array<std::size_t, 3> from;
  std::array<bool, 3> flipped;
};

// The symmetries of the cube, or those that keep axis 0, for the square; the first is the identity.
std::vector<Symmetry> symmetries(int places, bool exchanging, bool reflections) {
  std::vector<Symmetry> all;
  std::array<std::size_t, 3> from{0, 1, 2};
  do {
    if (places == 2 && from[0] != 0) break;
    const bool odd = (from[0] > from[1]) ^ (from[0] > from[2]) ^ (from[1] > from[2]);
    if (!exchanging && from != std::array<std::size_t, 3>{0, 1, 2}) break;
    for (unsigned flips = 0; flips < 8; ++flips) {
      const Symmetry one{from, {(flips & 1) != 0, (flips & 2) != 0, (flips & 4) != 0}};
      const bool turned_inside_out = odd ^ one.flipped[0] ^ one.flipped[1] ^ one.flipped[2];
      if ((places == 2 && one.flipped[0]) || (turned_inside_out && !reflections)) continue;
      all.push_back(one);
    }
  } while (std::ranges::next_permutation(from).found);
  return all;
}

class Rotate final : public Transform {
 public:
  Rotate(bool exchanging, bool reflections)
      : exchanging_(exchanging),
        square_(symmetries(2, exchanging, reflections)),
        cube_(symmetries(3, exchanging, reflections)) {}

  Grid infer(Grid field) const override {
    if (field.places != 2 && field.places != 3)
      fail("transform 'rotate': '{}' is {}; an image or a volume has 2 or 3 axes of places and channels", field.name,
           field.shape.str());
    for (int axis = 1; axis < field.places && exchanging_; ++axis)
      if (field.shape[axis] != field.shape[0])
        fail("transform 'rotate': '{}' is {}; turning by 90 degrees needs equal extents, by=180 any", field.name,
             field.shape.str());
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw* draw) const override {
    const std::vector<Symmetry>& choice = choices(field);
    if (draw) return turned_back(field, choice[drawn(choice, *draw)], part);
    Box all = part;
    for (const Symmetry& symmetry : choice) all = hull(all, turned_back(field, symmetry, part));
    return all;
  }

  void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw& draw) const override {
    const std::vector<Symmetry>& choice = choices(at.field);
    const std::size_t number = drawn(choice, draw);
    if (number == 0) std::ranges::copy(in, out.begin());
    else turn(at, choice[number], in.data(), out.data());
  }

  bool moves() const override { return true; }
  bool in_place() const override { return false; }

 private:
  const std::vector<Symmetry>& choices(const Grid& field) const { return field.places == 2 ? square_ : cube_; }
  static std::size_t drawn(const std::vector<Symmetry>& choice, const Draw& draw) {
    return draw.training ? draw.random.below(0, choice.size()) : 0;
  }

  // Where `part` of the result lies in the field.
  static Box turned_back(const Grid& field, const Symmetry& symmetry, const Box& part) {
    Box box = part;
    const int shift = 3 - field.places;
    for (int axis = 0; axis < field.places; ++axis) {
      const int along = static_cast<int>(symmetry.from[axis + shift]) - shift;
      const std::int64_t first = part.begin[axis], extent = part.shape[axis];
      box = box.with(along, symmetry.flipped[axis + shift] ? field.shape[along] - first - extent : first, extent);
    }
    return box;
  }

  // The extents of a box as a volume, and the numbers from one of its places to the next along each axis.
  struct Walked {
    Walked(const Box& box, int places) {
      for (int axis = 0; axis < places; ++axis) extent[axis + 3 - places] = box.shape[axis];
      step = {extent[1] * extent[2], extent[2], 1};
      for (std::int64_t& numbers : step) numbers *= box.shape.count(places, box.shape.rank());
    }
    std::array<std::int64_t, 3> extent{1, 1, 1}, step;
  };

  static void turn(const Portion& at, const Symmetry& symmetry, const float* in, float* out) {
    const Walked input(at.from, at.field.places), output(at.to, at.field.places);
    const std::array<std::int64_t, 3>&extent = output.extent, &step_out = output.step;
    const std::int64_t pixel = step_out[2];
    std::array<std::int64_t, 3> step_in;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t along = input.step[symmetry.from[a]];
      step_in[a] = symmetry.flipped[a] ? -along : along;
      if (symmetry.flipped[a]) in += (extent[a] - 1) * along;
    }
    // The last axis of the input and the last axis of the output are walked in tiles: each cache line is used again
    // while it is still cached.
    const std::size_t last = std::ranges::find(symmetry.from, 2u) - symmetry.from.begin();
    const std::size_t across = last == 2 ? 1 : last, outer = 1 - across;
    constexpr std::int64_t tile = 16;
    for (std::int64_t i = 0; i < extent[outer]; ++i)
      for (std::int64_t j0 = 0; j0 < extent[across]; j0 += tile)
        for (std::int64_t k0 = 0; k0 < extent[2]; k0 += tile) {
          const std::int64_t j1 = std::min(j0 + tile, extent[across]), k1 = std::min(k0 + tile, extent[2]);
          for (std::int64_t j = j0; j < j1; ++j) {
            const float* from = in + i * step_in[outer] + j * step_in[across];
            float* to = out + i * step_out[outer] + j * step_out[across];
            if (pixel == 1)
              for (std::int64_t k = k0; k < k1; ++k) to[k] = from[k * step_in[2]];
            else
              for (std::int64_t k = k0; k < k1; ++k) std::copy_n(from + k * step_in[2], pixel, to + k * pixel);
          }
        }
  }

  bool exchanging_;
  std::vector<Symmetry> square_, cube_;
};

}  // namespace

extern const Row<Transform> rotate;
const Row<Transform> rotate{"rotate", "a random turn by right angles of an image or volume in training",
                            [](Args& args) -> std::unique_ptr<Transform> {
                              const std::int64_t by = args.integer("by", 90);
                              const bool reflections = args.flag("reflections", false);
                              args.require(by == 90 || by == 180, "by = 90 or 180 degrees");
                              return std::make_unique<Rotate>(by == 90, reflections);
                            }};

}  // namespace isobar::transforms
