# shellcheck shell=bash
# Starts processes for a tool, and runs its clean-up however it ends.

# Commands that run at the end, the last one first.
at_exit_commands=()
# The foreground child, so that a signal reaches it immediately.
foreground_child=''
# Set by the first signal, which means that the end was requested.
asked_to_stop=''

# Registers a command to run when the tool ends, before those registered earlier.
at_exit() {
    at_exit_commands+=("$(printf '%q ' "$@")")
}

run_at_exit_commands() {
    local status=$? index
    # A second signal must not interrupt the clean-up.
    trap '' INT TERM HUP
    trap - EXIT
    for ((index = ${#at_exit_commands[@]} - 1; index >= 0; index--)); do
        eval "${at_exit_commands[index]}" || status=1
    done
    exit "$status"
}

on_signal() {
    asked_to_stop=$1
    if [[ -n $foreground_child ]]; then
        kill -TERM "$foreground_child" 2>/dev/null || true
    else
        exit "$2"
    fi
}

trap run_at_exit_commands EXIT
trap 'on_signal INT 130' INT
trap 'on_signal TERM 143' TERM
trap 'on_signal HUP 129' HUP

# Waits for a child of this shell and returns its exit status. A signal to the tool ends the child.
wait_for_child() {
    local status=0
    foreground_child=$1
    # A trapped signal ends `wait` early, while the child still has to stop.
    while kill -0 "$foreground_child" 2>/dev/null; do
        wait "$foreground_child" || true
    done
    # The shell remembers how its child ended.
    wait "$foreground_child" || status=$?
    foreground_child=''
    return "$status"
}

# Runs a long command so that a signal ends it and the tool immediately.
run_interruptibly() {
    local status=0
    "$@" &
    wait_for_child $! || status=$?
    end_if_asked_to
    return "$status"
}

# Ends the tool after a signal that requests it.
end_if_asked_to() {
    case "$asked_to_stop" in
        INT) exit 130 ;;
        TERM) exit 143 ;;
        HUP) exit 129 ;;
    esac
}

# Stops a child with SIGTERM, and with SIGKILL when it has not ended by the deadline.
stop_child() {
    local child=$1 seconds_max=$2 waited=0
    kill -TERM "$child" 2>/dev/null || return 0
    while kill -0 "$child" 2>/dev/null; do
        if ((waited >= seconds_max * 10)); then
            say "Process $child did not stop within $seconds_max s: killing it"
            kill -KILL "$child" 2>/dev/null || true
            return 1
        fi
        sleep 0.1
        waited=$((waited + 1))
    done
}

# Checks whether a process accepts connections at an address.
is_listening() {
    (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null
}

# Identifies a process by its id and its start time, because ids are reused.
process_stamp() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The name in parentheses may contain spaces; the start time is the 20th field after it.
    printf '%s %s\n' "$1" "$(awk '{ print $20 }' <<<"${stat##*) }")"
}

# Checks whether the process of a stamp is still running.
stamp_lives() {
    [[ -n $1 && $(process_stamp "${1%% *}") == "$1" ]]
}
