#pragma once

/// For programs of the HyperGraph ROS paper, which include "tros_base/tros_base.h".
#include "hyphos/compat/tros.hpp"
