#pragma once

// The transports, in order of preference. A new transport is one line in this list and one file
// with `MadeTransport hyphos::transport::make::NAME(const TransportContext&)`.
//
// The list is here, because a plan may name any transport, and no code of plan/ refers to
// transport/. transport/registry.cpp declares and calls the makers. Columns: name, reaches other
// machines, needs endpoints in the plan (plan/transports.hpp).
// clang-format off
#define HYPHOS_TRANSPORTS(line) \
  line(shm, false, false) \
  line(zmq, true, true)
// clang-format on
