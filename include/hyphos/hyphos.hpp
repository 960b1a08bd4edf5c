#pragma once

/// Everything a node needs. Programs that care about compile time include the parts.
#include "hyphos/action.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/message.hpp"
#include "hyphos/node.hpp"
#include "hyphos/plugin.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/publisher.hpp"
#include "hyphos/result.hpp"
#include "hyphos/runtime.hpp"
#include "hyphos/service.hpp"
#include "hyphos/subscription.hpp"
#include "hyphos/time.hpp"
