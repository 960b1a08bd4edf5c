#include "cosim/world/settings.hpp"

#include <array>

namespace hyphos::cosim {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

Error bad(std::string_view key, std::string what) {
  return {Code::invalid_config, std::move(what), std::string(key)};
}

}  // namespace

std::string as_word(std::string_view text) {
  if (text.empty()) return "%";
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && c != ';' && c != '%') {
      word += c;
    } else {
      word += {'%', kHex[byte / 16], kHex[byte % 16]};
    }
  }
  return word;
}

Result<std::string> from_word(std::string_view word) {
  if (word == "%") return std::string();
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    const std::size_t high = i + 2 < word.size() ? kHex.find(word[i + 1]) : kHex.npos;
    const std::size_t low = i + 2 < word.size() ? kHex.find(word[i + 2]) : kHex.npos;
    if (high == kHex.npos || low == kHex.npos) return bad(word, "expected %XX after '%'");
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

void write_terrain(std::string& text, const TerrainOptions& options) {
  write_setting(
      text, "terrain",
      std::array{options.centre_x, options.centre_y, options.size_x, options.size_y, options.cell,
                 options.low, options.high, options.rough, options.rough_scale,
                 static_cast<double>(options.seed), options.loss_db});
  if (!options.file.empty()) text += "terrain_file " + as_word(options.file) + "\n";
  for (const Hill& hill : options.hills) {
    write_setting(text, "hill", std::array{hill.x, hill.y, hill.radius, hill.height});
  }
}

bool is_terrain(const Setting& setting) {
  return setting.key == "terrain" || setting.key == "terrain_file" || setting.key == "hill";
}

Result<void> take_terrain(const Setting& setting, TerrainOptions& options) {
  if (setting.key == "terrain_file") {
    if (setting.values.size() != 1) return bad(setting.key, "expected one file");
    auto file = from_word(setting.values[0]);
    if (!file) return file.error();
    options.file = std::move(*file);
    return success();
  }
  auto v = numbers(setting, setting.key == "hill" ? 4 : 11);
  if (!v) return v.error();
  if (setting.key == "hill") {
    options.hills.push_back({(*v)[0], (*v)[1], (*v)[2], (*v)[3]});
    return success();
  }
  std::size_t i = 0;
  for (double* const to :
       {&options.centre_x, &options.centre_y, &options.size_x, &options.size_y, &options.cell,
        &options.low, &options.high, &options.rough, &options.rough_scale}) {
    *to = (*v)[i++];
  }
  options.seed = static_cast<std::uint64_t>((*v)[9]);
  options.loss_db = (*v)[10];
  return success();
}

void write_mesh(std::string& text, const Mesh& mesh) {
  std::string values;
  write_setting(values, "",
                std::array{mesh.at.x, mesh.at.y, mesh.at.z, mesh.yaw, mesh.scale, mesh.loss_db});
  text += "mesh " + as_word(mesh.file) + values;
}

Result<Mesh> read_mesh(const Setting& setting) {
  if (setting.values.size() != 7) return bad("mesh", "expected a file and six numbers");
  auto file = from_word(setting.values[0]);
  if (!file) return file.error();
  Setting rest = setting;
  rest.values.erase(rest.values.begin());
  auto v = numbers(rest, 6);
  if (!v) return v.error();
  return Mesh{std::move(*file), {(*v)[0], (*v)[1], (*v)[2]}, (*v)[3], (*v)[4], (*v)[5]};
}

}  // namespace hyphos::cosim
