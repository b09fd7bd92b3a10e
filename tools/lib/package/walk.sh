#!/usr/bin/env bash
# The part of tools/package --walk that runs in a booted container: from Debian's packages to a served, sealed and
# monitored ledger behind TLS, as the pages for operators say. Prints each command with its output to /outcome.

set -euo pipefail
shopt -s inherit_errexit
exec >/outcome 2>&1
trap 'systemctl --no-block poweroff' EXIT
export LC_ALL=C.UTF-8 PAGER=cat
cd /tmp

fail() {
    printf 'walk: %s\n' "$*"
    journalctl --unit account-ledger --unit nginx --unit prometheus --output cat --no-pager | tail -n 20
    exit 1
}

# Runs a command line, and prints it with its output.
run() {
    printf '\n$ %s\n' "$1"
    eval "$1" || fail "status $? of: $1"
}

title() { printf '\n# %s\n' "$1"; }

# Repeats a command line until it succeeds, for 60 s, and prints it with its last output.
eventually() {
    local waited=0 output
    until output=$(eval "$1" 2>&1); do
        ((waited++ < 600)) || fail "not within 60 s: $1: $output"
        sleep 0.1
    done
    printf '\n$ %s\n%s\n' "$1" "$output"
}

readonly examples=/usr/share/doc/account-ledger/examples
readonly ledger=https://ledger.example.com

# A newcomer installs both later: until then Prometheus would take the port of the admin listener.
systemctl disable --quiet --now nginx prometheus

title 'Installation'
run 'apt-get install --quiet --quiet --yes /root/account-ledger.deb 2>&1 | tail -n 1'
run 'systemctl start postgresql'
run 'runuser -u postgres -- createuser account-ledger'
# As createuser --superuser --pwprompt, which asks.
run "runuser -u postgres -- psql --quiet --command \"CREATE ROLE account_ledger_owner LOGIN SUPERUSER PASSWORD 'owner'\""
run 'runuser -u postgres -- createdb --owner account_ledger_owner account_ledger'

title 'Settings'
run "sed -i 's|^#\\(LEDGER_MIGRATE_URL=.*\\):PASSWORD@|\\1:owner@|' /etc/account-ledger/operator"
run "sed -i 's/^#\\(LEDGER_PUBLIC_URL\\|LEDGER_SEALER_STATE\\|LEDGER_ORIGIN\\)/\\1/' /etc/account-ledger/environment"
run "echo '{\"providers\": [{\"name\": \"anonymous\", \"type\": \"anonymous\"}]}' >/etc/account-ledger/providers.json"

title 'Begin'
run 'account-ledgerctl migrate'
run 'systemctl enable --now --quiet account-ledger.service account-ledger-verify.timer'
eventually 'curl --silent --show-error --fail http://127.0.0.1:9090/readyz'

title 'A reverse proxy with TLS, with a certificate of an authority made here'
run 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=Test CA" -keyout ca.key -out ca.pem 2>/dev/null'
run 'openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=ledger.example.com" -keyout /etc/ssl/private/ledger.example.com.key -out ledger.csr 2>/dev/null'
run 'openssl x509 -req -in ledger.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile <(echo subjectAltName=DNS:ledger.example.com) -out /etc/ssl/ledger.example.com.pem 2>/dev/null'
run 'echo 127.0.0.1 ledger.example.com >>/etc/hosts'
run "install -m 644 $examples/nginx.conf /etc/nginx/conf.d/ledger.conf"
run 'nginx -t'
run 'systemctl enable --quiet --now nginx'
run "curl --silent --show-error --fail --cacert ca.pem $ledger/healthz"
run "curl --silent --output /dev/null --write-out '%{http_code} to %{redirect_url}\\n' http://ledger.example.com/account"
run "curl --silent --show-error --fail --cacert ca.pem --json '{}' $ledger/v1/auth/sign-in/anonymous | jq 'del(.access_token, .refresh_token, .anonymous_secret)'"

title 'Monitoring: a Prometheus on the same machine, at another port than the admin listener'
run "echo 'ARGS=\"--web.listen-address=127.0.0.1:9099\"' >/etc/default/prometheus"
run "install -m 644 $examples/prometheus.yml $examples/alerts.yml /etc/prometheus/"
run 'promtool check config /etc/prometheus/prometheus.yml'
run 'systemctl enable --quiet --now prometheus'
eventually "curl --silent http://127.0.0.1:9099/api/v1/targets | jq --exit-status --raw-output '.data.activeTargets[] | select(.health == \"up\") | .scrapeUrl + \" \" + .health'"
eventually "curl --silent --get --data-urlencode 'query=ledger_head_position - ledger_signed_size' http://127.0.0.1:9099/api/v1/query | jq --exit-status '.data.result[0].value[1] == \"0\"'"
run "curl --silent http://127.0.0.1:9099/api/v1/alerts | jq --compact-output '[.data.alerts[] | select(.state == \"firing\")]'"

title 'The ledger is served, sealed and sound'
run 'account-ledgerctl doctor'
run 'systemctl start account-ledger-verify.service && systemctl show --property Result account-ledger-verify.service'
run 'account-ledgerctl verify'
printf '\npassed\n'
