# shellcheck shell=bash
# The ledger of a part of tools/operations: a cluster, settings, and people.

# Starts a cluster of its own and sets DATABASE_URL and the settings of a development server that seals.
make_ledger() {
    start_throw_away_cluster "$1"
    use_cluster "$cluster"
    export LEDGER_MODE=development LEDGER_KEYS="$scratch/keys" LEDGER_SEALER_STATE="$scratch/sealer"
    export LEDGER_ORIGIN=ledger.example.com/accounts
    export LEDGER_LISTEN=127.0.0.1:0 LEDGER_ADMIN_LISTEN=127.0.0.1:0
    "$server_program" migrate >"$scratch/migrate.log"
}

ask() {
    curl --silent --show-error --max-time 20 --header 'Content-Type: application/json' "$@"
}

# Prints an ID token of an imitated provider: id_token PROVIDER NAME.
id_token() {
    ask --fail "http://$server_address/dev/idp/$1/token?name=$2" | jq -r .id_token
}

# Signs a person in with Google and prints the session: sign_in NAME [ADDRESS OF THE SERVER].
sign_in() {
    ask --fail --data "{\"id_token\":\"$(id_token google "$1")\"}" \
        "${2-http://$server_address}/v1/auth/sign-in/google"
}

# Prints the value of a metric, or nothing: metric 'NAME{LABELS}'.
metric() {
    ask "http://$server_admin_address/metrics" | awk -v name="$1" '$1 == name { print $2 }'
}

# Runs a command until it succeeds, at most for the given seconds: eventually SECONDS COMMAND ...
eventually() {
    local waited=0 seconds=$1
    shift
    until "$@"; do
        ((waited++ < seconds * 10)) || fail "not within $seconds s: $*"
        sleep 0.1
    done
}

# Checks that two texts are equal: expect NAME WANTED FOUND.
expect() {
    [[ $2 == "$3" ]] || fail "$1 is '$3', not '$2'"
}
