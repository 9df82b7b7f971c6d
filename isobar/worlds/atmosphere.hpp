// The atmosphere: 16-channel climate states like those of CAM5 that DeepCAM learns from. Season -> mean climate ->
// eddies on the sphere -> winds in balance with pressure -> air stirred by the winds of the last days -> tropical
// cyclones. A state is a pure function of (options, hour); neither threads nor earlier frames change it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/climate.hpp"
#include "isobar/worlds/cyclones.hpp"
#include "isobar/worlds/eddies.hpp"
#include "isobar/worlds/stirring.hpp"

namespace isobar::worlds {

/// What all states of one atmosphere share.
struct AtmosphereOptions {
  int height = 768, width = 1152;  ///< points; at least 16 x 24
  std::uint64_t seed = 1;          ///< names the weather
  std::int64_t run = 0;            ///< another member of the ensemble with this seed
  bool storms = true;              ///< false: no tropical cyclones
  int threads = 0;                 ///< for one state; 0: as many as OpenMP gives
};

/// Reproducible weather; several threads may call make() at once.
class Atmosphere {
 public:
  /// Throws UsageError for impossible options.
  explicit Atmosphere(const AtmosphereOptions& options);

  /// Fills height x width x 16 numbers, channels last, for an hour counted from 2000-01-01 in years of 365 days.
  void make(std::int64_t hour, std::span<float> state) const;

  /// The tropical cyclones of an hour, for tests and pictures; labels are derived from the state alone.
  std::vector<Storm> storms(std::int64_t hour) const;

  const SphereGrid& grid() const { return fine_.grid; }
  const AtmosphereOptions& options() const { return options_; }
  /// Numbers in a state.
  std::size_t count() const { return fine_.grid.cells() * channel_count; }

 private:
  // What does not change on a grid.
  struct Stage {
    Stage(const SphereGrid& on, int threads);
    // Turns a row of unit eddies into the streamfunction of this climate.
    void complete(Plane& eddies, const Climate& climate, int row) const;

    SphereGrid grid;
    Harmonics harmonics;
    Land land;
    Plane mean, summer;  // standing highs and lows, and the contribution of summer
  };

  Past past_winds(std::int64_t hour, const Climate& climate) const;
  Plane usual_moisture(const Climate& climate) const;

  AtmosphereOptions options_;
  Random random_;
  Stage fine_, coarse_;  // of the states, and of the winds of the last days
  Plane sea_anomaly_;
  Eddies flow_, upper_, moisture_, convection_;
};

}  // namespace isobar::worlds
