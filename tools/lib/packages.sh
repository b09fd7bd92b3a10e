# shellcheck shell=bash
# Lists the Debian packages that the tools need, and installs those that are missing.

# shellcheck disable=SC2034 # set_up finds these arrays by their names

# The dependencies of the Swift toolchain, which are not in its archive.
readonly packages_of_swift=(
    binutils g++ git libc6-dev libcurl4 libgcc-s1 libncurses6 libsqlite3-0 libuuid1 libxml2 tzdata
    zlib1g
)
# The C libraries of the server.
readonly packages_of_server=(
    ca-certificates libarchive-dev libargon2-dev libcrypt-dev libcurl4-openssl-dev libfido2-dev libidn2-dev
    libjemalloc-dev libmicrohttpd-dev liboath-dev libphonenumber-dev libpq-dev libqrencode-dev libssl-dev
    libunistring-dev pkg-config
)
# Any installed server version is sufficient; the package without a version is for machines without one.
packages_of_postgres=(postgresql)
if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
    packages_of_postgres=()
fi
readonly packages_of_postgres
readonly packages_of_walk_through=(curl jq oathtool openssl)
readonly packages_of_demo=(nodejs)
# Third-party programs for verifying proofs, bundles, tokens and password hashes.
readonly packages_of_verifiers=(argon2 golang-go golang-golang-x-mod-dev openssl python3 python3-venv)
# Proxies that tests put in front of the server.
readonly packages_of_proxies=(haproxy nginx)
readonly packages_of_format=()
readonly packages_of_lint=(node-typescript nodejs shellcheck)
readonly packages_of_python=(python3 python3-venv)
# For the tests of the JavaScript client.
readonly packages_of_javascript=(chromium-headless-shell nodejs)
readonly packages_of_bench=(jq time)
# `column`, for the tables of tools/chaos and tools/overload.
readonly packages_of_tables=(bsdextrautils)
# The machines of tools/chaos --failover.
readonly packages_of_failover=(etcd-server iproute2 patroni)

# tools/package, and its checks.
readonly packages_of_package=(binutils dpkg-dev groff-base jq mmdebstrap xz-utils)
readonly packages_of_package_check=(iproute2 skopeo systemd systemd-container util-linux)
# tools/operations: promtool is in Debian's package of the server.
readonly packages_of_operations=(caddy curl jq nginx openssl prometheus python3 python3-venv)

# Prints those of the named packages that are neither installed nor provided by one that is.
missing_packages() {
    local installed package
    # Newer releases rename packages and list the former names, such as "libcurl4 (= 8.14),", in Provides.
    installed=$(
        dpkg-query --show --showformat='${db:Status-Abbrev}|${Package} ${Provides}\n' |
            sed -n 's/^ii *|//p' | sed 's/([^)]*)//g; s/[, |]\+/\n/g'
    )
    for package in "$@"; do
        grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
    done
}

# Installs those of the named packages that are missing, and prints them.
install_packages() {
    local missing as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail "this is not a Debian system (no apt-get); install the equivalents of these Debian packages: $*"
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [[ ${#missing[@]} -eq 0 ]]; then
        return
    fi
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null ||
            fail "missing Debian packages, which only root or sudo can install: ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing missing Debian packages: ${missing[*]}"
    keep_main_cluster_away "${missing[@]}"
    keep_services_away
    if ! run_apt_get "${missing[@]}" >"$local_directory/apt.log" 2>&1; then
        allow_main_cluster "${as_root[@]}"
        allow_services "${as_root[@]}"
        tail -n 20 "$local_directory/apt.log" >&2
        fail "apt-get could not install: ${missing[*]}"
    fi
    allow_main_cluster "${as_root[@]}"
    allow_services "${as_root[@]}"
    keep_from_booting "${missing[@]}"
}

# Called in a condition, where `set -e` has no effect: every step handles its failure.
# Nothing is removed: the user must resolve conflicts with installed packages.
run_apt_get() {
    "${as_root[@]}" apt-get update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install --yes --no-remove --no-install-recommends "$@"
}

# Debian creates a cluster on port 5432 when its Postgres server is installed. That cluster is not needed,
# so it is not created; the setting is restored afterwards.
readonly main_cluster_switch=/etc/postgresql-common/createcluster.d/account-ledger.conf

keep_main_cluster_away() {
    if [[ " $* " == *' postgresql '* ]]; then
        # Also when a signal ends the tool meanwhile.
        at_exit allow_main_cluster "${as_root[@]}"
        "${as_root[@]}" mkdir -p "$(dirname "$main_cluster_switch")"
        "${as_root[@]}" tee "$main_cluster_switch" >/dev/null <<<'create_main_cluster = false'
    fi
}

# The arguments are the command that runs it as root.
allow_main_cluster() {
    if [[ -e $main_cluster_switch ]]; then
        "$@" rm -f "$main_cluster_switch"
    fi
}

# Debian starts the services of the packages that it installs, such as nginx on port 80; only the programs of
# the proxies are needed. An existing policy of the machine is kept.
readonly services_switch=/usr/sbin/policy-rc.d

keep_services_away() {
    if [[ ! -e $services_switch ]]; then
        # Also when a signal ends the tool meanwhile.
        at_exit allow_services "${as_root[@]}"
        "${as_root[@]}" tee "$services_switch" >/dev/null <<<$'#!/bin/sh\n# account-ledger\nexit 101'
        "${as_root[@]}" chmod 755 "$services_switch"
    fi
}

# The arguments are the command that runs it as root.
allow_services() {
    if [[ -e $services_switch ]] && grep -qx '# account-ledger' "$services_switch"; then
        "$@" rm -f "$services_switch"
    fi
}

# Services whose programs alone are needed are not started with the machine either.
keep_from_booting() {
    local package
    for package in "${packages_of_proxies[@]}" "${packages_of_failover[@]}" caddy prometheus; do
        if [[ $package != iproute2 && " $* " == *" $package "* && -d /run/systemd/system ]]; then
            "${as_root[@]}" systemctl disable --quiet "${package%-server}"
        fi
    done
}
