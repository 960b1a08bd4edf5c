#pragma once

#include "cosim/core/geometry.hpp"

namespace hyphos::cosim {

/// The loss of one knife edge (ITU-R P.526-15, equation 31). `v` is the Fresnel parameter of the
/// edge: positive inside the shadow. 6 dB at v = 0, and 0 below -0.78, where the first Fresnel zone
/// is free enough.
[[nodiscard]] double knife_edge_db(double v);

/// The Fresnel parameter of an edge at height `over_m` over the straight path. Negative below. The
/// other lengths are those from the edge to both ends.
[[nodiscard]] double fresnel(double over_m, double before_m, double behind_m, double wavelength_m);

/// The loss of a box between a and b: through it, or around it. Around it, the signal takes the
/// best of the paths over its top, past both sides, and below it if it does not stand on the
/// ground. A box near the path costs up to 6 dB. Symmetric, and at most `box.loss_db`.
[[nodiscard]] double diffraction_db(const Box& box, const Vec3& a, const Vec3& b,
                                    double wavelength_m);

/// The loss of the ground that rises above the straight path, as one knife edge at its worst point.
/// 0 if the ground stays below the path: the path loss contains level ground. Symmetric.
[[nodiscard]] double ridge_db(const Terrain& terrain, const Vec3& a, const Vec3& b,
                              double wavelength_m);

/// The sum over all boxes and the ground. Edges of several boxes are treated as separate.
[[nodiscard]] double diffraction_db(const Scene& scene, const Vec3& a, const Vec3& b,
                                    double wavelength_m);

}  // namespace hyphos::cosim
