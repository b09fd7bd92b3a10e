# shellcheck shell=bash
# Prepares requests and sends them with the load generator.

# The number of answers at the start of a run that are checked and not measured.
readonly warm_up_at_64=1000
readonly warm_up_at_1=50

# Records one figure of a run, for the summary at the end. Figures of the warm-up are discarded.
record() {
    [[ $2 =~ ^[0-9.]+$ ]] || fail "$1 has no figure, but '$2'"
    [[ $round == 0 ]] || printf '%s %s\n' "$1" "$2" >>"$scratch/figures"
}

# Sends each request of a file once over the given number of connections, and prints the figures as JSON.
# Ends the measurement at the first answer that is not 200.
send_all() {
    "$load_program" run "${server_address##*:}" "$@" || fail "the load failed; see $server_log"
}

# Prints a member of the load generator's figures.
figure() {
    jq -r ".$2" <<<"$1"
}

# Has the development identity provider sign ID tokens: tokens PROVIDER PREFIX COUNT OUTPUT.
mint_tokens() {
    local provider=$1 prefix=$2 count=$3 output=$4
    seq 1 "$count" | awk -v provider="$provider" -v prefix="$prefix" \
        '{ printf "GET\t/dev/idp/%s/token?name=%s-%d\t\t\n", provider, prefix, $1 }' \
        >"$scratch/minting"
    send_all "$scratch/minting" 64 --keep id_token "$output" >/dev/null
}

# Makes a request for each ID token: METHOD PATH TOKENS [ACCESS_TOKENS], files with a token per line.
# A %d in the path becomes the number of a tenant, with the requests spread over `tenants` of them.
requests_with_tokens() {
    paste "${4:-/dev/null}" "$3" | awk -F '\t' -v OFS='\t' -v method="$1" -v path="$2" \
        -v tenants="$tenants" '{
            where = path
            sub(/%d/, (NR - 1) % tenants + 1, where)
            print method, where, $1, "{\"id_token\":\"" $2 "\"}"
        }'
}

# Makes a request for each access token: METHOD PATH ACCESS_TOKENS.
requests_with_access() {
    awk -v OFS='\t' -v method="$1" -v path="$2" '{ print method, path, $1, "" }' "$3"
}

# Signs new people in with their ID tokens: PATH ID_TOKENS OUTPUT, where OUTPUT.access and OUTPUT.refresh
# get a token per line. Prints the number of events appended per second.
sign_in_new_people() {
    local answer before after
    requests_with_tokens POST "$1" "$2" >"$scratch/signing-in"
    before=$(events_in_log)
    answer=$(send_all "$scratch/signing-in" "$connections" --warm-up "$warm_up" \
        --expect '"is_new_user":true' --keep access_token,refresh_token "$3")
    after=$(events_in_log)
    cut -f 1 "$3" >"$3.access"
    cut -f 2 "$3" >"$3.refresh"
    figure "$answer" "per_second * ($after - $before) / .answers"
}

# Prints the value of a query on the ledger's database.
ask_database() {
    psql_as_owner "$cluster" "$database" --tuples-only --no-align <<<"$1"
}

# Prints the number of events of all tenants.
events_in_log() {
    ask_database 'SELECT sum(next_position) FROM ledger_head'
}

# Waits until earlier writes are on disk and the read models are up to date, before a run.
settle() {
    local waited=0
    until [[ $(ask_database "SELECT count(*) FROM ledger_head h JOIN projections p USING (tenant_id)
        WHERE p.position < h.next_position") == 0 ]]; do
        ((waited < run_seconds_max * 10)) || fail "the read models do not catch up"
        sleep 0.1
        waited=$((waited + 1))
    done
    ask_database 'CHECKPOINT'
}

# Sends a file of requests, each of which must append the given number of events, and records the figures and
# the processor time of a request: measure_appending NAME EVENTS REQUESTS CONNECTIONS OPTION...
measure_appending() {
    local name=$1 events=$2 requests=$3 before after answer sent cpu_server cpu_postgres
    shift 2
    settle
    before=$(events_in_log)
    cpu_server=$(cpu_of_server)
    cpu_postgres=$(cpu_of_postgres)
    answer=$(send_all "$@")
    cpu_server=$(($(cpu_of_server) - cpu_server))
    cpu_postgres=$(($(cpu_of_postgres) - cpu_postgres))
    after=$(events_in_log)
    sent=$(wc -l <"$requests")
    # The log contains exactly the answered requests.
    ((after - before == sent * events)) ||
        fail "$name: $sent answers, but $((after - before)) events in the log"
    record_figures "$name" "$answer"
    record "${name}_server_cpu_us" "$((cpu_server / sent))"
    record "${name}_postgres_cpu_us" "$((cpu_postgres / sent))"
    say "Round $round: a request of $name costs the server $((cpu_server / sent)) us, Postgres $((cpu_postgres / sent)) us"
}

# Records "NAME_per_second" and so on: NAME FIGURES.
record_figures() {
    local member
    for member in per_second p50_us p99_us loader_cpu_us; do
        record "$1_$member" "$(figure "$2" "$member")"
    done
    say_figures "$1" "$(figure "$2" per_second)" "$(figure "$2" p50_us)" "$(figure "$2" p99_us)"
}

# Prints the result of a run: NAME RATE P50 P99, in microseconds.
say_figures() {
    say "Round $round: $1 $(awk -v rate="$2" -v p50="$3" -v p99="$4" 'BEGIN {
        printf "%.0f a second, median %.2f ms, p99 %.2f ms", rate, p50 / 1000, p99 / 1000 }')"
}
