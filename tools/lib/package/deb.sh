# shellcheck shell=bash
# Builds the Debian package.

# Builds the package of an executable: build_deb EXECUTABLE VERSION FILE.
build_deb() {
    local program=$1 version=$2 file=$3 root
    root=$(mktemp -d "$scratch/deb.XXXXXX")
    # Directories of a caller with another umask would differ.
    umask 022
    chmod 755 "$root"
    place_files "$root" "$program" "$version"
    place_control "$root" "$version"
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    # The bytes of several threads depend on their number. Level 1 takes a quarter of the time of 6, and a seventh more space.
    dpkg-deb --root-owner-group --threads-max=1 -Zxz -z1 --build "$root" "$file" >/dev/null
    rm -rf "$root"
}

# Puts the files of the package below its root.
place_files() {
    local root=$1 program=$2 version=$3 packaging="$repository/packaging"
    install -D -m 755 "$program" "$root/usr/bin/account-ledger"
    # Names of functions stay, for backtraces. The hashes of modules, notes of the compiler for its next build, and
    # the id, a hash of the debugging symbols as well, are all that differs between builds in two directories.
    strip --strip-debug --remove-section=.comment --remove-section=.note.gnu.build-id \
        --remove-section=.swift_modhash "$root/usr/bin/account-ledger"
    install -D -m 755 "$packaging/account-ledgerctl" "$root/usr/sbin/account-ledgerctl"
    install -D -m 755 "$packaging/healthcheck" "$root/usr/lib/account-ledger/healthcheck"
    install -D -m 644 -t "$root/lib/systemd/system" "$packaging"/*.service "$packaging"/*.timer
    install -d -m 755 "$root/etc/account-ledger"
    install -m 600 "$packaging"/{environment,operator,seal.env} "$root/etc/account-ledger"
    install -m 644 "$packaging/providers.json" "$root/etc/account-ledger"
    install -d -m 755 "$root/usr/share/man/man1" "$root/usr/share/man/man8" \
        "$root/usr/share/doc/account-ledger/examples"
    write_manual "$program" "$version" | gzip -9n >"$root/usr/share/man/man1/account-ledger.1.gz"
    gzip -9n <"$packaging/account-ledgerctl.8" >"$root/usr/share/man/man8/account-ledgerctl.8.gz"
    # Not of the executable of a former release.
    if grep -q ' completion bash|zsh ' <<<"$(env -i "$program" --help)"; then
        place_completion "$root" "$program"
    fi
    install -m 644 "$packaging"/{proxy,patroni,postgres}/* "$repository"/monitoring/*.{yml,json} \
        "$root/usr/share/doc/account-ledger/examples"
    gzip -9n <"$repository/CHANGELOG.md" >"$root/usr/share/doc/account-ledger/changelog.gz"
    sed "1s|^|Licence of the executable and of all files of this package, unless Debian's:\n\n|" "$repository/LICENSE" \
        >"$root/usr/share/doc/account-ledger/copyright"
    place_pages "$root/usr/share/doc/account-ledger"
}

# Puts the scripts that complete commands where the shells look for them.
place_completion() {
    local bash="$1/usr/share/bash-completion/completions" zsh="$1/usr/share/zsh/vendor-completions"
    install -d -m 755 "$bash" "$zsh"
    env -i "$2" completion bash >"$bash/account-ledger"
    env -i "$2" completion zsh >"$zsh/_account_ledger"
    printf '%s\n' '. /usr/share/bash-completion/completions/account-ledger' \
        'complete -o default -F _account_ledger account-ledgerctl' >"$bash/account-ledgerctl"
}

# Writes what dpkg reads.
place_control() {
    local root=$1 version=$2 depends size script
    depends=$(library_packages "$root/usr/bin/account-ledger")
    # In KiB, each file rounded up, as dpkg-gencontrol counts.
    size=$(find "$root" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
    install -d -m 755 "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: account-ledger
Version: $version
Architecture: $architecture
Maintainer: The AccountLedger authors <account-ledger@localhost>
Installed-Size: $size
Depends: adduser, ca-certificates, $depends
Recommends: postgresql-client
Suggests: postgresql (>= 15), prometheus, nginx | caddy
Section: net
Priority: optional
Description: event-sourced ledger of sign-in identities
 Records which sign-in identities (Apple, Google, any OpenID Connect issuer)
 belong to which account, in an append-only log in Postgres that can be
 verified and replayed. One executable with server and tools, a systemd unit
 and its settings.
CONTROL
    for script in postinst prerm postrm; do
        install -m 755 "$repository/packaging/$script" "$root/DEBIAN"
    done
    printf '/etc/account-ledger/%s\n' environment operator providers.json seal.env >"$root/DEBIAN/conffiles"
    (cd "$root" && find usr lib -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
}

# Prints the Debian packages with the libraries that an executable needs.
library_packages() {
    local directory
    directory=$(mktemp -d "$scratch/shlibs.XXXXXX")
    mkdir "$directory/debian"
    printf 'Source: account-ledger\n\nPackage: account-ledger\nArchitecture: any\n' >"$directory/debian/control"
    (cd "$directory" && dpkg-shlibdeps -O "$1" 2>"$scratch/shlibs.log") | sed -n 's/^shlibs:Depends=//p' |
        grep . || fail "dpkg-shlibdeps: $(cat "$scratch/shlibs.log")"
    rm -rf "$directory"
}

# Prints the manual page: the texts that --help of the executable prints.
write_manual() {
    local program=$1 version=$2 command
    {
        printf 'version %s\ndate %s\n' "$version" "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%d)"
        printf 'program\n'
        env -i "$program" --help
        while IFS= read -r command; do
            printf '\fsubcommand %s\n' "$command"
            # shellcheck disable=SC2086 # a command of several words
            env -i "$program" $command --help
        done < <(env -i "$program" --help | sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z -]*[a-z]\)  .*/\1/p')
    } | awk -f "$repository/tools/lib/package/manual.awk"
}
