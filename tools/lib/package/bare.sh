#!/usr/bin/env bash
# The part of tools/package --check that runs in a bare Debian root, as its only process: a function of this file.

set -euo pipefail
shopt -s inherit_errexit

say() { printf '    %s\n' "$*" >&2; }
fail() { printf 'bare root: %s\n' "$*" >&2; exit 1; }

# Checks that a command is refused.
refused() {
    if "$@" >/tmp/refused 2>&1; then fail "not refused: $*"; fi
}

expect_mode() {
    local found
    found=$(stat -c '%a %U:%G' "$2")
    [[ $found == "$1" ]] || fail "$2 is $found, not $1"
}

as_postgres() { runuser -u postgres -- "$@"; }

start_postgres() {
    mkdir -p /run/postgresql
    chown postgres:postgres /run/postgresql
    pg_ctlcluster 15 main start
}

# The server outlives its shell only until the end of this process.
start_server() {
    : >/tmp/server.log
    account-ledgerctl serve 2>/tmp/server.log &
    server=$!
    local waited=0
    until grep -q '"msg":"ready"' /tmp/server.log; do
        kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat /tmp/server.log)"
        ((waited++ < 300)) || fail "the server is not ready: $(cat /tmp/server.log)"
        sleep 0.1
    done
    [[ $(stat -c %U "/proc/$server") == account-ledger ]] || fail "the server runs as another login"
}

stop_server() {
    kill -TERM "$server"
    wait "$server" || fail "the server ended with $?: $(tail -n 3 /tmp/server.log)"
}

ask() { curl --silent --show-error --fail-with-body --max-time 20 --header 'Content-Type: application/json' "$@"; }

id_token() { ask "http://127.0.0.1:8080/dev/idp/$1/token?name=$2" | jq -r .id_token; }

signed_in() { ask --data "{\"id_token\":\"$(id_token "$1" "$2")\"}" "http://127.0.0.1:8080/v1/auth/sign-in/$1"; }

settings() { sed -i "s|^#\?$1=.*|$1=$2|" "/etc/account-ledger/${3:-environment}"; }

# Values that systemd reads in another way: it drops backslashes and joins what stands beside quotes.
refuses_other_settings() {
    local value
    cp /etc/account-ledger/operator /root/operator
    for value in 'a\b' '"a"b' '"a\"b"' '"a' "'a'b'"; do
        printf 'LEDGER_SMTP_PASSWORD=%s\n' "$value" >>/etc/account-ledger/operator
        refused account-ledgerctl help
        grep -q 'LEDGER_SMTP_PASSWORD: put' /tmp/refused || fail "$value: $(cat /tmp/refused)"
        cp /root/operator /etc/account-ledger/operator
    done
    printf "LEDGER_SMTP_PASSWORD='%s'\n" 'a\b"c' >>/etc/account-ledger/operator
    account-ledgerctl help >/dev/null || fail "single quotes are refused"
    cp /root/operator /etc/account-ledger/operator
}

install_former() {
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    apt-get update -qq
    apt-get install -qq --no-install-recommends /former.deb postgresql curl jq >/tmp/apt.log 2>&1 ||
        fail "$(tail -n 20 /tmp/apt.log)"
    say "installed $(dpkg-query --show account-ledger | tr '\t' ' ') and $(dpkg-query --show postgresql-15 | tr '\t' ' ')"
    expect_mode '600 root:root' /etc/account-ledger/environment
    expect_mode '600 root:root' /etc/account-ledger/operator
    expect_mode '640 root:account-ledger' /etc/account-ledger/providers.json
    expect_mode '700 account-ledger:account-ledger' /var/lib/account-ledger/keys
    [[ $(getent passwd account-ledger | cut -d : -f 7) == /usr/sbin/nologin ]] || fail "the login has a shell"
    ! pgrep -x account-ledger >/dev/null 2>&1 || fail "the installation started the server"
    refused runuser -u nobody -- account-ledgerctl verify
    [[ $(account-ledgerctl verify 2>&1) == *DATABASE_URL* ]] || fail "verify without a database: $(account-ledgerctl verify 2>&1)"
}

serve_former() {
    start_postgres
    as_postgres createuser account-ledger
    as_postgres psql --quiet --command "CREATE ROLE account_ledger_owner LOGIN SUPERUSER PASSWORD 'of the owner'"
    as_postgres createdb --owner account_ledger_owner account_ledger
    settings LEDGER_MIGRATE_URL 'postgresql://account_ledger_owner:of%20the%20owner@127.0.0.1/account_ledger' operator
    # The imitated providers of this mode sign people in without a network.
    settings LEDGER_PROVIDERS ''
    settings LEDGER_SEALER_STATE /var/lib/account-ledger/sealer
    settings LEDGER_ORIGIN ledger.example.com/accounts
    # Blanks around it are no part of a setting for systemd, and so for account-ledgerctl.
    echo 'LEDGER_MODE= development  ' >>/etc/account-ledger/environment
    refuses_other_settings
    refused account-ledgerctl serve
    account-ledgerctl migrate >&2
    start_server
    local session name
    for name in ada ben eve; do
        session=$(signed_in google "$name")
    done
    session=$(signed_in google ada)
    ask --header "Authorization: Bearer $(jq -r .access_token <<<"$session")" \
        --data "{\"id_token\":\"$(id_token apple ada)\"}" http://127.0.0.1:8080/v1/auth/link/apple >/tmp/linked
    jq -e '.linked_providers == ["google", "apple"]' /tmp/linked >/dev/null || fail "$(cat /tmp/linked)"
    printf '%s\n' "$session" >/root/session
    account-ledgerctl replay --account "$(jq -r .user_id /root/session)" --format json | jq -c .entry >/root/history
    [[ $(wc -l </root/history) -ge 3 ]] || fail "a history of $(wc -l </root/history) events"
    stop_server
    account-ledgerctl verify >/tmp/verify || fail "$(cat /tmp/verify)"
    say "the former release: $(wc -l </root/history) events of an account; $(tail -n 1 /tmp/verify)"
}

upgrade() {
    echo '# an edit of the operator' >>/etc/account-ledger/environment
    sha256sum /etc/account-ledger/* /var/lib/account-ledger/keys/* >/root/before
    # Both releases and the operator have changed the file; without a terminal dpkg can't ask.
    apt-get install -qq --no-install-recommends -o Dpkg::Options::=--force-confold /new.deb >/tmp/apt.log 2>&1 ||
        fail "$(tail -n 20 /tmp/apt.log)"
    expect_mode '600 root:root' /etc/account-ledger/environment.dpkg-dist
    grep -q 'Stop every server' /tmp/apt.log || fail "no word about the migration: $(cat /tmp/apt.log)"
    sha256sum --quiet --check /root/before || fail "the upgrade changed settings or keys"
    say "upgraded to $(dpkg-query --show account-ledger | tr '\t' ' ')"
}

serve_upgraded() {
    start_postgres
    if [[ $(account-ledgerctl migrate | tee -a /dev/stderr) == *'applied nothing'* ]]; then
        say "no migration"
    fi
    start_server
    local account session
    account=$(jq -r .user_id /root/session)
    account-ledgerctl replay --account "$account" --format json | jq -c .entry | head -n "$(wc -l </root/history)" |
        cmp - /root/history || fail "the history of the former release has changed"
    session=$(ask --data "{\"refresh_token\":\"$(jq -r .refresh_token /root/session)\"}" http://127.0.0.1:8080/v1/auth/refresh)
    ask --header "Authorization: Bearer $(jq -r .access_token <<<"$session")" http://127.0.0.1:8080/v1/account |
        jq -e --arg account "$account" '[.identities[].provider] == ["google", "apple"]' >/dev/null ||
        fail "the account has other identities"
    [[ $(signed_in apple ada | jq -r .user_id) == "$account" ]] || fail "an identity signs in to another account"
    ask http://127.0.0.1:9090/readyz >/tmp/ready || fail "not ready: $(cat /tmp/ready)"
    stop_server
    account-ledgerctl verify >/tmp/verify || fail "$(cat /tmp/verify)"
    say "upgraded: the session is refreshed, the history is equal; $(tail -n 1 /tmp/verify)"
}

# From nothing, with the settings of the package and the production mode.
serve_packaged_settings() {
    start_postgres
    mkdir /root/kept
    mv /etc/account-ledger/* /var/lib/account-ledger/keys /var/lib/account-ledger/sealer /root/kept
    dpkg-deb --extract /new.deb /root/package
    cp -p /root/package/etc/account-ledger/* /etc/account-ledger/
    chmod 644 /etc/account-ledger/providers.json
    as_postgres createdb --owner account_ledger_owner another
    settings DATABASE_URL 'postgresql:///another?host=/var/run/postgresql'
    settings LEDGER_MIGRATE_URL 'postgresql://account_ledger_owner:of%20the%20owner@127.0.0.1/another' operator
    account-ledgerctl migrate >/dev/null
    start_server
    grep -q '"mode":"production"' /tmp/server.log || fail "another mode: $(cat /tmp/server.log)"
    ask http://127.0.0.1:9090/readyz >/tmp/ready || fail "not ready: $(cat /tmp/ready)"
    stop_server
    expect_mode '700 account-ledger:account-ledger' /var/lib/account-ledger/keys
    rm -rf /var/lib/account-ledger/keys
    cp -p /root/kept/{environment,operator,providers.json} /etc/account-ledger/
    mv /root/kept/keys /root/kept/sealer /var/lib/account-ledger/
    completes
    say "the packaged settings serve in production mode"
}

# Of the new release: a former one has no scripts.
completes() {
    local words
    words=$(bash -c '. /usr/share/bash-completion/completions/account-ledgerctl
        COMP_WORDS=(account-ledgerctl keys ro) COMP_CWORD=2
        _account_ledger
        printf "%s " "${COMPREPLY[@]}"')
    [[ $words == 'rotate ' ]] || fail "the completion of 'keys ro' is '$words'"
}

remove() {
    apt-get remove -qq account-ledger >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"
    [[ ! -e /usr/bin/account-ledger && -e /etc/account-ledger/environment ]] || fail "remove left or took too much"
    compgen -G '/var/lib/account-ledger/keys/*.key' >/dev/null || fail "there are no keys"
    sha256sum /var/lib/account-ledger/keys/* >/root/keys
    apt-get purge -qq account-ledger >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"
    [[ ! -e /etc/account-ledger ]] || fail "purge left $(find /etc/account-ledger)"
    sha256sum --quiet --check /root/keys || fail "purge destroyed keys"
    grep -q 'has keys, and is kept' /tmp/apt.log || fail "no word about the keys: $(cat /tmp/apt.log)"
    apt-get install -qq --no-install-recommends /new.deb >/tmp/apt.log 2>&1 || fail "$(tail -n 20 /tmp/apt.log)"
    expect_mode '640 root:account-ledger' /etc/account-ledger/providers.json
    expect_mode '700 account-ledger:account-ledger' /var/lib/account-ledger/keys
    runuser -u account-ledger -- sha256sum --quiet --check - </root/keys ||
        fail "the login of a second installation can't read the keys"
    apt-get purge -qq account-ledger >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"
    say "removed, purged and installed again; the keys are kept"
}

"$@"
