# shellcheck shell=bash
# Measures each kind of work over HTTP.

# Signs in new people with Apple, one account each, mints the tokens to be linked, and records the number
# of events appended per second: prepare_round FIGURE.
#
#   people          links at 64 connections, reads, unlinks, sign-ins and refreshes use these
#   alone           links one at a time
prepare_round() {
    local people=$((links + alone))
    say "Round $round: preparing $people people"
    mint_tokens apple "round$round" "$people" "$scratch/apple"
    mint_tokens google "round$round" "$people" "$scratch/google"
    # The projector folds meanwhile, so this is the rate at full load.
    record "$1" \
        "$(sign_in_new_people /v1/auth/sign-in/apple "$scratch/apple" "$scratch/session")"
    local kind
    for kind in session.access session.refresh google; do
        head -n "$links" "$scratch/$kind" >"$scratch/people.$kind"
        tail -n "$alone" "$scratch/$kind" >"$scratch/alone.$kind"
    done
}

# Links a Google identity to each account, at 64 connections, while the projector folds and the lag of the
# read models is sampled.
measure_link() {
    requests_with_tokens POST /v1/auth/link/google "$scratch/people.google" \
        "$scratch/people.session.access" >"$scratch/linking"
    settle
    local sampler status=0
    sample_lag &
    sampler=$!
    measure_appending link 1 "$scratch/linking" "$connections" --warm-up "$warm_up" \
        --expect 'linked successfully'
    ask_database 'INSERT INTO lag_ends VALUES (true)'
    wait "$sampler" || status=$?
    ((status == 0)) || fail "the lag of the projections could not be sampled"
    record_lag
}

# The same over one connection, for its latency.
measure_link_alone() {
    requests_with_tokens POST /v1/auth/link/google "$scratch/alone.google" \
        "$scratch/alone.session.access" >"$scratch/linking-alone"
    measure_appending link_alone 1 "$scratch/linking-alone" 1 --warm-up "$warm_up_at_1" \
        --expect 'linked successfully'
}

# Reads the accounts that were just linked, each of two identities.
measure_account() {
    local answer
    requests_with_access GET /v1/account "$scratch/people.session.access" >"$scratch/reading"
    settle
    answer=$(send_all "$scratch/reading" "$connections" --warm-up "$warm_up" --expect '"google"' \
        --repeat "$account_rounds")
    record_figures account "$answer"
}

measure_unlink() {
    requests_with_access DELETE /v1/auth/link/google "$scratch/people.session.access" \
        >"$scratch/unlinking"
    measure_appending unlink 1 "$scratch/unlinking" "$connections" --warm-up "$warm_up" \
        --expect unlinked
}

# Signs the same people in again, with tokens that the server has not seen.
measure_sign_in() {
    mint_tokens apple "round$round" "$links" "$scratch/apple-again"
    requests_with_tokens POST /v1/auth/sign-in/apple "$scratch/apple-again" >"$scratch/signing-in"
    measure_appending sign_in 1 "$scratch/signing-in" "$connections" --warm-up "$warm_up" \
        --expect '"is_new_user":false'
}

measure_refresh() {
    awk -v OFS='\t' '{ print "POST", "/v1/auth/refresh", "", "{\"refresh_token\":\"" $1 "\"}" }' \
        "$scratch/people.session.refresh" >"$scratch/refreshing"
    measure_appending refresh 0 "$scratch/refreshing" "$connections" --warm-up "$warm_up" \
        --expect refresh_token
}

# Opens anonymous accounts and links a Google identity to each, beside as many new people of Apple who do the
# same: two events a link of an anonymous account, whose anonymous identity it ends.
measure_anonymous() {
    mint_tokens apple "ordinary$round" "$links" "$scratch/ordinary.apple"
    mint_tokens google "ordinary$round" "$links" "$scratch/ordinary.google"
    mint_tokens google "anonymous$round" "$links" "$scratch/anonymous.google"
    requests_with_tokens POST /v1/auth/sign-in/apple "$scratch/ordinary.apple" >"$scratch/signing-up"
    measure_appending sign_up 3 "$scratch/signing-up" "$connections" --warm-up "$warm_up" \
        --expect '"is_new_user":true' --keep access_token "$scratch/ordinary.access"
    awk -v OFS='\t' '{ print "POST", "/v1/auth/sign-in/anonymous", "", "{}" }' \
        "$scratch/anonymous.google" >"$scratch/opening"
    measure_appending anonymous 3 "$scratch/opening" "$connections" --warm-up "$warm_up" \
        --expect '"anonymous_secret"' --keep access_token "$scratch/anonymous.access"
    local people name=ordinary_link events=1
    for people in ordinary anonymous; do
        requests_with_tokens POST /v1/auth/link/google "$scratch/$people.google" \
            "$scratch/$people.access" >"$scratch/linking-$people"
        measure_appending "$name" "$events" "$scratch/linking-$people" "$connections" \
            --warm-up "$warm_up" --expect 'linked successfully'
        name=upgrade events=2
    done
}

# Makes a request for each address on standard input: requests_to_addresses PATH BODY_BEFORE BODY_AFTER.
requests_to_addresses() {
    awk -v OFS='\t' -v path="$1" -v before="$2" -v after="$3" '{ print "POST", path, "", before $1 after }'
}

# Sends the requests of a file, each of which sends a code, and prints the addresses' codes with their challenges as
# members of JSON: codes_of REQUESTS ADDRESSES NETWORK. A client network gets few codes an hour.
codes_of() {
    local waited=0 last
    last=$(curl -sS "http://$server_address/dev/outbox" | jq -r '.messages[0].message_id // ""')
    send_all "$1" "$connections" --network "$3" --keep challenge_id "$scratch/challenges" >/dev/null
    until curl -sS "http://$server_address/dev/outbox" | jq -r --arg last "$last" --slurpfile wanted \
        <(jq -R . "$2") '(reduce (.messages[] | select(.message_id > $last)) as $m ({}; .[$m.to] = $m.text))
            as $texts | $wanted[] | $texts[.] // empty | match("[0-9]{6}").string' >"$scratch/codes" &&
        (($(wc -l <"$scratch/codes") == $(wc -l <"$2"))); do
        ((waited < 600)) || fail "the outbox lacks codes"
        sleep 0.1
        waited=$((waited + 1))
    done
    paste "$scratch/challenges" "$scratch/codes" |
        awk -F '\t' '{ print "\"challenge_id\":\"" $1 "\",\"code\":\"" $2 "\"" }'
}

# Signs people in with codes to their phones, after they have signed up in the same way.
measure_codes() {
    local turn network=$((10 + 2 * round))
    # Few numbers of each range, which gets few codes before their answers.
    seq 1 "$phones" | awk -v round="$round" '{ printf "+49151%d%03d%04d\n", round, $1 / 40, $1 % 40 }' \
        >"$scratch/phones"
    requests_to_addresses /v1/auth/codes/phone '{"address":"' '"}' <"$scratch/phones" >"$scratch/asking"
    for turn in up in; do
        codes_of "$scratch/asking" "$scratch/phones" "$network" |
            requests_to_addresses /v1/auth/sign-in/phone '{' '}' >"$scratch/signing-$turn"
        [[ $turn == in ]] || send_all "$scratch/signing-up" "$connections" >/dev/null
        network=$((network + 1))
    done
    measure_appending code 1 "$scratch/signing-in" "$connections" --warm-up 64 \
        --expect '"is_new_user":false'
}

# Signs people in with passwords, which takes all processors, and measures the latency of links meanwhile and without.
measure_passwords() {
    local hash='","password":"correct horse battery staple"}' answer loader name
    seq 1 "$hashed" | awk -v round="$round" '{ printf "person-%d-%d@example.com\n", round, $1 }' \
        >"$scratch/mailboxes"
    requests_to_addresses /v1/auth/sign-up/password '{"email":"' "$hash" <"$scratch/mailboxes" >"$scratch/asking"
    codes_of "$scratch/asking" "$scratch/mailboxes" $((100 + round)) |
        requests_to_addresses /v1/auth/sign-in/password '{' '}' >"$scratch/signing-up"
    send_all "$scratch/signing-up" "$connections" --keep device_token "$scratch/devices" >/dev/null
    # From a device that is known: the first sign-in from any other one also sends a notice.
    paste -d '"' "$scratch/mailboxes" "$scratch/devices" | sed 's/"/","device_token":"/' |
        requests_to_addresses /v1/auth/sign-in/password '{"email":"' "$hash" >"$scratch/once"
    cat "$scratch/once" "$scratch/once" >"$scratch/signing-in"
    record argon2_per_second "$("$load_program" hash "$yardstick_seconds")"
    measure_appending password 1 "$scratch/signing-in" "$connections" --warm-up 32 \
        --expect '"is_new_user":false'

    for name in link_quiet link_beside; do
        mint_tokens apple "$name$round" "$alone" "$scratch/quiet.apple"
        mint_tokens google "$name$round" "$alone" "$scratch/quiet.google"
        requests_with_tokens POST /v1/auth/sign-in/apple "$scratch/quiet.apple" >"$scratch/signing-up"
        send_all "$scratch/signing-up" "$connections" --keep access_token "$scratch/quiet.access" >/dev/null
        requests_with_tokens POST /v1/auth/link/google "$scratch/quiet.google" "$scratch/quiet.access" \
            >"$scratch/linking"
        settle
        if [[ $name == link_beside ]]; then
            # Not by a function, whose shell would be stopped in its place.
            "$load_program" run "${server_address##*:}" "$scratch/once" 32 --repeat 1000 >/dev/null 2>&1 &
            loader=$!
        fi
        answer=$(send_all "$scratch/linking" "$connections" --warm-up 64 --expect 'linked successfully')
        record_figures "$name" "$answer"
    done
    kill -0 "$loader" 2>/dev/null || fail "the passwords ended before the links"
    stop_child "$loader" "$stop_seconds_max"
    # The server answers the sign-ins that it has begun, and appends their events, before these.
    head -n 4 "$scratch/once" >"$scratch/last"
    send_all "$scratch/last" 1 >/dev/null
}

# Links over many tenants in turn. Their people use the same Apple tokens as those of `default`, and new
# Google ones.
measure_tenants() {
    mint_tokens google "tenants$round" "$links" "$scratch/google-of-tenants"
    head -n "$links" "$scratch/apple" >"$scratch/apple-of-tenants"
    sign_in_new_people '/t/bench-%d/v1/auth/sign-in/apple' "$scratch/apple-of-tenants" \
        "$scratch/of-tenants" >/dev/null
    requests_with_tokens POST '/t/bench-%d/v1/auth/link/google' "$scratch/google-of-tenants" \
        "$scratch/of-tenants.access" >"$scratch/linking-tenants"
    measure_appending tenants 1 "$scratch/linking-tenants" "$connections" --warm-up "$warm_up" \
        --expect 'linked successfully'
}
