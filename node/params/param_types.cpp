#include "hyphos/param_types.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/config.hpp"
#include "node/params/param_rules.hpp"
#include "plan/build.hpp"
#include "plan/param_tree.hpp"

namespace hyphos {
namespace {

constexpr std::array<std::string_view, 9> kTypes = {
    "boolean",         "integer",         "real",         "text",        "bytes",
    "list of boolean", "list of integer", "list of real", "list of text"};

std::string yaml_of(bool value) { return value ? "true" : "false"; }
std::string yaml_of(std::int64_t value) { return std::to_string(value); }

std::string yaml_of(double value) {
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  if (std::isnan(value)) return ".nan";
  std::array<char, 32> digits{};
  // The shortest text that reads back as the same number.
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  const bool whole = text.find_first_of(".e") == std::string::npos;
  return whole ? text + ".0" : text;
}

std::string yaml_of(const std::string& value) { return plan::quoted(value); }

std::string yaml_of(const ParamBytes& value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";  // quoted: digits alone would be a number
  for (const std::byte one : value) {
    const auto byte = std::to_integer<unsigned>(one);
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out + '"';
}

template <typename T>
std::string yaml_of(const std::vector<T>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    out += yaml_of(static_cast<T>(list[i]));
  }
  return out + "]";
}

template <typename T>
std::string range_text(const ParamRange<T>& range) {
  constexpr ParamRange<T> kAll{};
  const bool below = range.least != kAll.least;
  const bool above = range.most != kAll.most;
  std::string text;
  if (below && above) {
    text = yaml_of(range.least) + " to " + yaml_of(range.most);
  } else if (below) {
    text = "at least " + yaml_of(range.least);
  } else if (above) {
    text = "at most " + yaml_of(range.most);
  }
  if (range.step > 0) text += (text.empty() ? "" : " ") + ("in steps of " + yaml_of(range.step));
  return text;
}

}  // namespace

std::string_view to_string(ParamType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kTypes.size() ? kTypes[index] : "unknown";
}

std::string_view to_string(ParamOrigin origin) {
  switch (origin) {
    case ParamOrigin::standard:
      return "default";
    case ParamOrigin::plan:
      return "plan";
    case ParamOrigin::restored:
      return "restored";
    case ParamOrigin::set:
      return "set";
  }
  return "unknown";
}

std::string to_yaml(const ParamVariant& value) {
  return std::visit([](const auto& one) { return yaml_of(one); }, value);
}

Result<ParamVariant> parse_param(ParamType type, std::string_view text) {
  // Text is used verbatim unless it is in quotes, so `a: b` need not be written as YAML.
  const bool quoted =
      text.size() >= 2 && text.front() == text.back() && (text[0] == '"' || text[0] == '\'');
  if (type == ParamType::text && !quoted) return ParamVariant(std::string(text));
  config::Problems problems;
  const config::Value value = config::parse_yaml(text, "value", problems);
  if (problems.failed()) return problems.to_error();
  auto read = params::read(type, plan::to_param(value));
  if (read) return read;
  // The location within a one-line text is of no use.
  return Error{read.error().code, read.error().message, ""};
}

std::string ParamInfo::allowed() const {
  if (const auto* real = std::get_if<ParamRange<double>>(&range)) return range_text(*real);
  if (const auto* whole = std::get_if<ParamRange<std::int64_t>>(&range)) return range_text(*whole);
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : ", ") + choice;
  return text;
}

const ParamInfo* ParamSet::find(std::string_view name) const {
  const auto before = [](const auto& info, std::string_view wanted) { return info->name < wanted; };
  const auto found = std::lower_bound(infos_->begin(), infos_->end(), name, before);
  return found != infos_->end() && (*found)->name == name ? found->get() : nullptr;
}

bool ParamSet::changed(std::string_view name) const {
  return std::binary_search(changed_.begin(), changed_.end(), name);
}

ParamSet ParamSet::with_changed(std::vector<std::string> changed) const {
  ParamSet out = *this;
  out.changed_ = std::move(changed);
  return out;
}

std::string ParamSet::suggestion(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& info : *infos_) names.push_back(info->name);
  return config::suggestion(config::Problems(), name, "parameters", names);
}

void ParamSet::refuse(std::string_view name, const ParamInfo* there) const {
  if (there == nullptr) {
    throw Exception({Code::not_found,
                     "there is no parameter '" + std::string(name) + "'" + suggestion(name), ""});
  }
  throw Exception({Code::type_mismatch,
                   "is " + std::string(to_string(there->type())) + ", read as another type",
                   std::string(name)});
}

}  // namespace hyphos
