#include "gateway/ros1/methods.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros1/names.hpp"

namespace hyphos::gateway::ros1 {
namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "" : ", ";
    text += name.ends_with('*') ? name.substr(0, name.size() - 1) : name;
  }
  return text;
}

}  // namespace

Value outcome(int code, std::string status, Value value) {
  return Value::Array{code, std::move(status), std::move(value)};
}

Result<Value> value_of(Result<Value>&& outcome) {
  if (!outcome) return outcome.error();
  auto* parts = outcome->get_if<Value::Array>();
  const std::int32_t* code =
      parts == nullptr || parts->size() != 3 ? nullptr : (*parts)[0].get_if<std::int32_t>();
  if (code == nullptr) return Error{Code::corrupt, "the reply is not [code, status, value]", ""};
  if (*code != 1) return Error{Code::io, (*parts)[1].text(), ""};
  return std::move((*parts)[2]);
}

void Methods::add(std::string name, std::string_view takes, Run run) {
  add(std::move(name), takes,
      [run = std::move(run)](const Params& params, const Origin&) { return run(params); });
}

void Methods::add(std::string name, std::string_view takes, RunFrom run) {
  methods_.insert_or_assign(std::move(name), Method{words(takes), std::move(run)});
}

Result<Value> Methods::call(const RpcCall& call, const Origin& origin) const {
  if (call.method == "system.multicall") return together(call.params, origin);
  if (call.method == "system.listMethods") {
    Value::Array names{"system.listMethods", "system.multicall"};
    for (const auto& [name, method] : methods_) names.emplace_back(name);
    return Value(std::move(names));
  }
  return one(call.method, call.params, origin);
}

Result<Value> Methods::one(const std::string& name, const Params& params,
                           const Origin& origin) const {
  const auto found = methods_.find(name);
  if (found == methods_.end()) {
    return Error{Code::not_found, "there is no method '" + name.substr(0, 100) + "'", ""};
  }
  const std::vector<std::string>& takes = found->second.takes;
  if (params.size() != takes.size()) {
    return outcome(-1,
                   name + "(" + listed(takes) + ") was called with " +
                       std::to_string(params.size()) + " arguments",
                   0);
  }
  for (std::size_t at = 0; at < takes.size(); ++at) {
    if (takes[at].ends_with('*') || params[at].get_if<std::string>() != nullptr) continue;
    return outcome(-1, name + "(): " + takes[at] + " must be a string", 0);
  }
  return found->second.run(params, origin);
}

Result<Value> Methods::together(const Params& params, const Origin& origin) const {
  const auto* calls = params.size() == 1 ? params[0].get_if<Value::Array>() : nullptr;
  if (calls == nullptr || calls->size() > kMaxTogether) {
    return Error{Code::corrupt, "system.multicall needs one array of calls", ""};
  }
  Value::Array results;
  std::size_t returned = 0;
  for (const Value& item : *calls) {
    if (returned > kMaxReturned) {
      return Error{Code::overloaded,
                   "system.multicall would return more than " + std::to_string(kMaxReturned) +
                       " bytes. Request less at once",
                   ""};
    }
    const auto* members = item.get_if<Value::Struct>();
    const auto member = [&](std::string_view name) -> const Value* {
      const auto found = members == nullptr ? Value::Struct::const_iterator() : members->find(name);
      return members == nullptr || found == members->end() ? nullptr : &found->second;
    };
    const Value* name = member("methodName");
    const Value* given = member("params");
    const auto* array = given == nullptr ? nullptr : given->get_if<Value::Array>();
    Result<Value> result =
        Error{Code::corrupt, "a call must have the form {methodName, params}", ""};
    if (name != nullptr && array != nullptr) result = one(name->text(), *array, origin);
    if (result) {
      returned += memory_of(*result);
      results.emplace_back(Value::Array{std::move(*result)});
    } else {
      results.emplace_back(
          Value::Struct{{"faultCode", 1}, {"faultString", result.error().message}});
    }
  }
  return Value(std::move(results));
}

std::string caller_of(const Methods::Params& params) { return resolve_name(params[0].text(), "/"); }

}  // namespace hyphos::gateway::ros1
