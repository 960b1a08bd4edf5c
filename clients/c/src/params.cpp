#include <cstring>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

namespace {

Result<ParamVariant> read_value(const hyphos_value* value) {
  if (value == nullptr) return is_null("value");
  switch (value->type) {
    case HYPHOS_BOOLEAN:
      return ParamVariant(value->boolean != 0);
    case HYPHOS_INTEGER:
      return ParamVariant(value->integer);
    case HYPHOS_REAL:
      return ParamVariant(value->real);
    case HYPHOS_TEXT:
      if (value->text == nullptr) return is_null("value.text");
      return ParamVariant(std::string(value->text));
    default:
      return Error{Code::invalid_config, "value.type must be one of HYPHOS_BOOLEAN to HYPHOS_TEXT",
                   ""};
  }
}

/// An integer is accepted for a parameter of type real.
ParamVariant as_type(ParamVariant value, const ParamVariant& wanted) {
  if (std::holds_alternative<double>(wanted)) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  }
  return value;
}

Result<void> write_value(const ParamVariant& from, const std::string& name, hyphos_value& out,
                         char* text, std::size_t capacity) {
  out = {};
  if (const auto* boolean = std::get_if<bool>(&from)) {
    out.type = HYPHOS_BOOLEAN;
    out.boolean = *boolean ? 1 : 0;
  } else if (const auto* integer = std::get_if<std::int64_t>(&from)) {
    out.type = HYPHOS_INTEGER;
    out.integer = *integer;
  } else if (const auto* real = std::get_if<double>(&from)) {
    out.type = HYPHOS_REAL;
    out.real = *real;
  } else if (const auto* words = std::get_if<std::string>(&from)) {
    if (text == nullptr || words->size() >= capacity) {
      return Error{Code::out_of_range,
                   "the text needs " + std::to_string(words->size() + 1) +
                       " bytes with its terminating zero, but capacity is " +
                       std::to_string(text == nullptr ? 0 : capacity),
                   name};
    }
    std::memcpy(text, words->c_str(), words->size() + 1);
    out.type = HYPHOS_TEXT;
    out.text = text;
  } else {
    return Error{Code::unsupported,
                 "the C interface cannot read lists and bytes. Use C++ or Python", name};
  }
  return success();
}

Result<ParamInfo> read_info(const char* name, ParamVariant standard,
                            const hyphos_param_options* options) {
  const auto given = read_struct(options, "hyphos_param_options");
  if (!given) return given.error();
  const hyphos_param_options& from = given.value();
  ParamInfo info;
  info.name = name;
  info.unit = text_or(from.unit, "");
  info.description = text_or(from.description, "");
  info.read_only = from.read_only != 0;
  if (from.least != 0 || from.most != 0) {
    constexpr double kWhole = 9e15;  // A double beyond this limit is not an exact integer.
    if (std::holds_alternative<double>(standard)) {
      info.range = ParamRange<double>{from.least, from.most, 0};
    } else if (std::holds_alternative<std::int64_t>(standard)) {
      if (!(from.least >= -kWhole && from.most <= kWhole)) {
        return Error{Code::invalid_config,
                     "least and most of an integer must be within -9e15 and 9e15", name};
      }
      info.range = ParamRange<std::int64_t>{static_cast<std::int64_t>(from.least),
                                            static_cast<std::int64_t>(from.most), 0};
    } else {
      return Error{Code::invalid_config,
                   "least and most need a parameter that is a number. Set both to 0", name};
    }
  }
  info.standard = std::move(standard);
  return info;
}

}  // namespace

extern "C" {

hyphos_code hyphos_param_declare(hyphos_node* node, const char* name, const hyphos_value* standard,
                                 const hyphos_param_options* options, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    auto value = read_value(standard);
    if (!value) return value.error();
    auto info = read_info(name, std::move(*value), options);
    if (!info) return info.error();
    (void)node->state->node.params().declare_any(std::move(*info), {});
    return success();
  });
}

hyphos_code hyphos_param_get(hyphos_node* node, const char* name, hyphos_value* value, char* text,
                             size_t capacity, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (value == nullptr) return is_null("value");
    const ParamSet all = node->state->node.params().values();
    const ParamInfo* const info = all.find(name);
    if (info == nullptr) {
      return Error{Code::not_found,
                   "no parameter '" + std::string(name) + "' is declared" + all.suggestion(name),
                   node->state->node.name()};
    }
    return write_value(info->value, name, *value, text, capacity);
  });
}

hyphos_code hyphos_param_set(hyphos_node* node, const char* name, const hyphos_value* value,
                             hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    auto given = read_value(value);
    if (!given) return given.error();
    const Params params = node->state->node.params();
    const ParamSet now = params.values();
    const ParamInfo* const info = now.find(name);
    if (info != nullptr) *given = as_type(std::move(*given), info->value);
    return params.set({{name, std::move(*given)}});
  });
}

hyphos_code hyphos_shared_param_get(hyphos_node* node, const char* path, char* yaml,
                                    size_t capacity, size_t* length, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (path == nullptr) return is_null("path");
    const auto value = node->state->node.shared_params().get<ParamValue>(path);
    if (!value) return value.error();
    std::string text = to_yaml(*value);
    if (text.ends_with('\n')) text.pop_back();
    if (length != nullptr) *length = text.size();
    if (yaml == nullptr || text.size() >= capacity) {
      return Error{Code::out_of_range,
                   "the value needs " + std::to_string(text.size() + 1) +
                       " bytes with its terminating zero, but capacity is " +
                       std::to_string(yaml == nullptr ? 0 : capacity),
                   path};
    }
    std::memcpy(yaml, text.c_str(), text.size() + 1);
    return success();
  });
}

hyphos_code hyphos_shared_param_set(hyphos_node* node, const char* path, const char* yaml,
                                    hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (path == nullptr) return is_null("path");
    if (yaml == nullptr) return is_null("yaml");
    auto value = parse_tree(yaml, path);
    if (!value) return value.error();
    return node->state->node.shared_params().set({{path, *std::move(value)}});
  });
}

uint64_t hyphos_params_version(const hyphos_node* node) {
  std::uint64_t version = 0;
  if (node != nullptr) quietly([&] { version = node->state->node.params().values().version(); });
  return version;
}

}  // extern "C"
