# shellcheck shell=bash
# The tests that tools/test leaves to tools/soak, as patterns for `swift test`.

# They judge by the clock while the machine is busy, so a change that has nothing to do with them could fail.
# shellcheck disable=SC2034 # for the tools that source this
readonly soak_tests=(OverloadTests FaultTests CrowdedServerTests)
