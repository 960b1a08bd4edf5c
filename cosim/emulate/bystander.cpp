#include "cosim/emulate/bystander.hpp"

#include <ctime>

namespace hyphos::cosim {
namespace {

constexpr Duration kEvery = Duration::from_ms(10);

}  // namespace

Bystander::~Bystander() {
  ends_ = true;
  thread_.join();
}

void Bystander::look() {
  while (!ends_) {
    const Time due = monotonic_now() + kEvery;
    const timespec until{due.ns / 1'000'000'000, due.ns % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    late_.add(monotonic_now() - due);
  }
}

}  // namespace hyphos::cosim
