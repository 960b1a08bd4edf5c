#include "gateway/ros2/param_services.hpp"

#include <map>

#include "base/mutex.hpp"

namespace hyphos::gateway::ros2 {
namespace {

Result<Buffer> reply(std::vector<std::byte> bytes) { return Buffer::adopt(std::move(bytes)); }

Error no_request() {
  return {Code::corrupt, "the bytes are not a valid request of rcl_interfaces", {}};
}

/// Collects the outcomes of several parameters.
struct Outcomes {
  explicit Outcomes(std::size_t count) : outcomes(count), left(count) {}
  Mutex mutex;
  std::vector<ParamOutcome> outcomes HYPHOS_GUARDED_BY(mutex);
  std::size_t left HYPHOS_GUARDED_BY(mutex);
};

ParamOutcome outcome_of(const Result<void>& result) {
  return {result.ok(), result ? std::string() : result.error().to_string()};
}

}  // namespace

ParamServices::ParamServices(const Context& context, ServicesOut& services)
    : context_(context),
      services_(services),
      nodes_(context.facade.parameters().open(context.wake)) {}

std::pair<std::string, std::string> ParamServices::split(const std::string& name) {
  const auto dot = name.find('.');
  if (dot == std::string::npos) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::map<std::string, std::shared_ptr<const ParamInfo>> ParamServices::all() const {
  std::map<std::string, std::shared_ptr<const ParamInfo>> found;
  for (const auto& [node, set] : nodes_->all()) {
    for (const auto& info : set.infos()) {
      std::string name = node + "." + info->name;
      if (context_.settings.params.match(name)) found.emplace(std::move(name), info);
    }
  }
  return found;
}

void ParamServices::set(const std::vector<ParamWish>& wishes, bool at_once, const Answer& answer) {
  const auto finish = [at_once, answer](const std::vector<ParamOutcome>& outcomes) {
    answer(reply(at_once ? write_outcome(outcomes.empty() ? ParamOutcome{true, ""} : outcomes[0])
                         : write_outcomes(outcomes)));
  };
  if (at_once && wishes.size() > 1) {
    return finish({{false, "the robot sets parameters one by one. Use set_parameters"}});
  }
  if (wishes.empty()) return finish({});
  const auto state = std::make_shared<Outcomes>(wishes.size());
  const auto done = [state, finish](std::size_t which, ParamOutcome outcome) {
    std::vector<ParamOutcome> whole;
    {
      const MutexLock lock(state->mutex);
      state->outcomes[which] = std::move(outcome);
      if (--state->left > 0) return;
      whole = state->outcomes;
    }
    finish(whole);
  };
  const auto known = all();
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const ParamWish& wish = wishes[i];
    if (!known.contains(wish.name)) {
      done(i, {false, "the robot has no parameter '" + wish.name + "'"});
    } else if (!wish.value) {
      done(i, {false, "a parameter of the robot cannot be deleted. Set a value"});
    } else {
      const auto [node, param] = split(wish.name);
      nodes_->set(node, param, *wish.value,
                  [done, i](const Result<void>& result) { done(i, outcome_of(result)); });
    }
  }
}

void ParamServices::serve(const std::string& name, const std::string& type, Handler handler) {
  const std::string service = context_.settings.node + "/" + name;
  if (!refused_.may_try(service) || services_.serves(service)) return;
  const auto opened = services_.serve(service, "rcl_interfaces/srv/" + type, std::move(handler));
  if (!opened && refused_.failed(service)) {
    context_.facade.clients().note(client_of(service), to_string(opened.error().code),
                                   "the service is left out: " + opened.error().to_string());
  }
}

void ParamServices::look() {
  nodes_->look();
  serve("list_parameters", "ListParameters", [this](auto request, const Answer& answer) {
    const auto asked = read_listing(request);
    if (!asked) return answer(no_request());
    std::vector<std::string> names;
    for (const auto& [name, info] : all()) names.push_back(name);
    answer(reply(write_listing(names, *asked)));
  });
  serve("get_parameters", "GetParameters", [this](auto request, const Answer& answer) {
    const auto names = read_names(request);
    if (!names) return answer(no_request());
    const auto known = all();
    std::vector<std::optional<ParamVariant>> values;
    for (const std::string& name : *names) {
      const auto found = known.find(name);
      values.push_back(found == known.end() ? std::optional<ParamVariant>() : found->second->value);
    }
    answer(reply(write_values(values)));
  });
  serve("get_parameter_types", "GetParameterTypes", [this](auto request, const Answer& answer) {
    const auto names = read_names(request);
    if (!names) return answer(no_request());
    const auto known = all();
    std::vector<std::uint8_t> types;
    for (const std::string& name : *names) {
      const auto found = known.find(name);
      types.push_back(found == known.end() ? std::uint8_t{0} : param_type(found->second->value));
    }
    answer(reply(write_types(types)));
  });
  serve("describe_parameters", "DescribeParameters", [this](auto request, const Answer& answer) {
    const auto names = read_names(request);
    if (!names) return answer(no_request());
    const auto known = all();
    std::vector<const ParamInfo*> infos;
    for (const std::string& name : *names) {
      const auto found = known.find(name);
      infos.push_back(found == known.end() ? nullptr : found->second.get());
    }
    answer(reply(write_descriptions(*names, infos)));
  });
  for (const bool at_once : {false, true}) {
    serve(at_once ? "set_parameters_atomically" : "set_parameters",
          at_once ? "SetParametersAtomically" : "SetParameters",
          [this, at_once](auto request, const Answer& answer) {
            const auto wishes = read_wishes(request);
            if (!wishes) return answer(no_request());
            set(*wishes, at_once, answer);
          });
  }
}

}  // namespace hyphos::gateway::ros2
