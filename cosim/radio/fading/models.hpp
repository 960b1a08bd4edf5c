#pragma once

#include <memory>

#include "cosim/radio/fading.hpp"

/// The fading models, one file each.
namespace hyphos::cosim::make {

[[nodiscard]] std::unique_ptr<Fading> no_fading(const FadingOptions& options);
[[nodiscard]] std::unique_ptr<Fading> rayleigh(const FadingOptions& options);
[[nodiscard]] std::unique_ptr<Fading> rician(const FadingOptions& options);
[[nodiscard]] std::unique_ptr<Fading> nakagami(const FadingOptions& options);

}  // namespace hyphos::cosim::make

namespace hyphos::cosim {

/// The scattered waves of all models: Clarke's, whose spectrum is that of Jakes. Their mean power
/// is 1, and their largest field is √kScattered.
inline constexpr std::size_t kScattered = 16;
[[nodiscard]] Waves scattered(const FadingOptions& options);

}  // namespace hyphos::cosim
