#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/color.hpp"

namespace hyphos::view {

/// One named, typed setting of a display, bound to a member of the display.
///
/// Layouts use the text form, property editors the typed form. A value outside the limits or
/// choices is refused, and the member keeps its value.
class Property {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string, Color>;

  std::string name;  ///< the key in layouts, snake_case
  std::string help;  ///< a noun phrase with the unit
  std::string unit;  ///< "m", "px", "s", empty if there is none
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  std::vector<std::string> choices;  ///< of a text: the only values, if there is one
  std::vector<std::string> hints;    ///< of a text: proposals, e.g. the fields of the last cloud
  bool is_frame = false;             ///< of a text: the name of a coordinate frame

  [[nodiscard]] Value value() const;
  [[nodiscard]] const Value& fallback() const { return fallback_; }
  [[nodiscard]] bool is_default() const { return value() == fallback_; }
  Result<void> set(const Value& value);
  /// "true", "0.05", "#ff8800", "height". Reads back to the same value.
  [[nodiscard]] std::string text() const;
  Result<void> set_text(std::string_view text);

 private:
  friend class Properties;
  std::variant<bool*, std::int64_t*, double*, std::string*, Color*> target_;
  Value fallback_;
};

/// The settings of one object, in the order of an editor. Not copyable, as it points to members.
class Properties {
 public:
  Properties() = default;
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;

  /// Binds a member. Its present value is the default. The result may be changed further:
  /// `properties.add("size", &size_, "size of a point", "px", 1, 32)`.
  Property& add(std::string name, bool* member, std::string help);
  Property& add(std::string name, std::int64_t* member, std::string help, std::string unit,
                double min, double max);
  Property& add(std::string name, double* member, std::string help, std::string unit, double min,
                double max);
  Property& add(std::string name, std::string* member, std::string help,
                std::vector<std::string> choices = {});
  Property& add(std::string name, Color* member, std::string help);

  /// A deque, so that references stay valid.
  [[nodiscard]] std::deque<Property>& all() { return all_; }
  [[nodiscard]] const std::deque<Property>& all() const { return all_; }
  [[nodiscard]] Property* find(std::string_view name);
  [[nodiscard]] const Property* find(std::string_view name) const;
  /// not_found with the nearest name, or the error of Property::set_text().
  Result<void> set_text(std::string_view name, std::string_view text);

 private:
  template <typename T>
  Property& append(std::string name, T* member, std::string help);
  template <typename T>
  Property& append(std::string name, T* member, std::string help, std::string unit, double min,
                   double max);
  std::deque<Property> all_;
};

}  // namespace hyphos::view
