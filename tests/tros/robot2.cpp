// Robot 2 of figure 5: the Global Optimization that Robot 1 can use instead of its own.
#include <csignal>
#include <cstdint>

#include "hyphos/msgs/std.pb.h"
#include "tros_base/tros_base.h"

using hyphos::msgs::Int64;
namespace tros_base = tros::tros_base;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  tros_base::TROSInit("", argv[1], argv[2], 0);
  tros_base::FromAny<Int64>("pre_channel", tros_base::kWaitLastFinish,
                            [](const std::shared_ptr<Int64>& pre_data) {
                              auto ba_data = std::make_shared<Int64>();
                              ba_data->set_data(-pre_data->data());
                              tros_base::ToAny("ba_channel", ba_data);
                            });
  int signal = 0;
  sigwait(&ends, &signal);
  tros_base::NetworkBridge::Instance().Stop();
  return 0;
}
