#include "isobar/forecast/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::forecast {
namespace {

using Vector = std::vector<double>;

constexpr double difference = 0.05;  // large enough that simulated times move by more than their rounding

double squares(const Vector& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

// Solves the small symmetric system by elimination with pivoting.
Vector solve(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r)
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
    if (std::abs(a[k][k]) < 1e-300) return Vector(n, 0.0);
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c < n; ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) b[k] -= a[k][c] * b[c];
    b[k] /= a[k][k];
  }
  return b;
}

}  // namespace

Fit least_squares(const Residuals& residuals, Vector start, double most, int most_steps) {
  const std::size_t n = start.size();
  Fit fit{.point = start};
  const auto evaluate = [&](const Vector& point) {
    ++fit.evaluations;
    return residuals(point);
  };
  Vector now = evaluate(start);
  fit.squares = squares(now);
  double damping = 1e-3;
  for (int step = 0; step < most_steps && n > 0; ++step) {
    std::vector<Vector> slopes;  // by unknown
    for (std::size_t i = 0; i < n; ++i) {
      Vector moved = fit.point;
      moved[i] += difference;
      Vector slope = evaluate(moved);
      for (std::size_t r = 0; r < slope.size(); ++r) slope[r] = (slope[r] - now[r]) / difference;
      slopes.push_back(std::move(slope));
    }
    bool better = false;
    double gained = 0;
    for (int tries = 0; tries < 6 && !better; ++tries) {
      std::vector<Vector> a(n, Vector(n));
      Vector b(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t r = 0; r < now.size(); ++r) a[i][j] += slopes[i][r] * slopes[j][r];
        for (std::size_t r = 0; r < now.size(); ++r) b[i] -= slopes[i][r] * now[r];
      }
      // An unknown that affects no residual stays unchanged.
      for (std::size_t i = 0; i < n; ++i) a[i][i] = a[i][i] * (1 + damping) + 1e-9;
      const Vector move = solve(a, b);
      Vector point = fit.point;
      for (std::size_t i = 0; i < n; ++i)
        point[i] = std::clamp(point[i] + std::clamp(move[i], -1.0, 1.0), start[i] - most, start[i] + most);
      const Vector there = evaluate(point);
      if (const double sum = squares(there); sum < fit.squares) {
        gained = fit.squares - sum;
        fit.point = point, fit.squares = sum, now = there;
        better = true;
        damping = std::max(damping / 5, 1e-7);
      } else {
        damping *= 8;
      }
    }
    if (!better || gained < 1e-7 * now.size() || fit.squares < 1e-10) break;
  }
  return fit;
}

}  // namespace isobar::forecast
