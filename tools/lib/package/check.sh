# shellcheck shell=bash
# Checks the package and the image.

# Builds both again, in another directory with other settings of the caller, and compares the bytes.
check_reproduction() {
    local other="$scratch/again" file
    mkdir -m 755 "$other"
    (build_again "$other")
    for file in "$output/$release".*; do
        cmp "$file" "$other/${file##*/}" || fail "${file##*/} differs in a second build"
    done
    rm -rf "$other"
}

build_again() {
    local scratch="$1/scratch"
    mkdir -m 755 "$scratch"
    umask 077
    export TZ=Pacific/Auckland LC_ALL=C.UTF-8
    build_deb "$executable" "$version" "$1/$release.deb"
    build_image "$1/$release.deb" "$1/$release"
}

check_units() {
    local root="$scratch/units" unit found
    dpkg-deb --extract "$1" "$root"
    # The units that these refer to.
    for unit in basic sysinit network-online shutdown multi-user timers time-sync time-set; do
        install -D -m 644 "/lib/systemd/system/$unit.target" "$root/lib/systemd/system/$unit.target"
    done
    found=$(systemd-analyze --root="$root" verify --man=no account-ledger.service account-ledger-seal.service \
        account-ledger-verify.timer 2>&1)
    [[ -z $found ]] || fail "systemd-analyze verify: $found"
    for unit in account-ledger account-ledger-seal account-ledger-verify; do
        systemd-analyze --offline=true --root="$root" --threshold=15 --no-pager security "$unit.service" |
            tail -n 1 >&2 || fail "$unit.service is exposed more than 1.5 of 10"
    done
}

check_manual() {
    local root="$scratch/manual" page command text warnings
    dpkg-deb --extract "$1" "$root"
    for page in "$root"/usr/share/man/man*/*.gz; do
        warnings=$(zcat "$page" | groff -ww -man -Tutf8 2>&1 >"$scratch/page")
        [[ -z $warnings ]] || fail "groff about ${page##*/}: $warnings"
    done
    zcat "$root/usr/share/man/man1/account-ledger.1.gz" | groff -man -Tascii -P-cbou -rLL=200n >"$scratch/page"
    while IFS= read -r command; do
        grep -qx " *$command" "$scratch/page" || fail "the manual lacks the subcommand $command"
        # shellcheck disable=SC2086 # a command of several words
        while IFS= read -r text; do
            grep -qF -- "$text" "$scratch/page" || fail "the manual lacks $text of $command"
        done < <("$executable" $command --help | sed -n 's/^  \(--[a-z-]*\|[A-Z][A-Z_]*\).*/\1/p' | grep -vx -- --help)
    done < <("$executable" --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z -]*[a-z]\)  .*/\1/p')
}

check_packaged_pages() {
    local root="$scratch/pages"
    dpkg-deb --extract "$1" "$root"
    check_links "$root/usr/share/doc/account-ledger"
}

# Runs a function of tools/lib/package/bare.sh in the root, with or without a network of its own.
in_root() {
    local root=$1 network=$2
    shift 2
    local options=(--mount --pid --fork --kill-child)
    [[ $network == shared ]] || options+=(--net)
    # shellcheck disable=SC2016 # for the shell inside
    unshare "${options[@]}" bash -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/run" || exit
        [[ $2 == shared ]] || ip link set lo up || exit
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
            TMPDIR=/tmp LC_ALL=C.UTF-8 bash /bare.sh "${@:3}"' _ "$root" "$network" "$@"
}

# Changes a file of settings in a package, so that dpkg has to decide at an upgrade whose is kept.
change_packaged_settings() {
    local root="$scratch/changed"
    dpkg-deb --raw-extract "$1" "$root"
    echo '# A line of the former release.' >>"$root/etc/account-ledger/environment"
    dpkg-deb --root-owner-group -Zxz -z1 --build "$root" "$1" >/dev/null
    rm -rf "$root"
}

check_bare_root() {
    local deb=$1 root="$scratch/bare" suite
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Languages "none"' "$suite" "$root" \
        "$(apt_sources "$suite")" >"$local_directory/mmdebstrap.log" 2>&1 ||
        fail "mmdebstrap failed: $(tail -n 5 "$local_directory/mmdebstrap.log")"
    cp /etc/resolv.conf "$root/etc/"
    cp "$repository/tools/lib/package/bare.sh" "$root/bare.sh"
    build_deb "${former:-$executable}" "$version~former" "$root/former.deb"
    change_packaged_settings "$root/former.deb"
    cp "$deb" "$root/new.deb"
    run_interruptibly in_root "$root" shared install_former
    run_interruptibly in_root "$root" own serve_former
    run_interruptibly in_root "$root" shared upgrade
    run_interruptibly in_root "$root" own serve_upgraded
    run_interruptibly in_root "$root" own serve_packaged_settings
    run_interruptibly in_root "$root" shared remove
    rm -rf "$root"
}

# Unpacks the image and serves in it as its login, with the environment of its configuration.
check_image() {
    local layout="$scratch/layout" root="$scratch/unpacked" config layer uid gid
    mkdir -p "$layout" "$root"
    tar --extract --directory="$layout" --file="$1"
    (cd "$layout/blobs/sha256" && find . -type f -printf '%f  %f\n' | sha256sum --quiet --check) ||
        fail "a blob of the image has another digest"
    skopeo inspect "oci-archive:$1" >"$scratch/inspect.json"
    jq -r '"\(.Os)/\(.Architecture), created \(.Created), \(.Layers | length) layer"' "$scratch/inspect.json" >&2
    read -r config layer < <(
        jq -r '.manifests[0].digest[7:]' "$layout/index.json" |
            { read -r digest && jq -r '"\(.config.digest[7:]) \(.layers[0].digest[7:])"' "$layout/blobs/sha256/$digest"; }
    )
    tar --extract --gzip --directory="$root" --file="$layout/blobs/sha256/$layer"
    IFS=: read -r uid gid < <(jq -r .config.User "$layout/blobs/sha256/$config")
    [[ $uid:$gid == "$image_login:$image_login" ]] ||
        fail "the image runs as $uid:$gid, which could not read a volume of the former image"
    [[ $(find "$root" -xdev -perm /6000 -type f | wc -l) -eq 0 ]] || fail "the image has setuid files"
    start_throw_away_cluster image
    use_cluster "$cluster"
    mapfile -t environment < <(jq -r '.config.Env[]' "$layout/blobs/sha256/$config")
    environment+=("DATABASE_URL=$DATABASE_URL" "LEDGER_MIGRATE_URL=$LEDGER_MIGRATE_URL"
        LEDGER_PROVIDERS=/providers.json LEDGER_LISTEN=127.0.0.1:0 "LEDGER_ADMIN_LISTEN=127.0.0.1:$(free_port)")
    cp "$repository/packaging/providers.json" "$root/providers.json"
    # Only the volume can be written.
    mount --bind "$root" "$root"
    at_exit umount "$root"
    mount -t proc proc "$root/proc"
    at_exit umount "$root/proc"
    mount -t tmpfs -o "uid=$uid,gid=$gid,mode=700" tmpfs "$root/var/lib/account-ledger"
    at_exit umount "$root/var/lib/account-ledger"
    mount -o remount,bind,ro "$root"
    image_command=(chroot "--userspec=$uid:$gid" --groups= "$root" env -i "${environment[@]}")
    # shellcheck disable=SC2016 # the variable of the image
    "${image_command[@]}" /bin/sh -c 'file=$(mktemp) && rm "$file"' || fail "exports have no room for their files"
    "${image_command[@]}" /usr/bin/account-ledger migrate
    "${image_command[@]}" /usr/bin/account-ledger serve 2>"$scratch/image.log" &
    image_server=$!
    at_exit stop_child "$image_server" 20
    wait_for_line "$scratch/image.log" '"msg":"ready"'
    "${image_command[@]}" /usr/lib/account-ledger/healthcheck || fail "the health check of the image fails"
    stop_child "$image_server" 20
    ! "${image_command[@]}" /usr/lib/account-ledger/healthcheck 2>/dev/null ||
        fail "the health check passes without a server"
    "${image_command[@]}" /usr/bin/account-ledger verify >/dev/null
}

# Waits until a file has a line, for 30 s.
wait_for_line() {
    local waited=0
    until grep -q "$2" "$1"; do
        ((waited++ < 300)) || fail "no $2: $(tail -n 5 "$1")"
        sleep 0.1
    done
}

# Boots a container with systemd and without a network, and runs a script of tools/lib/package in it, which writes to
# /outcome and ends with a line "passed": boot_container SCRIPT DEB PACKAGE... It prints the outcome.
boot_container() {
    local script=$1 deb=$2 root="$scratch/boot" suite include
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    include=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g')
    include+=$(printf ',%s' "${@:3}" dbus systemd systemd-sysv)
    mmdebstrap --quiet --variant=minbase --include="$include" --aptopt='Acquire::Languages "none"' \
        "$suite" "$root" "$(apt_sources "$suite")" \
        >"$local_directory/mmdebstrap.log" 2>&1 || fail "mmdebstrap failed: $(tail -n 5 "$local_directory/mmdebstrap.log")"
    cp "$deb" "$root/root/account-ledger.deb"
    install -m 755 "$repository/tools/lib/package/$script" "$root/script"
    printf '[Unit]\nAfter=multi-user.target\n[Service]\nType=exec\nExecStart=/script\n[Install]\nWantedBy=multi-user.target\n' \
        >"$root/etc/systemd/system/script.service"
    chroot "$root" systemctl --quiet enable script.service
    timeout --kill-after=10 300 systemd-nspawn --quiet --boot --directory="$root" --register=no --keep-unit \
        --private-network </dev/null >"$local_directory/boot.log" 2>&1 || fail "the container: $(tail -n 5 "$local_directory/boot.log")"
    cat "$root/outcome"
    [[ $(tail -n 1 "$root/outcome") == passed ]] || fail "$script failed"
    rm -rf "$root"
}

check_boot() { boot_container boot.sh "$1" curl postgresql >&2; }

walk() { boot_container walk.sh "$1" curl jq nginx openssl postgresql prometheus; }
