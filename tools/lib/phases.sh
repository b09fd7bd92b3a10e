# shellcheck shell=bash
# Runs and times the parts of a long tool.

# A line for each part that has run, and whether one has failed.
phases=()
phases_failed=''

# Runs a command as the named part, records its seconds and outcome, and returns its status.
run_phase() {
    local name=$1 status=0 start=$SECONDS outcome=passed
    shift
    say "$name"
    "$@" || status=$?
    if ((status)); then
        outcome=FAILED
        # shellcheck disable=SC2034 # tools/soak reads it
        phases_failed=yes
    fi
    phases+=("$(printf '%6d s  %s  %s' $((SECONDS - start)) "$outcome" "$name")")
    return "$status"
}

# Prints the seconds of each part. Tools register it with at_exit, so that they are printed after a failure, too.
print_phases() {
    phases+=("$(printf '%6d s  in total' "$SECONDS")")
    say "Seconds of each part of ${0#"$repository/"}"
    printf '%s\n' "${phases[@]}" >&2
}
