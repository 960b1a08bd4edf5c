#pragma once

// The radios of ns-3. A new radio is one line in this list and one file in cosim/network/ns3 with
// `std::unique_ptr<Ns3Radio> hyphos::cosim::make_ns3::NAME(Ns3Options, Scene)`.
//
// The list is apart from the makers, because a scenario is checked without ns-3. Columns: name,
// start of the names of its kinds (cosim/radio/kinds), has jammers, chooses rates by a control, has
// TCP. The first radio also serves a scenario without a kind.
// clang-format off
#define HYPHOS_COSIM_NS3_RADIOS(line) \
  line(wifi, "802.11", true, true, true) \
  line(lr_wpan, "802.15.4", false, false, false) \
  line(lte, "cell", false, true, false)
// clang-format on
