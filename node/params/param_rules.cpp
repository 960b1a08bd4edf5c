#include "node/params/param_rules.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/config.hpp"
#include "base/utf8.hpp"

namespace hyphos::params {
namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxDescription = 4096;
constexpr std::size_t kMaxChoices = 256;
constexpr std::size_t kShown = 60;

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

bool is_word(std::string_view word) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !word.empty() && letter(word.front()) && std::all_of(word.begin(), word.end(), fits);
}

/// Steps are counted from `least`. The tolerance covers the rounding of decimal fractions.
bool on_step(double value, const ParamRange<double>& range) {
  if (range.step <= 0) return true;
  const double from = std::isfinite(range.least) ? range.least : 0.0;
  const double steps = (value - from) / range.step;
  return std::abs(steps - std::round(steps)) <= 1e-6 * std::max(1.0, std::abs(steps));
}

bool on_step(std::int64_t value, const ParamRange<std::int64_t>& range) {
  if (range.step <= 0) return true;
  const std::int64_t from =
      range.least == std::numeric_limits<std::int64_t>::lowest() ? 0 : range.least;
  // Unsigned, because the distance of two int64 may not fit in one.
  const auto distance = value >= from
                            ? static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(from)
                            : static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(value);
  return distance % static_cast<std::uint64_t>(range.step) == 0;
}

template <typename T>
std::string number_problem(const ParamInfo& info, T value) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return "is not a number";
  }
  const auto* range = std::get_if<ParamRange<T>>(&info.range);
  if (range == nullptr) return {};
  if (value >= range->least && value <= range->most && on_step(value, *range)) return {};
  return to_yaml(value) + " is not in " + info.allowed() +
         (info.unit.empty() ? "" : " " + info.unit);
}

std::string text_problem(const ParamInfo& info, const std::string& text) {
  if (find_bad_utf8(text) != std::string_view::npos) {
    return "text must be UTF-8 without control characters";
  }
  if (info.choices.empty()) return {};
  if (std::find(info.choices.begin(), info.choices.end(), text) != info.choices.end()) return {};
  const std::vector<std::string_view> choices(info.choices.begin(), info.choices.end());
  const std::string_view near = config::nearest(text, choices);
  return shown(text) + " is not one of " + info.allowed() +
         (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
}

template <typename List, typename F>
std::string each(const List& list, F problem) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const std::string why = problem(list[i]); !why.empty()) {
      return "item " + std::to_string(i) + ": " + why;
    }
  }
  return {};
}

template <typename T>
std::string range_problem(const ParamRange<T>& range) {
  if (!(range.least <= range.most)) {
    return "its range is empty: from " + to_yaml(range.least) + " to " + to_yaml(range.most);
  }
  if (!(range.step >= 0)) return "the step of its range is negative";
  return {};
}

template <typename T, typename Read>
Result<ParamVariant> read_list(const ParamValue& value, Read read_item) {
  if (value.kind != ParamValue::Kind::list) {
    return Error{Code::invalid_config, "expected a list, as in [1, 2]", value.source.to_string()};
  }
  if (value.items.size() > kMaxParamItems) {
    return Error{Code::invalid_config,
                 "a list has at most " + std::to_string(kMaxParamItems) + " items",
                 value.source.to_string()};
  }
  std::vector<T> out;
  for (const ParamValue& item : value.items) {
    auto one = read_item(item);
    if (!one) return one.error();
    out.push_back(std::move(*one));
  }
  return ParamVariant(std::move(out));
}

template <typename T>
Result<ParamVariant> as_variant(Result<T> value) {
  if (!value) return value.error();
  return ParamVariant(std::move(*value));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<ParamVariant> read_bytes(const ParamValue& value) {
  auto text = value.as_text();
  if (!text) return text.error();
  ParamBytes bytes;
  for (std::size_t i = 0; i < text->size(); i += 2) {
    const int high = hex_digit((*text)[i]);
    const int low = i + 1 < text->size() ? hex_digit((*text)[i + 1]) : -1;
    if (high < 0 || low < 0) {
      return Error{
          Code::invalid_config,
          "expected bytes as pairs of hexadecimal digits, as in 48656c6c6f, found " + shown(*text),
          value.source.to_string()};
    }
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return ParamVariant(std::move(bytes));
}

}  // namespace

std::string name_problem(std::string_view name) {
  if (name.size() > kMaxName) return "a parameter's name must have at most 128 bytes";
  for (std::string_view rest = name;;) {
    const std::size_t dot = rest.find('.');
    if (!is_word(rest.substr(0, dot))) {
      return "a parameter's name must be words of letters, digits, '_' and '-', joined by '.', as "
             "in "
             "laser.rate_hz";
    }
    if (dot == std::string_view::npos) return {};
    rest.remove_prefix(dot + 1);
  }
}

std::string value_problem(const ParamInfo& info, const ParamVariant& value) {
  const std::size_t size = size_of(value);
  if (size > kMaxParamBytes) {
    return "takes " + std::to_string(size) + " bytes, but a parameter has at most " +
           std::to_string(kMaxParamBytes);
  }
  const auto number = [&](auto one) { return number_problem(info, one); };
  const auto text = [&](const std::string& one) { return text_problem(info, one); };
  const auto counted = [](const auto& list) {
    return list.size() <= kMaxParamItems
               ? std::string()
               : "a list has at most " + std::to_string(kMaxParamItems) + " items";
  };
  const Overloaded visit{
      [](bool) { return std::string(); },
      [&](std::int64_t one) { return number(one); },
      [&](double one) { return number(one); },
      [&](const std::string& one) { return text(one); },
      [](const ParamBytes&) { return std::string(); },
      [&](const std::vector<bool>& list) { return counted(list); },
      [&](const auto& list) {
        std::string why = counted(list);
        if (!why.empty()) return why;
        using Item = typename std::remove_cvref_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<Item, std::string>) {
          return each(list, text);
        } else {
          return each(list, number);
        }
      },
  };
  return std::visit(visit, value);
}

std::string description_problem(const ParamInfo& info) {
  if (std::string why = name_problem(info.name); !why.empty()) return why;
  for (const std::string* one : {&info.unit, &info.description}) {
    if (one->size() > kMaxDescription) return "a unit or description has at most 4096 bytes";
    if (find_bad_utf8(*one) != std::string_view::npos) {
      return "a unit or description must be UTF-8 without control characters";
    }
  }
  if (info.choices.size() > kMaxChoices) return "a parameter has at most 256 choices";
  for (const std::string& choice : info.choices) {
    if (choice.empty() || choice.size() > kMaxName ||
        find_bad_utf8(choice) != std::string_view::npos) {
      return "a choice must be 1 to 128 bytes of UTF-8";
    }
    if (std::count(info.choices.begin(), info.choices.end(), choice) > 1) {
      return "the choice '" + choice + "' is listed twice";
    }
  }
  const Overloaded visit{[](std::monostate) { return std::string(); },
                         [](const auto& range) { return range_problem(range); }};
  if (std::string why = std::visit(visit, info.range); !why.empty()) return why;
  if (std::string why = value_problem(info, info.standard); !why.empty()) {
    return "its default: " + why;
  }
  return {};
}

Result<ParamVariant> convert(ParamType type, ParamVariant value) {
  if (type_of(value) == type) return value;
  if (type == ParamType::real) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return ParamVariant(static_cast<double>(*whole));
    }
  }
  if (type == ParamType::reals) {
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      return ParamVariant(std::vector<double>(list->begin(), list->end()));
    }
  }
  const auto empty = [](const auto& one) {
    if constexpr (requires { one.empty(); }) return one.empty();
    return false;
  };
  const bool is_list = type_of(value) >= ParamType::booleans;
  if (is_list && type >= ParamType::booleans && std::visit(empty, value)) {
    switch (type) {
      case ParamType::booleans:
        return ParamVariant(std::vector<bool>());
      case ParamType::integers:
        return ParamVariant(std::vector<std::int64_t>());
      case ParamType::reals:
        return ParamVariant(std::vector<double>());
      default:
        return ParamVariant(std::vector<std::string>());
    }
  }
  return Error{Code::type_mismatch,
               "expected " + std::string(to_string(type)) + ", found " + shown(value) +
                   ", which is " + std::string(to_string(type_of(value))),
               ""};
}

Result<ParamVariant> read(ParamType type, const ParamValue& value) {
  const auto integer = [](const ParamValue& one) { return one.as_integer(); };
  const auto real = [](const ParamValue& one) { return one.as_real(); };
  const auto boolean = [](const ParamValue& one) { return one.as_boolean(); };
  const auto text = [](const ParamValue& one) { return one.as_text(); };
  switch (type) {
    case ParamType::boolean:
      return as_variant(boolean(value));
    case ParamType::integer:
      return as_variant(integer(value));
    case ParamType::real:
      return as_variant(real(value));
    case ParamType::text:
      return as_variant(text(value));
    case ParamType::bytes:
      return read_bytes(value);
    case ParamType::booleans:
      return read_list<bool>(value, boolean);
    case ParamType::integers:
      return read_list<std::int64_t>(value, integer);
    case ParamType::reals:
      return read_list<double>(value, real);
    case ParamType::texts:
      return read_list<std::string>(value, text);
  }
  return Error{Code::unsupported, "unknown parameter type", value.source.to_string()};
}

std::size_t size_of(const ParamVariant& value) {
  constexpr std::size_t kWord = 10;  // the maximum size of a number
  const Overloaded visit{
      [](const std::string& one) { return one.size(); },
      [](const ParamBytes& one) { return one.size(); },
      [](const std::vector<std::string>& list) {
        std::size_t sum = 0;
        for (const std::string& one : list) sum += one.size() + 4;
        return sum;
      },
      [](const auto& one) -> std::size_t {
        if constexpr (requires { one.size(); }) {
          return one.size() * kWord;
        } else {
          return kWord;
        }
      },
  };
  return std::visit(visit, value);
}

std::size_t size_of(const ParamInfo& info) {
  std::size_t sum = info.name.size() + info.unit.size() + info.description.size() + 64;
  for (const std::string& choice : info.choices) sum += choice.size() + 4;
  return sum + size_of(info.value) + size_of(info.standard);
}

std::string shown(const ParamVariant& value) {
  std::string text = to_yaml(value);
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

}  // namespace hyphos::params
