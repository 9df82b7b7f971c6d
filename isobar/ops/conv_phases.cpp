// The row `phases`: the data gradient of a strided convolution as forward convolutions, one for every phase of the
// stride (deconv_phases.hpp).
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/deconv_phases.hpp"

namespace isobar::ops {
namespace {

std::optional<std::vector<Kernel>> make_phases(const Setting& setting, const ConvCase& p, Direction direction) {
  if (direction != Direction::data_gradient || p.groups != 1) return std::nullopt;
  return one_kernel(deconv_by_phases(setting,
                                     {p.window, p.y, p.x, p.stored, p.dz, {Slot::Kind::dx, 0}, false, p.temporary},
                                     "data gradient", Category::backward_convolution, p.flops));
}

}  // namespace

extern const ConvMethod conv_phases{"phases", "data gradient: a forward convolution for every phase of the stride",
                                    make_phases, [](const ConvCase&, Direction) { return true; }};

}  // namespace isobar::ops
