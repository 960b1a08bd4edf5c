#pragma once

/// The shaders of the renderer, GLSL 3.30. Positions are relative to the eye or to a block, so that
/// single precision is enough.
namespace hyphos::view::shaders {

// Retained points. `value_or_color` are the same 4 bytes, as the mode needs them.
inline constexpr char kPointVertex[] = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(location = 2) in float value;
uniform mat4 eye_from_block;
uniform mat4 clip_from_eye;
uniform int coloring;        // 0 rgb, 1 value, 2 axis, 3 flat
uniform vec4 axis_plane;     // dot((position, 1)) is the coordinate
uniform vec4 flat_color;
uniform float low;
uniform float per_range;     // 1 / (high - low)
uniform float map_row;
uniform sampler2D maps;
uniform float size_px;       // 0: size_m
uniform float size_m;
uniform float px_per_slope;  // height / (2 tan(fov / 2)), or px per m
uniform float perspective;
flat out vec4 tint;
void main() {
  vec4 eye = eye_from_block * vec4(position, 1.0);
  gl_Position = clip_from_eye * eye;
  float depth = mix(1.0, max(-eye.z, 1e-3), perspective);
  gl_PointSize = size_px > 0.0 ? size_px : clamp(size_m * px_per_slope / depth, 1.0, 256.0);
  if (coloring == 0) {
    tint = color;
  } else if (coloring == 3) {
    tint = flat_color;
  } else {
    float raw = coloring == 1 ? value : dot(axis_plane, vec4(position, 1.0));
    tint = textureLod(maps, vec2(clamp((raw - low) * per_range, 0.002, 0.998), map_row), 0.0);
  }
}
)";

inline constexpr char kPointFragment[] = R"(
flat in vec4 tint;
uniform int is_round;
uniform float alpha;
uniform vec4 ghost;  // a colour, and its part
out vec4 pixel;
void main() {
  if (is_round == 1) {
    vec2 from_center = gl_PointCoord - 0.5;
    if (dot(from_center, from_center) > 0.25) discard;
  }
  if (alpha < 1.0) {
    // A fixed pattern of holes (Bayer, 4 x 4) instead of blending, which needs an order.
    ivec2 p = ivec2(gl_FragCoord.xy) & 3;
    int b = ((p.x ^ p.y) & 1) * 8 + (p.y & 1) * 4 + (((p.x ^ p.y) >> 1) & 1) * 2 + ((p.y >> 1) & 1);
    if ((float(b) + 0.5) / 16.0 > alpha) discard;
  }
  pixel = vec4(mix(tint.rgb, ghost.rgb, ghost.a), 1.0);
}
)";

// The same for opaque squares. Without `discard`, the driver tests the depth first.
inline constexpr char kOpaqueSquareFragment[] = R"(
flat in vec4 tint;
out vec4 pixel;
void main() {
  pixel = vec4(tint.rgb, 1.0);
}
)";

// Lines as rectangles of the screen with soft edges. One instance a line.
inline constexpr char kLineVertex[] = R"(
layout(location = 0) in vec3 from;
layout(location = 1) in vec4 from_color;
layout(location = 2) in vec3 to;
layout(location = 3) in vec4 to_color;
uniform mat4 eye_from_block;
uniform mat4 clip_from_eye;
uniform vec2 half_size;   // of the view, px
uniform float half_width; // px
out vec4 tint;
out float across;
void main() {
  vec4 a = clip_from_eye * (eye_from_block * vec4(from, 1.0));
  vec4 b = clip_from_eye * (eye_from_block * vec4(to, 1.0));
  vec4 a_color = from_color;
  vec4 b_color = to_color;
  float da = a.z + a.w;  // distances to the near plane
  float db = b.z + b.w;
  if (da <= 0.0 && db <= 0.0) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    tint = vec4(0.0);
    across = 0.0;
    return;
  }
  if (da < 0.0) {
    float t = da / (da - db);
    a = mix(a, b, t);
    a_color = mix(a_color, b_color, t);
  } else if (db < 0.0) {
    float t = db / (db - da);
    b = mix(b, a, t);
    b_color = mix(b_color, a_color, t);
  }
  vec2 pa = a.xy / a.w * half_size;
  vec2 pb = b.xy / b.w * half_size;
  vec2 along = pb - pa;
  float size = length(along);
  along = size > 1e-6 ? along / size : vec2(1.0, 0.0);
  float side = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  bool at_end = gl_VertexID >= 2;
  float reach = half_width + 1.0;
  vec2 offset = vec2(-along.y, along.x) * side * reach + along * (at_end ? 0.5 : -0.5);
  vec4 end = at_end ? b : a;
  gl_Position = vec4(end.xy + offset / half_size * end.w, end.z, end.w);
  tint = at_end ? b_color : a_color;
  across = side * reach;
}
)";

inline constexpr char kLineFragment[] = R"(
in vec4 tint;
in float across;
uniform float half_width;
uniform float alpha;
uniform vec4 ghost;
out vec4 pixel;
void main() {
  float cover = clamp(half_width + 0.5 - abs(across), 0.0, 1.0) * alpha;
  if (cover * tint.a < 0.02) discard;
  pixel = vec4(mix(tint.rgb, ghost.rgb, ghost.a), tint.a * cover);
}
)";

// Shaded surfaces, one instance a shape. The normal matrix of a stretched shape divides by squares.
inline constexpr char kSurfaceVertex[] = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec4 row0;
layout(location = 4) in vec4 row1;
layout(location = 5) in vec4 row2;
layout(location = 6) in vec4 tint_in;
layout(location = 7) in vec2 at_in_image;
uniform mat4 clip_from_eye;
uniform mat4 eye_turn;
uniform float lit;
out vec4 tint;
out vec3 eye_normal;
out vec2 place;
void main() {
  vec4 at = vec4(position, 1.0);
  vec3 seen = vec3(dot(row0, at), dot(row1, at), dot(row2, at));
  vec3 squares = vec3(row0.x * row0.x + row1.x * row1.x + row2.x * row2.x,
                      row0.y * row0.y + row1.y * row1.y + row2.y * row2.y,
                      row0.z * row0.z + row1.z * row1.z + row2.z * row2.z);
  vec3 n = normal / max(squares, vec3(1e-12));
  eye_normal = mat3(eye_turn) * vec3(dot(row0.xyz, n), dot(row1.xyz, n), dot(row2.xyz, n));
  gl_Position = clip_from_eye * (eye_turn * vec4(seen, 1.0));
  tint = color * tint_in;
  place = at_in_image;
}
)";

inline constexpr char kSurfaceFragment[] = R"(
in vec4 tint;
in vec3 eye_normal;
in vec2 place;
uniform float lit;
uniform int has_image;
uniform sampler2D image;
out vec4 pixel;
void main() {
  vec3 n = normalize(eye_normal);
  float key = abs(dot(n, normalize(vec3(0.35, 0.55, 0.76))));
  float sky = 0.5 + 0.5 * n.y;
  float light = 0.30 + 0.16 * sky + 0.60 * key;
  vec4 own = has_image == 1 ? tint * texture(image, place) : tint;
  if (own.a < 0.004) discard;
  vec3 shaded = own.rgb * min(light, 1.15);
  pixel = vec4(mix(own.rgb, min(shaded, vec3(1.0)), lit), own.a);
}
)";

// An image on a rectangle. `table` replaces gray values by colours.
inline constexpr char kImageVertex[] = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 at;
uniform mat4 clip_from_local;
out vec2 place;
void main() {
  gl_Position = clip_from_local * vec4(position, 1.0);
  place = at;
}
)";

inline constexpr char kImageFragment[] = R"(
in vec2 place;
uniform sampler2D image;
uniform sampler2D table;
uniform int has_table;
uniform float alpha;
out vec4 pixel;
void main() {
  vec4 found = texture(image, place);
  if (has_table == 1) found = textureLod(table, vec2((found.r * 255.0 + 0.5) / 256.0, 0.5), 0.0);
  pixel = vec4(found.rgb, found.a * alpha);
  if (pixel.a < 0.004) discard;
}
)";

// Letters, in px from the top left.
inline constexpr char kTextVertex[] = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 at;
layout(location = 2) in vec4 color;
uniform vec2 half_size;
out vec2 place;
out vec4 tint;
void main() {
  gl_Position = vec4(position.x / half_size.x - 1.0, 1.0 - position.y / half_size.y,
                     position.z * 2.0 - 1.0, 1.0);
  place = at;
  tint = color;
}
)";

inline constexpr char kTextFragment[] = R"(
in vec2 place;
in vec4 tint;
uniform sampler2D glyphs;
out vec4 pixel;
void main() {
  float cover = texture(glyphs, place).r;
  if (cover * tint.a < 0.01) discard;
  pixel = vec4(tint.rgb, tint.a * cover);
}
)";

}  // namespace hyphos::view::shaders
