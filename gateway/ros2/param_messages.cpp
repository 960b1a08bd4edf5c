#include "gateway/ros2/param_messages.hpp"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "gateway/ros2/cdr.hpp"

namespace hyphos::gateway::ros2 {
namespace {

template <typename Item>
void write_item(CdrWriter& writer, const Item& item) {
  if constexpr (std::is_same_v<Item, std::string>) {
    writer.text(item);
  } else if constexpr (std::is_same_v<Item, bool>) {
    writer.flag(item);
  } else {
    writer.number(item);
  }
}

/// The list of a value, or an empty one if the value has another type.
template <typename List>
void write_list(CdrWriter& writer, const ParamVariant* value) {
  const List* const list = value == nullptr ? nullptr : std::get_if<List>(value);
  writer.count(list == nullptr ? 0 : list->size());
  if (list == nullptr) return;
  for (auto&& item : *list) write_item<typename List::value_type>(writer, item);
}

template <typename One>
One one_of(const ParamVariant* value) {
  const One* const held = value == nullptr ? nullptr : std::get_if<One>(value);
  return held == nullptr ? One{} : *held;
}

/// rcl_interfaces/msg/ParameterValue.
void write_value(CdrWriter& writer, const ParamVariant* value) {
  writer.number<std::uint8_t>(value == nullptr ? 0 : param_type(*value));
  writer.flag(one_of<bool>(value));
  writer.number(one_of<std::int64_t>(value));
  writer.number(one_of<double>(value));
  writer.text(one_of<std::string>(value));
  write_list<ParamBytes>(writer, value);
  write_list<std::vector<bool>>(writer, value);
  write_list<std::vector<std::int64_t>>(writer, value);
  write_list<std::vector<double>>(writer, value);
  write_list<std::vector<std::string>>(writer, value);
}

template <typename List>
List read_list(CdrReader& reader) {
  using Item = typename List::value_type;
  List list;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    if constexpr (std::is_same_v<Item, std::string>) {
      list.push_back(reader.text());
    } else if constexpr (std::is_same_v<Item, bool>) {
      list.push_back(reader.flag());
    } else {
      list.push_back(reader.number<Item>());
    }
  }
  return list;
}

std::optional<ParamVariant> read_value(CdrReader& reader) {
  const auto type = reader.number<std::uint8_t>();
  std::vector<ParamVariant> all;
  all.emplace_back(reader.flag());
  all.emplace_back(reader.number<std::int64_t>());
  all.emplace_back(reader.number<double>());
  all.emplace_back(reader.text());
  all.emplace_back(read_list<ParamBytes>(reader));
  all.emplace_back(read_list<std::vector<bool>>(reader));
  all.emplace_back(read_list<std::vector<std::int64_t>>(reader));
  all.emplace_back(read_list<std::vector<double>>(reader));
  all.emplace_back(read_list<std::vector<std::string>>(reader));
  if (type == 0 || type > all.size()) return std::nullopt;
  return std::move(all[type - 1U]);
}

std::size_t dots(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count(name, '.'));
}

/// True if `name` is the prefix, or is below it within the requested depth.
bool is_listed(const std::string& name, const ParamListing& asked) {
  if (asked.prefixes.empty()) return asked.depth == 0 || dots(name) < asked.depth;
  return std::ranges::any_of(asked.prefixes, [&](const std::string& prefix) {
    if (name == prefix) return true;
    if (!name.starts_with(prefix + ".")) return false;
    return asked.depth == 0 || dots(std::string_view(name).substr(prefix.size() + 1)) < asked.depth;
  });
}

/// rcl_interfaces/msg/ParameterDescriptor.
void write_description(CdrWriter& writer, const std::string& name, const ParamInfo* info) {
  writer.text(name);
  writer.number<std::uint8_t>(info == nullptr ? 0 : param_type(info->value));
  std::string about = info == nullptr ? "" : info->description;
  if (info != nullptr && !info->unit.empty()) {
    about += (about.empty() ? "[" : " [") + info->unit + "]";
  }
  writer.text(about);
  writer.text(info == nullptr ? "" : info->allowed());
  writer.flag(info != nullptr && info->read_only);
  writer.flag(false);  // dynamic_typing
  const auto* const real =
      info == nullptr ? nullptr : std::get_if<ParamRange<double>>(&info->range);
  writer.count(real == nullptr || !real->bounded() ? 0 : 1);
  if (real != nullptr && real->bounded()) {
    writer.number(real->least);
    writer.number(real->most);
    writer.number(real->step);
  }
  const auto* const whole =
      info == nullptr ? nullptr : std::get_if<ParamRange<std::int64_t>>(&info->range);
  writer.count(whole == nullptr || !whole->bounded() ? 0 : 1);
  if (whole != nullptr && whole->bounded()) {
    writer.number(whole->least);
    writer.number(whole->most);
    writer.number(static_cast<std::uint64_t>(whole->step));
  }
}

void write_params(CdrWriter& writer,
                  const std::vector<std::pair<std::string, ParamVariant>>& params) {
  writer.count(params.size());
  for (const auto& [name, value] : params) {
    writer.text(name);
    write_value(writer, &value);
  }
}

std::vector<std::pair<std::string, ParamVariant>> read_params(CdrReader& reader) {
  std::vector<std::pair<std::string, ParamVariant>> params;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    std::string name = reader.text();
    if (auto value = read_value(reader)) params.emplace_back(std::move(name), std::move(*value));
  }
  return params;
}

}  // namespace

std::uint8_t param_type(const ParamVariant& value) {
  return static_cast<std::uint8_t>(value.index() + 1);
}

std::optional<ParamListing> read_listing(std::span<const std::byte> request) {
  CdrReader reader(request);
  ParamListing asked;
  asked.prefixes = read_list<std::vector<std::string>>(reader);
  asked.depth = reader.number<std::uint64_t>();
  if (reader.failed()) return std::nullopt;
  return asked;
}

std::optional<std::vector<std::string>> read_names(std::span<const std::byte> request) {
  CdrReader reader(request);
  auto names = read_list<std::vector<std::string>>(reader);
  if (reader.failed()) return std::nullopt;
  return names;
}

std::optional<std::vector<ParamWish>> read_wishes(std::span<const std::byte> request) {
  CdrReader reader(request);
  std::vector<ParamWish> wishes;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    std::string name = reader.text();
    wishes.push_back({std::move(name), read_value(reader)});
  }
  if (reader.failed()) return std::nullopt;
  return wishes;
}

std::vector<std::byte> write_listing(const std::vector<std::string>& names,
                                     const ParamListing& asked) {
  std::vector<std::string> listed;
  std::set<std::string> prefixes;
  for (const std::string& name : names) {
    if (!is_listed(name, asked)) continue;
    listed.push_back(name);
    if (const auto dot = name.rfind('.'); dot != std::string::npos) {
      prefixes.insert(name.substr(0, dot));
    }
  }
  CdrWriter writer;
  writer.count(listed.size());
  for (const std::string& name : listed) writer.text(name);
  writer.count(prefixes.size());
  for (const std::string& prefix : prefixes) writer.text(prefix);
  return writer.take();
}

std::vector<std::byte> write_values(const std::vector<std::optional<ParamVariant>>& values) {
  CdrWriter writer;
  writer.count(values.size());
  for (const auto& value : values) write_value(writer, value ? &*value : nullptr);
  return writer.take();
}

std::vector<std::byte> write_types(const std::vector<std::uint8_t>& types) {
  CdrWriter writer;
  writer.count(types.size());
  for (const std::uint8_t type : types) writer.number(type);
  return writer.take();
}

std::vector<std::byte> write_descriptions(const std::vector<std::string>& names,
                                          const std::vector<const ParamInfo*>& infos) {
  CdrWriter writer;
  writer.count(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) write_description(writer, names[i], infos[i]);
  return writer.take();
}

std::vector<std::byte> write_outcomes(const std::vector<ParamOutcome>& outcomes) {
  CdrWriter writer;
  writer.count(outcomes.size());
  for (const ParamOutcome& outcome : outcomes) {
    writer.flag(outcome.successful);
    writer.text(outcome.reason);
  }
  return writer.take();
}

std::vector<std::byte> write_outcome(const ParamOutcome& outcome) {
  CdrWriter writer;
  writer.flag(outcome.successful);
  writer.text(outcome.reason);
  return writer.take();
}

std::vector<std::byte> write_list_request() {
  CdrWriter writer;
  writer.count(0);                  // prefixes: all
  writer.number<std::uint64_t>(0);  // depth: unlimited
  return writer.take();
}

std::vector<std::byte> write_names(const std::vector<std::string>& names) {
  CdrWriter writer;
  writer.count(names.size());
  for (const std::string& name : names) writer.text(name);
  return writer.take();
}

std::vector<std::byte> write_wishes(const std::vector<ParamWish>& wishes) {
  CdrWriter writer;
  writer.count(wishes.size());
  for (const ParamWish& wish : wishes) {
    writer.text(wish.name);
    write_value(writer, wish.value ? &*wish.value : nullptr);
  }
  return writer.take();
}

std::optional<std::vector<std::string>> read_listed(std::span<const std::byte> reply) {
  return read_names(reply);  // the prefixes follow
}

std::optional<std::vector<std::optional<ParamVariant>>> read_values(
    std::span<const std::byte> reply) {
  CdrReader reader(reply);
  std::vector<std::optional<ParamVariant>> values;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) values.push_back(read_value(reader));
  if (reader.failed()) return std::nullopt;
  return values;
}

std::optional<std::map<std::string, std::string>> read_descriptions(
    std::span<const std::byte> reply) {
  CdrReader reader(reply);
  std::map<std::string, std::string> found;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    std::string name = reader.text();
    (void)reader.number<std::uint8_t>();
    found.insert_or_assign(std::move(name), reader.text());
    (void)reader.text();  // additional_constraints
    (void)reader.flag();  // read_only
    (void)reader.flag();  // dynamic_typing
    for (std::size_t ranges = reader.count(); ranges > 0 && !reader.failed(); --ranges) {
      for (int end = 0; end < 3; ++end) (void)reader.number<double>();
    }
    for (std::size_t ranges = reader.count(); ranges > 0 && !reader.failed(); --ranges) {
      for (int end = 0; end < 3; ++end) (void)reader.number<std::int64_t>();
    }
  }
  if (reader.failed()) return std::nullopt;
  return found;
}

std::optional<std::vector<ParamOutcome>> read_outcomes(std::span<const std::byte> reply) {
  CdrReader reader(reply);
  std::vector<ParamOutcome> outcomes;
  const std::size_t count = reader.count();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    const bool successful = reader.flag();
    outcomes.push_back({successful, reader.text()});
  }
  if (reader.failed()) return std::nullopt;
  return outcomes;
}

std::vector<std::byte> write_event(const ParamEvent& event, Time stamp) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  CdrWriter writer;
  writer.number(static_cast<std::int32_t>(stamp.ns / kSecond));
  writer.number(static_cast<std::uint32_t>(stamp.ns % kSecond));
  writer.text(event.node);
  write_params(writer, event.appeared);
  write_params(writer, event.changed);
  writer.count(event.deleted.size());
  for (const std::string& name : event.deleted) {
    writer.text(name);
    write_value(writer, nullptr);
  }
  return writer.take();
}

std::optional<ParamEvent> read_event(std::span<const std::byte> message) {
  CdrReader reader(message);
  (void)reader.number<std::int32_t>();
  (void)reader.number<std::uint32_t>();
  ParamEvent event;
  event.node = reader.text();
  event.appeared = read_params(reader);
  event.changed = read_params(reader);
  const std::size_t deleted = reader.count();
  for (std::size_t i = 0; i < deleted && !reader.failed(); ++i) {
    event.deleted.push_back(reader.text());
    (void)read_value(reader);
  }
  if (reader.failed()) return std::nullopt;
  return event;
}

}  // namespace hyphos::gateway::ros2
