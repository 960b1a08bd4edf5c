#include "hyphos/params.hpp"

#include "node/params/params_impl.hpp"

namespace hyphos {

std::shared_ptr<detail::ParamCell> Params::declare_cell(ParamInfo info, Check check) const {
  return impl_->declare(std::move(info), std::move(check)).or_throw();
}

AnyParam Params::declare_any(ParamInfo info, Check check) const {
  const ParamType type = type_of(info.standard);
  return {declare_cell(std::move(info), std::move(check)), type};
}

Result<void> Params::set(std::vector<ParamAssignment> values) const { return impl_->set(values); }
void Params::forget(const std::string& name) const { impl_->forget(name); }
ParamSet Params::values() const { return impl_->values(); }

void Params::check(std::function<std::string(const ParamSet&)> check) const {
  impl_->add_check(std::move(check)).or_throw();
}

ParamWatch Params::watch(std::function<void(const ParamSet&)> callback) const {
  return impl_->watch("", std::move(callback));
}

ParamWatch Params::watch(const std::string& name,
                         std::function<void(const ParamSet&)> callback) const {
  const ParamSet now = values();
  if (now.find(name) == nullptr) {
    throw Exception(
        {Code::not_found, "there is no parameter '" + name + "'" + now.suggestion(name), ""});
  }
  return impl_->watch(name, std::move(callback));
}

void Params::done() const { impl_->done(); }

}  // namespace hyphos
