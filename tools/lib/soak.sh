# shellcheck shell=bash
# The tests that tools/test leaves to tools/soak, as patterns for `swift test`.

# They depend on the clock while the machine is busy, so they could fail for an unrelated change.
# shellcheck disable=SC2034 # for the tools that source this
readonly soak_tests=(OverloadTests FaultTests PatroniTests CrowdedServerTests EnumerationTests killed.between.a.refresh)
