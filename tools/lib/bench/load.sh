# shellcheck shell=bash
# Making requests and sending them: what is prepared before a run, and the load generator itself.

# Answers at the beginning of a run that are checked and not measured.
readonly warm_up_at_64=1000
readonly warm_up_at_1=50

# Writes one figure of a run, to be summarised at the end. The warm-up round's are not kept.
record() {
    [[ $2 =~ ^[0-9.]+$ ]] || fail "$1 has no figure, but '$2'"
    [[ $round == 0 ]] || printf '%s %s\n' "$1" "$2" >>"$scratch/figures"
}

# Sends a file of requests over so many connections, each once, and prints the figures as JSON. Ends
# the measurement at the first answer that is not 200.
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

# Makes requests with ID tokens, a line each: METHOD PATH TOKENS [ACCESS_TOKENS], files of one a line.
# A %d in the path becomes the number of the tenant, of `tenants`, that the line falls to.
requests_with_tokens() {
    paste "${4:-/dev/null}" "$3" | awk -F '\t' -v OFS='\t' -v method="$1" -v path="$2" \
        -v tenants="$tenants" '{
            where = path
            sub(/%d/, (NR - 1) % tenants + 1, where)
            print method, where, $1, "{\"id_token\":\"" $2 "\"}"
        }'
}

# Makes requests of an access token each: METHOD PATH ACCESS_TOKENS.
requests_with_access() {
    awk -v OFS='\t' -v method="$1" -v path="$2" '{ print method, path, $1, "" }' "$3"
}

# Signs new people in by their ID tokens: PATH ID_TOKENS OUTPUT, where OUTPUT.access and OUTPUT.refresh
# get a token a line. Prints how many events were appended a second.
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

# Prints a value that the ledger's database gives.
ask_database() {
    psql_as_owner "$cluster" "$database" --tuples-only --no-align <<<"$1"
}

# Prints how many events there are, of all tenants.
events_in_log() {
    ask_database 'SELECT sum(next_position) FROM ledger_head'
}

# Every run begins with nothing left to write from before, and with the read models up to date.
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

# Sends a file of requests, each of which must append so many events, and records the figures:
# measure_appending NAME EVENTS REQUESTS CONNECTIONS OPTION...
measure_appending() {
    local name=$1 events=$2 requests=$3 before after answer sent
    shift 2
    settle
    before=$(events_in_log)
    answer=$(send_all "$@")
    after=$(events_in_log)
    sent=$(wc -l <"$requests")
    # What was answered is in the log, and nothing else is.
    ((after - before == sent * events)) ||
        fail "$name: $sent answers, but $((after - before)) events in the log"
    record_figures "$name" "$answer"
}

# Records "NAME_per_second" and so on: NAME FIGURES.
record_figures() {
    local member
    for member in per_second p50_us p99_us loader_cpu_us; do
        record "$1_$member" "$(figure "$2" "$member")"
    done
    say_figures "$1" "$(figure "$2" per_second)" "$(figure "$2" p50_us)" "$(figure "$2" p99_us)"
}

# Says how a run went: NAME RATE P50 P99, in microseconds.
say_figures() {
    say "Round $round: $1 $(awk -v rate="$2" -v p50="$3" -v p99="$4" 'BEGIN {
        printf "%.0f a second, median %.2f ms, p99 %.2f ms", rate, p50 / 1000, p99 / 1000 }')"
}
