"""The same node in Python."""

import sys

import hyphos

node = hyphos.Node.open("battery", sys.argv)
volts = node.params().declare("volts", 25.2, unit="V", range=(0, 30))


def charge(report: hyphos.DiagnosticReport) -> None:
    if volts.value < 20:
        report.error("empty", volts=volts.value)
    elif volts.value < 22:
        report.warn("low", volts=volts.value)
    else:
        report.ok("charged", volts=volts.value)


diagnostics = hyphos.Diagnostics(node, hardware_id="SN 1205")
diagnostics.add("charge", charge)
volts.watch(lambda _: diagnostics.publish())  # at once, not only each second
node.spin()
