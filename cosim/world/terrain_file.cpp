#include "cosim/world/terrain_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "base/config.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostBytes = 64 << 20;

/// Words of a text, with the line of each for errors. A grey map has comments from '#'.
class Words {
 public:
  Words(std::string_view text, bool comments) : text_(text), comments_(comments) {}

  [[nodiscard]] std::string_view next() {
    skip();
    std::size_t end = 0;
    while (end < text_.size() && std::isspace(static_cast<unsigned char>(text_[end])) == 0) ++end;
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }
  [[nodiscard]] bool number(double& to) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to);
    return error == std::errc{} && end == word.data() + word.size() && !word.empty() &&
           std::isfinite(to);
  }
  [[nodiscard]] bool ended() {
    skip();
    return text_.empty();
  }
  [[nodiscard]] std::string_view rest() const { return text_; }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  void skip() {
    while (!text_.empty()) {
      if (text_.front() == '\n') ++line_;
      if (comments_ && text_.front() == '#') {
        text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      } else if (std::isspace(static_cast<unsigned char>(text_.front())) != 0) {
        text_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  bool comments_;
  std::size_t line_ = 1;
};

Error unreadable(const std::string& file, const Words& words, std::string what) {
  return {Code::invalid_config, std::move(what), file + ":" + std::to_string(words.line())};
}

bool is_size(double columns, double rows) {
  return columns >= 2 && rows >= 2 && columns == std::floor(columns) && rows == std::floor(rows) &&
         columns * rows <= static_cast<double>(TerrainOptions::kMostCells);
}

std::string sizes() {
  return "2 by 2 to " + std::to_string(TerrainOptions::kMostCells) + " heights are possible";
}

std::string lower(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<void> read_esri(std::string_view text, const std::string& name, TerrainGrid& to) {
  Words words(text, false);
  std::map<std::string, double> head;
  for (;;) {
    const Words before = words;
    const std::string key = lower(words.next());
    if (key.empty() || std::isalpha(static_cast<unsigned char>(key.front())) == 0) {
      words = before;
      break;
    }
    static constexpr std::array kKeys{"ncols",    "nrows",     "xllcorner", "yllcorner",
                                      "cellsize", "xllcenter", "yllcenter", "nodata_value"};
    if (std::ranges::find(kKeys, key) == kKeys.end() || !words.number(head[key])) {
      return unreadable(
          name, words,
          "expected a line `ncols N`, `nrows N`, `cellsize M` or another of an ESRI ASCII "
          "grid, found '" +
              key + "'");
    }
  }
  const double columns = head["ncols"];
  const double rows = head["nrows"];
  const double cell = head["cellsize"];
  if (!is_size(columns, rows)) return unreadable(name, words, "ncols and nrows: " + sizes());
  if (!(cell >= 1e-3 && cell <= 1e5))
    return unreadable(name, words, "cellsize must be positive, in m");
  to.columns = static_cast<std::size_t>(columns);
  to.rows = static_cast<std::size_t>(rows);
  to.cell_x = to.cell_y = cell;
  to.heights.resize(to.columns * to.rows);
  const auto unknown = head.find("nodata_value");
  for (std::size_t row = to.rows; row-- > 0;) {  // a file begins in the north
    for (std::size_t column = 0; column < to.columns; ++column) {
      double height = 0;
      if (!words.number(height)) {
        return unreadable(name, words,
                          "expected " + std::to_string(to.heights.size()) +
                              " heights in m, found " +
                              (words.ended() ? "the end of the file" : "another word"));
      }
      if (unknown != head.end() && height == unknown->second) {
        return unreadable(name, words, "a height is missing (NODATA_value): fill the gaps first");
      }
      to.heights[row * to.columns + column] = static_cast<float>(height);
    }
  }
  if (!words.ended())
    return unreadable(name, words, "there are more heights than ncols times nrows");
  return success();
}

Result<void> read_grey(std::string_view bytes, const TerrainOptions& options, TerrainGrid& to) {
  const std::string& name = options.file;
  Words words(bytes, true);
  const std::string_view magic = words.next();
  if (magic != "P2" && magic != "P5") {
    return unreadable(name, words, "is not a grey map: it must begin with P2 or P5");
  }
  double columns = 0;
  double rows = 0;
  double white = 0;
  if (!words.number(columns) || !words.number(rows) || !words.number(white)) {
    return unreadable(name, words, "expected width, height and the largest grey value");
  }
  if (!is_size(columns, rows)) return unreadable(name, words, "width and height: " + sizes());
  if (!(white >= 1 && white <= 65535 && white == std::floor(white))) {
    return unreadable(name, words, "the largest grey value must be from 1 to 65535");
  }
  to.columns = static_cast<std::size_t>(columns);
  to.rows = static_cast<std::size_t>(rows);
  const std::size_t count = to.columns * to.rows;
  const std::size_t width = white > 255 ? 2 : 1;
  std::string_view raw = words.rest();
  if (!raw.empty()) raw.remove_prefix(1);  // one blank ends the header
  if (magic == "P5" && raw.size() < count * width) {
    return unreadable(name, words,
                      "is cut off: " + std::to_string(raw.size()) + " bytes of " +
                          std::to_string(count * width) + " for its heights");
  }
  if (!(options.size_x > 0 && options.size_y > 0)) {
    return Error{Code::invalid_config, "a grey map has no size: give size_m: [x, y]", name};
  }
  to.cell_x = options.size_x / (columns - 1);
  to.cell_y = options.size_y / (rows - 1);
  to.heights.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    double grey = 0;
    if (magic == "P5") {
      for (std::size_t b = 0; b < width; ++b) {
        grey = grey * 256 + static_cast<unsigned char>(raw[i * width + b]);
      }
    } else if (!words.number(grey)) {
      return unreadable(name, words, "expected " + std::to_string(count) + " grey values");
    }
    if (grey < 0 || grey > white)
      return unreadable(name, words, "a grey value is beyond the largest");
    const std::size_t row = to.rows - 1 - i / to.columns;  // a picture begins at its top
    to.heights[row * to.columns + i % to.columns] =
        static_cast<float>(options.low + (options.high - options.low) * grey / white);
  }
  return success();
}

Result<void> read(const TerrainOptions& options, TerrainGrid& to) {
  config::Limits limits;
  limits.bytes = kMostBytes;
  auto bytes = config::read_file(options.file, limits);
  if (!bytes) return bytes.error();
  const std::string name = lower(options.file);
  if (name.ends_with(".asc")) return read_esri(*bytes, options.file, to);
  if (name.ends_with(".pgm")) return read_grey(*bytes, options, to);
  return Error{Code::invalid_config,
               "a terrain is an ESRI ASCII grid (.asc) or a portable grey map (.pgm): convert it, "
               "for example with gdal_translate",
               options.file};
}

}  // namespace

Result<Terrain> load_terrain(const TerrainOptions& options) {
  TerrainGrid grid;
  if (!options.file.empty()) {
    if (auto done = read(options, grid); !done) return done.error();
  }
  return Terrain::make(options, std::move(grid));
}

}  // namespace hyphos::cosim
