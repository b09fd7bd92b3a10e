# shellcheck shell=bash
# A private Postgres cluster with its own directory, port, socket and logins with passwords, and default
# durability. The machine's own clusters are neither changed nor read.
#
#   <cluster>/data                     the data directory, mode 0700
#   <cluster>/socket                   the socket directory, mode 0700
#   <cluster>/postgres.log             the server's log
#   <cluster>/<login>.password         mode 0600
#   <cluster>/port                     the port of the last start, kept when it is still free
#   <cluster>/starter                  which process started the server and so stops it

readonly cluster_owner=ledger_owner
# A socket's address holds 107 bytes, and its name in the directory takes some of them.
readonly socket_directory_bytes_max=90
readonly cluster_seconds_max=60
# The free memory required for a cluster in memory; tests need a tenth of it.
readonly memory_mebibytes_min=4096

# Prints the directory of the newest installed server's programs.
postgres_programs() {
    local newest
    newest=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1) || true
    [[ -x $newest/initdb ]] || fail "no Postgres server is installed under /usr/lib/postgresql"
    printf '%s\n' "$newest"
}

# Runs a command as the login that owns the cluster: Postgres refuses to run as root.
as_cluster_login() {
    if [[ $EUID -eq 0 ]]; then
        # That login may have no access to the caller's directory.
        (cd / && exec runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

# Prints a directory in memory, for clusters without durability; fails if there is too little memory.
#
# Creating and dropping a database makes and deletes hundreds of files, which takes a disk's file system half of
# the time of most tests.
directory_in_memory() {
    local directory available
    available=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || return 1
    ((available >= memory_mebibytes_min)) || return 1
    directory="/dev/shm/account-ledger-$(sha256sum <<<"$repository" | head -c 12)"
    # /dev/shm is world-writable, so the directory may belong to another user.
    mkdir -m 711 "$directory" 2>/dev/null || [[ -d $directory && ! -L $directory && -O $directory ]] || return 1
    printf '%s\n' "$directory"
}

# Creates the directory of the named cluster and prints its path.
#
# It is in the checkout, or in the directory that `cluster_parent` names, with a link to it in the checkout.
# As root the server runs under another login, which may have no access to the checkout; then it is under
# /var/lib, with a link to it in the checkout.
make_cluster_directory() {
    local link="$local_directory/$1" directory
    if [[ $EUID -eq 0 ]] && ! id postgres >/dev/null 2>&1; then
        fail "run as root, the server needs the login postgres, which Debian's package makes"
    fi
    directory=$link
    if [[ -L $link ]]; then
        directory=$(readlink "$link")
    elif [[ -n ${cluster_parent-} ]]; then
        directory=$cluster_parent/$1
        ln -s "$directory" "$link"
    elif [[ ! -d $link && $EUID -eq 0 ]] &&
        ! as_cluster_login test -x "$local_directory"; then
        directory="/var/lib/account-ledger/$(sha256sum <<<"$repository" | head -c 12)"
        mkdir -p "$directory"
        chmod 711 "$directory" "$(dirname "$directory")"
        directory+="/$1"
        ln -s "$directory" "$link"
        say "The login postgres can't reach the checkout: the cluster lies in $directory"
    fi
    mkdir -p "$directory"
    if [[ $EUID -eq 0 ]]; then
        chown postgres: "$directory"
    fi
    chmod 700 "$directory"
    printf '%s\n' "$directory"
}

# Creates the data directory, unless it exists.
create_cluster() {
    local cluster=$1 programs
    programs=$(postgres_programs)
    # Settings for the caller's own databases, such as PGPORT or PGSSLMODE, do not apply.
    unset "${!PG@}"
    if [[ -e $cluster/data/PG_VERSION ]]; then
        require_same_version "$cluster" "$programs"
        return
    fi
    say "Creating a private Postgres cluster in $cluster"
    # An interrupted initdb leaves no incomplete `data` behind.
    as_cluster_login rm -rf "$cluster/data.new"
    make_password "$cluster" "$cluster_owner"
    as_cluster_login "$programs/initdb" --pgdata="$cluster/data.new" --username="$cluster_owner" \
        --pwfile="$cluster/$cluster_owner.password" --auth=scram-sha-256 --encoding=UTF8 \
        --locale=C.UTF-8 --no-instructions >"$local_directory/initdb.log" 2>&1 ||
        fail "initdb failed: $(tail -n 3 "$local_directory/initdb.log")"
    as_cluster_login tee -a "$cluster/data.new/postgresql.conf" >/dev/null \
        <<<"include_if_exists = 'private.conf'"
    as_cluster_login mv "$cluster/data.new" "$cluster/data"
}

require_same_version() {
    local made installed
    made=$(cat "$1/data/PG_VERSION")
    installed=$(basename "$(dirname "$2")")
    [[ $made == "$installed" ]] ||
        fail "the cluster in $1 is of Postgres $made and the installed server is $installed:" \
            "dump it with the old one, or delete the directory to begin anew"
}

# Creates a random password for a login, in a file that only the cluster's login (and root) can read.
make_password() {
    # shellcheck disable=SC2016 # $1 is for the shell that makes the file as its owner
    as_cluster_login bash -c \
        'umask 077; od -An -N 24 -tx1 /dev/urandom | tr -d " \n" >"$1"' _ "$1/$2.password"
}

# Prints the URL of a login and database of a running cluster.
cluster_url() {
    printf 'postgresql://%s:%s@127.0.0.1:%s/%s\n' \
        "$2" "$(cat "$1/$2.password")" "$(cat "$1/port")" "$3"
}

# Creates the application's login and database, unless they exist.
create_application_database() {
    local cluster=$1 login=$2 database=$3
    if [[ ! -s $cluster/$login.password ]]; then
        make_password "$cluster" "$login"
    fi
    # The password is passed on standard input, so that it is not visible in the list of processes.
    psql_as_owner "$cluster" postgres <<SQL ||
SELECT format('CREATE ROLE %I LOGIN', '$login')
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$login') \gexec
ALTER ROLE "$login" PASSWORD '$(cat "$cluster/$login.password")';
SELECT format('CREATE DATABASE %I', '$database')
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '$database') \gexec
SQL
        fail "could not create the database $database; see $cluster/postgres.log"
}

# Runs SQL from standard input as the cluster's owner; further arguments are psql's.
psql_as_owner() {
    PGPASSWORD=$(cat "$1/$cluster_owner.password") "$(postgres_programs)/psql" --no-psqlrc \
        --quiet --set=ON_ERROR_STOP=1 --host=127.0.0.1 --port="$(cat "$1/port")" \
        --username="$cluster_owner" --dbname="$2" "${@:3}"
}
