# shellcheck shell=bash
# What tools/format and tools/lint go through.

# shellcheck disable=SC2034 # for the tools that source this
readonly swift_files=(Package.swift Sources Tests migrations)
