# shellcheck shell=bash
# What every tool starts with: how it talks, how it is called wrongly, and where it leaves things.
# The tool has set `repository` to the checkout's directory.

readonly repository
# A failure inside $(...) ends the tool too.
shopt -s inherit_errexit

# Everything that a tool leaves behind lies here, and git ignores it.
readonly local_directory="$repository/.local"

# Prints a line about what happens next, to standard error: standard output is for results.
say() {
    printf '==> %s\n' "$*" >&2
}

# Ends the tool with one clear line.
fail() {
    printf 'tools/%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Ends the tool with one clear line about how it was called; 64 is EX_USAGE.
fail_usage() {
    printf 'tools/%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 64
}

# Prints the comment at the head of the running tool, which is its help.
print_help() {
    sed -n '2,/^[^#]/ { /^#/!q; s/^# \{0,1\}//; p }' "$0"
}

# Answers --help and refuses arguments, for the tools that take none.
expect_no_arguments() {
    case "${1-}" in
        '') ;;
        -h | --help)
            print_help
            exit 0
            ;;
        *) fail_usage "takes no arguments, but was given '$1'; see tools/$(basename "$0") --help" ;;
    esac
}

make_local_directory() {
    mkdir -p "$local_directory"
    # A server of another login reaches its data through here, so others may pass but not list.
    chmod 711 "$local_directory"
}
