# shellcheck shell=bash
# The release executable.

# Builds the release executable and leaves its path in `server_program`.
build_server() {
    say "Building (swift build -c release)"
    run_interruptibly swift build "${swift_build_options[@]}" -c release \
        --product account-ledger >&2 || fail "the build failed"
    server_program=$(swift build "${swift_build_options[@]}" -c release --show-bin-path)
    server_program+=/account-ledger
    readonly server_program
}
