#include "view/core/properties.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "view/core/words.hpp"

namespace hyphos::view {
namespace {

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return {text, end};
}

Error invalid(const Property& property, const std::string& why) {
  return Error{Code::invalid_config, "'" + property.name + "' " + why, ""};
}

Error out_of_limits(const Property& property, double value) {
  const std::string unit = property.unit.empty() ? "" : " " + property.unit;
  return invalid(property, "is " + number_text(value) + ", the limits are " +
                               number_text(property.min) + " to " + number_text(property.max) +
                               unit);
}

Error wrong_kind(const Property& property, std::string_view needed, std::string_view text) {
  return invalid(property, "needs " + std::string(needed) + ", not '" + std::string(text) + "'");
}

}  // namespace

Property::Value Property::value() const {
  return std::visit([](const auto* target) { return Value{*target}; }, target_);
}

Result<void> Property::set(const Value& value) {
  if (value.index() != target_.index()) return invalid(*this, "has another type of value");
  if (const auto* number = std::get_if<double>(&value)) {
    const bool inside = *number >= min && *number <= max;  // false for NaN
    if (!inside) return out_of_limits(*this, *number);
    *std::get<double*>(target_) = *number;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    const auto as_double = static_cast<double>(*whole);
    if (as_double < min || as_double > max) return out_of_limits(*this, as_double);
    *std::get<std::int64_t*>(target_) = *whole;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    if (!choices.empty() && std::ranges::find(choices, *text) == choices.end()) {
      return invalid(*this, "has no choice '" + *text + "'" + propose(*text, choices));
    }
    *std::get<std::string*>(target_) = *text;
  } else if (const auto* color = std::get_if<Color>(&value)) {
    *std::get<Color*>(target_) = *color;
  } else {
    *std::get<bool*>(target_) = std::get<bool>(value);
  }
  return success();
}

std::string Property::text() const {
  const Value now = value();
  if (const auto* flag = std::get_if<bool>(&now)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&now)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&now)) return number_text(*number);
  if (const auto* color = std::get_if<Color>(&now)) return to_string(*color);
  return std::get<std::string>(now);
}

Result<void> Property::set_text(std::string_view text) {
  const char* const end = text.data() + text.size();
  if (std::holds_alternative<bool*>(target_)) {
    if (text == "true" || text == "yes" || text == "on") return set(Value{true});
    if (text == "false" || text == "no" || text == "off") return set(Value{false});
    return wrong_kind(*this, "true or false", text);
  }
  if (std::holds_alternative<std::int64_t*>(target_)) {
    std::int64_t whole = 0;
    const auto [at, fault] = std::from_chars(text.data(), end, whole);
    if (fault != std::errc() || at != end) return wrong_kind(*this, "a whole number", text);
    return set(Value{whole});
  }
  if (std::holds_alternative<double*>(target_)) {
    double number = 0;
    const auto [at, fault] = std::from_chars(text.data(), end, number);
    if (fault != std::errc() || at != end || !std::isfinite(number)) {
      return wrong_kind(*this, "a number", text);
    }
    return set(Value{number});
  }
  if (std::holds_alternative<Color*>(target_)) {
    const auto color = parse_color(text);
    if (!color) return wrong_kind(*this, "a colour such as #ff8800", text);
    return set(Value{*color});
  }
  return set(Value{std::string(text)});
}

template <typename T>
Property& Properties::append(std::string name, T* member, std::string help) {
  Property& made = all_.emplace_back();
  made.name = std::move(name);
  made.help = std::move(help);
  made.target_ = member;
  made.fallback_ = *member;
  return made;
}

template <typename T>
Property& Properties::append(std::string name, T* member, std::string help, std::string unit,
                             double min, double max) {
  Property& made = append(std::move(name), member, std::move(help));
  made.unit = std::move(unit);
  made.min = min;
  made.max = max;
  return made;
}

Property& Properties::add(std::string name, bool* member, std::string help) {
  return append(std::move(name), member, std::move(help));
}

Property& Properties::add(std::string name, std::int64_t* member, std::string help,
                          std::string unit, double min, double max) {
  return append(std::move(name), member, std::move(help), std::move(unit), min, max);
}

Property& Properties::add(std::string name, double* member, std::string help, std::string unit,
                          double min, double max) {
  return append(std::move(name), member, std::move(help), std::move(unit), min, max);
}

Property& Properties::add(std::string name, std::string* member, std::string help,
                          std::vector<std::string> choices) {
  Property& made = append(std::move(name), member, std::move(help));
  made.choices = std::move(choices);
  return made;
}

Property& Properties::add(std::string name, Color* member, std::string help) {
  return append(std::move(name), member, std::move(help));
}

Property* Properties::find(std::string_view name) {
  const auto found = std::ranges::find(all_, name, &Property::name);
  return found == all_.end() ? nullptr : &*found;
}

const Property* Properties::find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Property::name);
  return found == all_.end() ? nullptr : &*found;
}

Result<void> Properties::set_text(std::string_view name, std::string_view text) {
  if (Property* property = find(name)) return property->set_text(text);
  std::vector<std::string> names;
  names.reserve(all_.size());
  for (const Property& each : all_) names.push_back(each.name);
  return Error{Code::not_found,
               "there is no property '" + std::string(name) + "'" + propose(name, names), ""};
}

}  // namespace hyphos::view
