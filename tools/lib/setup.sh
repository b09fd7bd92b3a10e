# shellcheck shell=bash
# The common set-up of the tools: checks the Swift toolchain and installs Debian packages.

# shellcheck source=tools/lib/packages.sh
source "$repository/tools/lib/packages.sh"

readonly swift_version_min=6.3

# Colours are a compiler option: with them, builds in a terminal and in a pipe invalidate each other.
# shellcheck disable=SC2034 # for the tools that source this
readonly swift_build_options=(--package-path "$repository" --no-color-diagnostics)

# Checks and installs what the tool needs: Swift and the named groups of packages.
set_up() {
    local group packages=("${packages_of_swift[@]}")
    for group in "$@"; do
        local -n group_packages="packages_of_$group"
        packages+=("${group_packages[@]}")
    done
    require_swift_on_path
    make_local_directory
    install_packages "${packages[@]}"
    # After the packages: without its libraries the toolchain can't even print its version.
    require_swift_version
}

require_swift_on_path() {
    command -v swift >/dev/null ||
        fail "Swift is missing: install the toolchain $swift_version_min or newer from" \
            "https://www.swift.org/install and put its usr/bin directory on PATH"
}

require_swift_version() {
    local answer version
    answer=$(swift --version 2>&1) || fail "$(command -v swift) does not start: $answer"
    version=$(sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' <<<"$answer" | head -n 1)
    [[ -n $version ]] || fail "$(command -v swift) does not print its version: $answer"
    if [[ $(printf '%s\n' "$swift_version_min" "$version" | sort -V | head -n 1) != \
        "$swift_version_min" ]]; then
        fail "Swift $version is too old: $(command -v swift) must be $swift_version_min or newer"
    fi
}
