# shellcheck shell=bash
# The release executable.

# The same options for every program, because different ones would recompile everything. With the Swift
# libraries linked statically, calls of the runtime, thousands in a request, are direct calls:
# docs/performance.md has the figures.
readonly release_build_options=("${swift_build_options[@]}" -c release --static-swift-stdlib)

# Builds the release executable and leaves its path in `server_program`.
build_server() {
    say "Building (swift build -c release --static-swift-stdlib)"
    run_interruptibly swift build "${release_build_options[@]}" --product account-ledger >&2 ||
        fail "the build failed"
    server_program=$(swift build "${release_build_options[@]}" --show-bin-path)
    server_program+=/account-ledger
    readonly server_program
}
