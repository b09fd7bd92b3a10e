# shellcheck shell=bash
# The files of tools/format and tools/lint.

# shellcheck disable=SC2034 # for the tools that source this
readonly swift_files=(Package.swift Examples Sources Tests migrations)
