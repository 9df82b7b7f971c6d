#include "isobar/worlds/universe.hpp"

#include <cmath>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/worlds/field.hpp"

namespace isobar::worlds {
namespace {

constexpr std::array<double, 4> nominals{0.3, 0.8, 0.96, 70.0};
enum UniverseStream : std::uint64_t { parameters, phases };

UniverseOptions checked(UniverseOptions options) {
  const int n = options.mesh;
  if (n < 4 || n > 4096 || (n & (n - 1)) != 0)
    fail_usage("universe: mesh = {}; valid are the powers of two from 4 to 4096", n);
  if (!(options.cell >= 1e-3 && options.cell <= 1e3))
    fail_usage("universe: cell = {} Mpc/h; valid is 0.001 to 1000", options.cell);
  if (options.redshifts.empty()) fail_usage("universe: no redshifts; at least one is needed, e.g. 0");
  for (double z : options.redshifts)
    if (!(z >= 0 && z <= 1000)) fail_usage("universe: redshift {}; valid is 0 to 1000", z);
  // Beyond 0.8 the lowest Omega_m would hardly exceed omega_b.
  if (!(options.spread > 0 && options.spread <= 0.8))
    fail_usage("universe: spread = {}; valid is more than 0 and at most 0.8", options.spread);
  if (options.threads < 0) fail_usage("universe: threads = {}; valid is 0 (all) or more", options.threads);
  // A small universe takes a few milliseconds: synchronizing threads fifty times may cost more than they save.
  if (options.threads == 0 && n < 64) options.threads = 1;
  return options;
}

}  // namespace

Universe::Universe(UniverseOptions options)
    : options_(checked(std::move(options))), fourier_(options_.mesh, options_.threads) {}

std::int64_t Universe::count() const {
  return std::int64_t{options_.mesh} * options_.mesh * options_.mesh * channels();
}

std::array<float, 4> Universe::targets(std::int64_t index) const {
  expects(index >= 0, "a universe's number, counted from 0");
  const Random random = Random(options_.seed).sub(index).sub(parameters);
  std::array<float, 4> unit;
  for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = static_cast<float>(2.0 * random.uniform(i) - 1.0);
  return unit;
}

Cosmology Universe::cosmology(std::int64_t index) const {
  const auto unit = targets(index);
  const auto physical = [&](std::size_t i) { return nominals[i] * (1.0 + unit[i] * options_.spread); };
  return {.omega_m = physical(0), .sigma_8 = physical(1), .n_s = physical(2), .h0 = physical(3)};
}

double Universe::box(std::int64_t index) const {
  const double scale = options_.scale_with_h0 ? cosmology(index).h0 / nominals[3] : 1.0;
  return options_.mesh * options_.cell * scale;
}

void Universe::make(std::int64_t index, std::span<float> volume) const {
  expects(std::ssize(volume) == count(), "room for mesh^3 x channels counts");
  const Cosmology physics = cosmology(index);
  const double edge = box(index);
  const Random random = Random(options_.seed).sub(index).sub(phases);

  const Mesh delta(options_.mesh);
  draw_field(delta, PowerSpectrum(physics), edge, random, options_.threads);
  Displacement displacement(options_.mesh);
  displace(delta, edge, fourier_, displacement);

  std::vector<GrowthFactors> factors;
  for (double z : options_.redshifts) factors.push_back({growth(physics, z), second_growth(physics, z)});
  deposit(displacement, edge, factors, options_.counting, options_.threads, volume);
}

}  // namespace isobar::worlds
