# shellcheck shell=bash
# The main part of tools/bench: its arguments, the order of the measurements, and the result.

readonly bench_files="$repository/tools/lib/bench"
readonly connections=64
tenants=100
# The database that is measured.
database=$application_database
# A run that takes longer has failed.
readonly run_seconds_max=300
readonly row_names=(
    link link-alone sign-in unlink refresh anonymous codes passwords account replay rebuild export
    projection sealing tenants memory start pages large
)

# The current round; 0 is the warm-up, whose figures are discarded.
round=0
only=''
quick=''
large=''
citus=''

read_options() {
    while [[ $# -gt 0 ]]; do
        case $1 in
            -h | --help)
                print_help
                exit 0
                ;;
            --quick) quick=yes ;;
            --large) large=yes ;;
            --citus)
                require_citus
                citus=yes
                ;;
            --only)
                [[ -n ${2-} ]] || fail_usage "--only requires rows; see tools/bench --help"
                only=$2
                shift
                ;;
            *) fail_usage "unknown argument '$1'; see tools/bench --help" ;;
        esac
        shift
    done
    require_known_rows
    local given=${BENCH_LINKS:-$([[ -n $citus ]] && echo 6400 || echo 16000)}
    [[ $given =~ ^[0-9]{4,6}$ && $given -ge 4800 ]] ||
        fail_usage "BENCH_LINKS must be a number from 4800 to 999999, not '$given'"
    set_sizes "$given"
}

require_known_rows() {
    local row
    for row in ${only//,/ }; do
        [[ " ${row_names[*]} " == *" $row "* ]] ||
            fail_usage "unknown row '$row'; rows are: ${row_names[*]}"
        if [[ $row == large ]]; then
            large=yes
        fi
    done
}

# Sets the sizes of a run. Links are a multiple of the connections, because pgbench's clients do equal shares.
set_sizes() {
    links=$(($1 / connections * connections))
    alone=2000
    account_rounds=8
    phones=900 hashed=256
    yardstick_seconds=4
    warm_up=$warm_up_at_64
    rounds=3
    starts=5 page_runs=9
    replayed_events=1000000 small_events=100000 large_events=10000000
    if [[ -n $quick ]]; then
        links=640 alone=200 account_rounds=2 phones=192 hashed=96 yardstick_seconds=2 warm_up=64 rounds=1 starts=1 page_runs=1
        replayed_events=5000 small_events=5000 large_events=20000
        # Few enough that it takes no longer than the others.
        if [[ -z $only ]]; then
            large=yes
        fi
    fi
}

is_wanted() {
    [[ -z $only || ",$only," == *",$1,"* ]]
}

# Checks whether any of the named rows was requested.
is_any_wanted() {
    local row
    for row in "$@"; do
        if is_wanted "$row"; then
            return 0
        fi
    done
    return 1
}

# Builds the load generator and the generator of long logs, and sets `load_program` and `log_program` to
# their paths.
build_load_programs() {
    run_interruptibly swift build "${release_build_options[@]}" \
        --product ledger-bench-load >&2 || fail "the build failed"
    load_program=$(dirname "$server_program")/ledger-bench-load
    readonly load_program
    log_program=$(dirname "$server_program")/ledger-load
    readonly log_program
    if [[ -d $repository/Sources/ledger-load ]] &&
        { is_any_wanted replay rebuild export pages || [[ -n $large ]]; }; then
        run_interruptibly swift build "${release_build_options[@]}" \
            --product ledger-load >&2 || fail "the build failed"
    fi
}

require_durability() {
    local setting value
    for setting in fsync synchronous_commit full_page_writes; do
        value=$(psql_as_owner "$cluster" postgres --tuples-only --no-align <<<"SHOW $setting")
        [[ $value == on ]] || fail "$setting is $value: figures without durability are meaningless"
    done
}

make_yardstick_tables() {
    local file
    for file in state_based_schema.sql single_rows.sql; do
        psql_as_owner "$cluster" "$database" --file="$bench_files/$file"
    done
}

# Creates the tenants and restarts the server, which reads the list of tenants at its start.
make_tenants() {
    local number
    say "Creating $tenants tenants"
    for ((number = 1; number <= tenants; number++)); do
        "$server_program" tenant create "bench-$number" >/dev/null || fail "tenant create failed"
    done
    stop_child "$server_process" "$stop_seconds_max"
    start_server "$server_log"
}

# Runs one measurement: attempt ROW FUNCTION [ARGUMENT]. If it fails, its rows report that and the others
# continue. Sets `attempt_status` to its exit status.
#
# In its own process, so that `fail` ends only this measurement; not as part of a condition, where
# `set -e` would have no effect.
attempt() {
    attempt_status=0
    "${@:2}" &
    wait_for_child $! || attempt_status=$?
    if [[ -n $asked_to_stop ]]; then
        exit 130
    fi
    if ((attempt_status != 0)); then
        say "Round $round: $1 could not be measured"
        printf 'failure %s failed in round %s\n' "$1" "$round" >>"$scratch/figures"
    fi
}

attempt_if_wanted() {
    if is_wanted "$1"; then
        attempt "$1" "$2"
    fi
}

# The warm-up is a small round of everything, after which code, caches and statements are warm.
run_rounds() {
    local full=$links full_alone=$alone
    is_any_wanted link link-alone sign-in unlink refresh anonymous codes passwords account projection \
        sealing tenants memory || return 0
    if [[ -z $quick ]]; then
        links=2560 alone=200
        run_round
        links=$full alone=$full_alone
    fi
    for ((round = 1; round <= rounds; round++)); do
        run_round
    done
}

# Measurements and baselines alternate. All access tokens are of this round, so that they are younger
# than ten minutes.
run_round() {
    attempt preparing prepare_round append_per_second
    ((attempt_status == 0)) || return 0
    local began_stolen began_all
    read -r began_stolen began_all < <(processor_ticks)
    if is_wanted link; then
        attempt bare_sql_per_second measure_bare_sql bare_sql 0
    fi
    # Reads and unlinks are of accounts with two identities.
    if is_any_wanted link account unlink tenants; then
        attempt link measure_link
    fi
    if is_wanted link; then
        attempt insert_per_second measure_insert
    fi
    if is_wanted link-alone; then
        attempt link-alone measure_link_alone
        attempt insert_alone_p50_us measure_insert_alone
    fi
    if is_wanted account; then
        attempt account measure_account
        attempt select_per_second measure_select
    fi
    # The first is minutes old by now, and the machine's speed may have changed.
    if is_any_wanted sign-in unlink refresh; then
        attempt bare_sql_later_per_second measure_bare_sql bare_sql_later 1
    fi
    attempt_if_wanted unlink measure_unlink
    attempt_if_wanted sign-in measure_sign_in
    if is_any_wanted refresh codes; then
        attempt refresh measure_refresh
    fi
    attempt_if_wanted codes measure_codes
    attempt_if_wanted passwords measure_passwords
    attempt_if_wanted anonymous measure_anonymous
    attempt_if_wanted tenants measure_tenants
    attempt_if_wanted projection measure_drain
    attempt_if_wanted sealing measure_sealing
    record_stolen "$began_stolen" "$began_all"
}

# The measurements after the rounds, on the log that they have left.
measure_once() {
    local start
    round=$rounds
    attempt_if_wanted memory measure_memory
    if is_wanted start; then
        for ((start = 0; start < starts; start++)); do
            attempt start measure_start
        done
    fi
    if is_any_wanted replay rebuild export; then
        attempt replay measure_replay
    fi
    attempt_if_wanted pages measure_pages
    if [[ -n $large ]]; then
        attempt large measure_large
    fi
}

# Writes the result, prints the table and ends the tool.
finish() {
    local result
    result="$local_directory/bench/$(date -u +%Y%m%dT%H%M%SZ).json"
    jq -n -R -f "$bench_files/rows.jq" \
        --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
        --arg commit "$(git -C "$repository" describe --always --dirty 2>/dev/null || echo unknown)" \
        --arg processor "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
        --arg cores "$(nproc)" --arg links "$links" --arg connections "$connections" \
        --arg tenants "$tenants" --arg quick "$quick" --arg large "$large" --arg citus "$citus" --arg only "$only" \
        --arg replayed "$replayed_events" \
        --arg small_events "$small_events" --arg large_events "$large_events" \
        --arg postgres "$("$(postgres_programs)/postgres" --version)" \
        <"$scratch/figures" >"$result"
    say "Written to $result"
    jq -r -f "$bench_files/table.jq" "$result"
    if jq -e '(.failures | length > 0) or any(.rows[]; .failure)' "$result" >/dev/null; then
        fail "some rows could not be measured"
    fi
}
