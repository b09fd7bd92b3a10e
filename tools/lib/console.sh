# shellcheck shell=bash
# Common parts of the tools: messages, usage errors and output directories.
# The tool has set `repository` to the checkout's directory.

readonly repository
# A failure inside $(...) ends the tool too.
shopt -s inherit_errexit

# The directory of all files that tools leave; git ignores it.
readonly local_directory="$repository/.local"

# Prints a progress line on standard error; standard output is for results.
say() {
    printf '==> %s\n' "$*" >&2
}

# Ends the tool with an error message.
fail() {
    printf 'tools/%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Ends the tool with a usage error; 64 is EX_USAGE.
fail_usage() {
    printf 'tools/%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 64
}

# Prints the comment at the head of the running tool, which is its help.
print_help() {
    sed -n '2,/^[^#]/ { /^#/!q; s/^# \{0,1\}//; p }' "$0"
}

# Handles --help and refuses arguments, for tools without arguments.
expect_no_arguments() {
    case "${1-}" in
        '') ;;
        -h | --help)
            print_help
            exit 0
            ;;
        *) fail_usage "unexpected argument '$1'; see tools/$(basename "$0") --help" ;;
    esac
}

make_local_directory() {
    mkdir -p "$local_directory"
    # A server of another login reaches its data through here, so others may pass but not list.
    chmod 711 "$local_directory"
}
