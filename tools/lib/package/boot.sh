#!/usr/bin/env bash
# The part of tools/package --check that runs in a booted container: the units under systemd. It writes its outcome to
# /outcome and powers the container off.

set -euo pipefail
shopt -s inherit_errexit
exec >/outcome 2>&1
trap 'systemctl --no-block poweroff' EXIT

fail() {
    printf 'boot: %s\n' "$*"
    journalctl --unit account-ledger --output cat --no-pager | tail -n 20
    exit 1
}

is_ready() { curl --silent --fail http://127.0.0.1:9090/readyz >/dev/null; }

metric() { curl --silent http://127.0.0.1:9090/metrics | awk -v name="$1{tenant=\"default\"}" '$1 == name { print $2 }'; }

is_signed() { [[ $(metric ledger_signed_size) == "$(metric ledger_head_position)" ]]; }

is_sealing() { journalctl --unit account-ledger-seal --output cat --no-pager | grep -q '"msg":"sealing"'; }

is_another() { [[ $(main_process) != "$1" ]] && is_ready; }

main_process() { systemctl show --property MainPID --value account-ledger; }

eventually() {
    local waited=0
    until "$@"; do
        ((waited++ < 300)) || fail "not within 30 s: $*"
        sleep 0.1
    done
}

as_postgres() { runuser -u postgres -- "$@"; }

dpkg --install /root/account-ledger.deb
systemctl start postgresql
for unit in account-ledger account-ledger-seal; do
    [[ $(systemctl is-enabled "$unit" || true) == disabled ]] || fail "the installation enabled $unit"
    [[ $(systemctl is-active "$unit" || true) == inactive ]] || fail "the installation started $unit"
done
as_postgres createuser account-ledger
as_postgres psql --quiet --command "CREATE ROLE account_ledger_owner LOGIN SUPERUSER PASSWORD 'owner'"
as_postgres createdb --owner account_ledger_owner account_ledger
sed -i 's|^#LEDGER_MIGRATE_URL=.*|LEDGER_MIGRATE_URL=postgresql://account_ledger_owner:owner@127.0.0.1/account_ledger|' \
    /etc/account-ledger/operator
sed -i 's/^#\(LEDGER_SEALER_STATE\|LEDGER_ORIGIN\)/\1/' /etc/account-ledger/environment
echo '{"providers": [{"name": "anonymous", "type": "anonymous"}]}' >/etc/account-ledger/providers.json
account-ledgerctl migrate
systemctl enable --now account-ledger.service account-ledger-verify.timer
eventually is_ready

process=$(main_process)
for line in 'NoNewPrivs:	1' 'Seccomp:	2' 'CapEff:	0000000000000000'; do
    grep -qx "$line" "/proc/$process/status" || fail "the server is not restricted: $line"
done
[[ $(stat -c %U "/proc/$process") == account-ledger ]] || fail "the server runs as another login"
curl --silent --fail --output /dev/null --header 'Content-Type: application/json' --data '{}' \
    http://127.0.0.1:8080/v1/auth/sign-in/anonymous || fail "no sign-in"
eventually is_signed
systemctl start account-ledger-verify.service || fail "the verification failed"

# Beside the server, with its record: two sealers take turns.
sed -i -e 's|^#DATABASE_URL=.*|DATABASE_URL=postgresql:///account_ledger?host=/var/run/postgresql|' \
    -e 's/^#\(LEDGER_ORIGIN\)/\1/' /etc/account-ledger/seal.env
systemctl enable --now account-ledger-seal.service
eventually is_sealing
[[ $(systemctl show --property NRestarts --value account-ledger-seal) -eq 0 ]] || fail "the sealer ended by itself"

kill -KILL "$process"
eventually is_another "$process"
systemctl restart account-ledger || fail "no restart"
eventually is_ready
[[ $(systemctl show --property NRestarts --value account-ledger) -le 1 ]] || fail "the server ended by itself"

dpkg --remove account-ledger
for unit in account-ledger account-ledger-seal; do
    [[ $(systemctl is-active "$unit" || true) == inactive ]] || fail "the removal left $unit running"
done
! compgen -G '/etc/systemd/system/*.wants/account-ledger*' >/dev/null || fail "the removal left the service enabled"
dpkg --purge account-ledger
compgen -G '/var/lib/account-ledger/keys/*.key' >/dev/null || fail "the purge destroyed the keys"
echo passed
