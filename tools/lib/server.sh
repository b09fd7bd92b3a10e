# shellcheck shell=bash
# The server of a tool: builds, configures, starts and stops it.

# shellcheck source=tools/lib/build.sh
source "$repository/tools/lib/build.sh"

readonly application_login=ledger_app
readonly application_database=account_ledger
readonly ready_seconds_max=30
# More than the time that the server gives accepted requests.
readonly stop_seconds_max=20

# Points DATABASE_URL and LEDGER_MIGRATE_URL at the application's database in a private cluster.
use_cluster() {
    create_application_database "$1" "$application_login" "$application_database"
    DATABASE_URL=$(cluster_url "$1" "$application_login" "$application_database")
    LEDGER_MIGRATE_URL=$(cluster_url "$1" "$cluster_owner" "$application_database")
    export DATABASE_URL LEDGER_MIGRATE_URL
}

# Ends the tool with one line when a listening address of the server is in use.
require_free_address() {
    local name=$1 address=$2 host port
    host=${address%:*}
    port=${address##*:}
    if [[ $port =~ ^[0-9]+$ && $port -gt 0 ]] && is_listening "${host//[\[\]]/}" "$port"; then
        fail "$address is in use by another process; stop it or set $name to a free address"
    fi
}

# Starts the server with its log in the named file, waits until it is ready, and sets `server_process`,
# `server_address` and `server_admin_address`.
start_server() {
    local log=$1 waited=0
    : >"$log"
    chmod 600 "$log"
    launch_server "$log"
    # shellcheck disable=SC2034 # not every tool that sources this sends requests
    while ! server_address=$(ready_member "$log" listen); do
        if ! kill -0 "$server_process" 2>/dev/null; then
            cat "$log" >&2
            fail "the server did not start"
        fi
        ((waited < ready_seconds_max * 10)) ||
            fail "the server was not ready within $ready_seconds_max s; see $log"
        sleep 0.1
        waited=$((waited + 1))
    done
    # shellcheck disable=SC2034 # tools/run prints it
    server_admin_address=$(ready_member "$log" admin) || server_admin_address=''
}

# Starts the server, appends its log to the named file, and sets `server_process`.
#
# In its own session, so that Ctrl-C reaches it only once, from here; it ends when this tool is killed.
launch_server() {
    setsid setpriv --pdeathsig TERM "$server_program" serve >>"$1" 2>&1 &
    server_process=$!
    at_exit stop_child "$server_process" "$stop_seconds_max"
}

# Prints a member of the log line of a ready server; fails before the server is ready.
ready_member() {
    local line
    line=$(grep -m 1 '"msg":"ready"' "$1") || return 1
    jq -er ".$2" <<<"$line" 2>/dev/null
}
