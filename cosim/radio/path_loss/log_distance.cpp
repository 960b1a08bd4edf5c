#include "cosim/radio/path_loss/models.hpp"

namespace hyphos::cosim {
namespace {

/// The loss at 1 m plus 10 n log10 of the distance in metres.
class LogDistance final : public PathLoss {
 public:
  LogDistance(double exponent, double reference_db)
      : exponent_(exponent), reference_db_(reference_db) {}

  double loss_db(const Link& link, bool /*line_of_sight*/) const override {
    return least_db(link.distance());
  }
  double least_db(double distance_m) const override {
    return reference_db_ + 10 * exponent_ * std::log10(distance_m);
  }
  double steepest() const override { return exponent_; }

 private:
  double exponent_;
  double reference_db_;
};

}  // namespace

namespace make {
std::unique_ptr<PathLoss> log_distance(const PathLossOptions& options) {
  return std::make_unique<LogDistance>(options.exponent, options.reference_loss_db);
}
std::unique_ptr<PathLoss> free_space(const PathLossOptions& options) {
  return std::make_unique<LogDistance>(2, free_space_db(1, options.frequency_hz));
}
}  // namespace make

}  // namespace hyphos::cosim
