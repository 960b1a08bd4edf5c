#include "node/params/param_wire.hpp"

#include <algorithm>

#include "node/params/param_rules.hpp"

namespace hyphos::params {
namespace {

Error corrupt(std::string why) { return {Code::corrupt, std::move(why), ""}; }

template <typename List, typename Items>
Result<ParamVariant> decode_list(const Items& items) {
  if (static_cast<std::size_t>(items.size()) > kMaxParamItems) return corrupt("a list is too long");
  return ParamVariant(List(items.begin(), items.end()));
}

template <typename T>
void encode_range(const ParamRange<T>& range, v1::Range& out) {
  constexpr ParamRange<T> kAll{};
  if (range.least != kAll.least) encode(range.least, *out.mutable_least());
  if (range.most != kAll.most) encode(range.most, *out.mutable_most());
  if (range.step != 0) encode(range.step, *out.mutable_step());
}

template <typename T>
Result<void> decode_end(bool present, const v1::Value& value, T& out) {
  if (!present) return success();
  auto read = decode(value);
  if (!read) return read.error();
  const T* number = std::get_if<T>(&*read);
  if (number == nullptr) return corrupt("a range of another type than its parameter");
  out = *number;
  return success();
}

template <typename T>
Result<void> decode_range(const v1::Range& range, ParamInfo& info) {
  ParamRange<T> out;
  for (const auto& done : {decode_end(range.has_least(), range.least(), out.least),
                           decode_end(range.has_most(), range.most(), out.most),
                           decode_end(range.has_step(), range.step(), out.step)}) {
    if (!done) return done.error();
  }
  info.range = out;
  return success();
}

Result<ParamInfo> decode_param(const v1::Param& param) {
  ParamInfo info;
  info.name = param.name();
  auto value = decode(param.value());
  if (!value) return value.error();
  auto standard = decode(param.standard());
  if (!standard) return standard.error();
  info.value = std::move(*value);
  info.standard = std::move(*standard);
  if (type_of(info.value) != type_of(info.standard)) return corrupt("a default of another type");
  info.unit = param.unit();
  info.description = param.description();
  info.choices.assign(param.choices().begin(), param.choices().end());
  info.read_only = param.read_only();
  // Unknown origins from a newer version are shown as `set`.
  info.origin = param.origin() == v1::ORIGIN_DEFAULT    ? ParamOrigin::standard
                : param.origin() == v1::ORIGIN_PLAN     ? ParamOrigin::plan
                : param.origin() == v1::ORIGIN_RESTORED ? ParamOrigin::restored
                                                        : ParamOrigin::set;
  if (param.has_range()) {
    const ParamType type = info.type();
    const bool whole = type == ParamType::integer || type == ParamType::integers;
    auto range = whole ? decode_range<std::int64_t>(param.range(), info)
                       : decode_range<double>(param.range(), info);
    if (!range) return range.error();
  }
  if (std::string why = description_problem(info); !why.empty()) return corrupt(std::move(why));
  if (size_of(info.value) > kMaxParamBytes) return corrupt("a value is too large");
  return info;
}

std::string channel_name(const std::string& node, const char* rest) {
  std::string name = node;
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '.', '_');
  return name + rest;
}

}  // namespace

void encode(const ParamVariant& value, v1::Value& out) {
  switch (type_of(value)) {
    case ParamType::boolean:
      return out.set_boolean(std::get<bool>(value));
    case ParamType::integer:
      return out.set_integer(std::get<std::int64_t>(value));
    case ParamType::real:
      return out.set_real(std::get<double>(value));
    case ParamType::text:
      return out.set_text(std::get<std::string>(value));
    case ParamType::bytes: {
      const auto& bytes = std::get<ParamBytes>(value);
      return out.set_raw(bytes.data(), bytes.size());
    }
    case ParamType::booleans:
      out.mutable_booleans();
      for (const bool one : std::get<std::vector<bool>>(value)) {
        out.mutable_booleans()->add_items(one);
      }
      return;
    case ParamType::integers:
      out.mutable_integers();
      for (const auto one : std::get<std::vector<std::int64_t>>(value)) {
        out.mutable_integers()->add_items(one);
      }
      return;
    case ParamType::reals:
      out.mutable_reals();
      for (const auto one : std::get<std::vector<double>>(value)) {
        out.mutable_reals()->add_items(one);
      }
      return;
    case ParamType::texts:
      out.mutable_texts();
      for (const auto& one : std::get<std::vector<std::string>>(value)) {
        out.mutable_texts()->add_items(one);
      }
      return;
  }
}

v1::NodeParams encode(const Owner& owner, const ParamSet& set,
                      const std::vector<std::string>& undeclared) {
  v1::NodeParams out;
  out.set_node(owner.node);
  out.set_process(owner.process);
  out.set_instance(owner.instance);
  out.set_version(set.version());
  for (const auto& info : set.infos()) {
    v1::Param& param = *out.add_params();
    param.set_name(info->name);
    encode(info->value, *param.mutable_value());
    encode(info->standard, *param.mutable_standard());
    param.set_unit(info->unit);
    param.set_description(info->description);
    if (const auto* real = std::get_if<ParamRange<double>>(&info->range)) {
      encode_range(*real, *param.mutable_range());
    } else if (const auto* whole = std::get_if<ParamRange<std::int64_t>>(&info->range)) {
      encode_range(*whole, *param.mutable_range());
    }
    for (const std::string& choice : info->choices) param.add_choices(choice);
    param.set_read_only(info->read_only);
    param.set_origin(static_cast<v1::Origin>(info->origin));
  }
  for (const std::string& name : undeclared) out.add_undeclared(name);
  return out;
}

Result<ParamVariant> decode(const v1::Value& value) {
  switch (value.kind_case()) {
    case v1::Value::kBoolean:
      return ParamVariant(value.boolean());
    case v1::Value::kInteger:
      return ParamVariant(static_cast<std::int64_t>(value.integer()));
    case v1::Value::kReal:
      return ParamVariant(value.real());
    case v1::Value::kText:
      return ParamVariant(value.text());
    case v1::Value::kRaw: {
      const auto* bytes = reinterpret_cast<const std::byte*>(value.raw().data());
      return ParamVariant(ParamBytes(bytes, bytes + value.raw().size()));
    }
    case v1::Value::kBooleans:
      return decode_list<std::vector<bool>>(value.booleans().items());
    case v1::Value::kIntegers:
      return decode_list<std::vector<std::int64_t>>(value.integers().items());
    case v1::Value::kReals:
      return decode_list<std::vector<double>>(value.reals().items());
    case v1::Value::kTexts:
      return decode_list<std::vector<std::string>>(value.texts().items());
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return corrupt("a value without a type, or of an unknown type");
}

Result<ParamSet> decode(const v1::NodeParams& message) {
  if (static_cast<std::size_t>(message.params_size()) > kMaxParams) {
    return corrupt("more than " + std::to_string(kMaxParams) + " parameters");
  }
  ParamSet::Infos infos;
  for (const v1::Param& param : message.params()) {
    auto info = decode_param(param);
    if (!info) return corrupt(param.name().substr(0, 128) + ": " + info.error().message);
    if (!infos.empty() && infos.back()->name >= info->name) return corrupt("not sorted by name");
    infos.push_back(std::make_shared<const ParamInfo>(std::move(*info)));
  }
  return ParamSet(std::move(infos), message.version(), {});
}

Result<std::vector<ParamAssignment>> decode(const v1::SetParams& message) {
  if (static_cast<std::size_t>(message.values_size()) > kMaxParams) {
    return corrupt("more than " + std::to_string(kMaxParams) + " parameters in one request");
  }
  std::vector<ParamAssignment> out;
  for (const v1::Assignment& one : message.values()) {
    auto value = decode(one.value());
    if (!value) return corrupt(one.name().substr(0, 128) + ": " + value.error().message);
    out.push_back({one.name(), std::move(*value)});
  }
  return out;
}

std::string channel_of(const std::string& node) { return channel_name(node, "/_params"); }
std::string service_of(const std::string& node) { return channel_name(node, "/_set_params"); }

}  // namespace hyphos::params
