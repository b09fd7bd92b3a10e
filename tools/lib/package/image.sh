# shellcheck shell=bash
# Builds the container image: an OCI image layout in a tar file, without a daemon.

# The number of the login in every image: the next free one depends on Debian's packages of the day, and another login
# could not read the keys in the volume of the former image.
readonly image_login=970

# Builds the image with a package: build_image DEB NAME writes NAME.oci.tar and NAME.packages.
build_image() {
    local deb=$1 name=$2 layout layer diff
    layout=$(mktemp -d "$scratch/image.XXXXXX")
    mkdir -p "$layout/blobs/sha256"
    build_root_file_system "$deb" "$scratch/root.tar" "$name.packages"
    diff=$(sha256sum <"$scratch/root.tar")
    gzip -n <"$scratch/root.tar" >"$layout/layer"
    layer=$(add_blob "$layout" "$layout/layer")
    # shellcheck disable=SC2016 # $... are jq's
    jq -cS -n --arg diff "sha256:${diff%% *}" --arg user "$(image_user "$scratch/root.tar")" \
        --arg architecture "$architecture" --arg time "$(image_time)" --arg version "$version" \
        --arg revision "$(git -C "$repository" rev-parse HEAD)" \
        -f "$repository/tools/lib/package/config.jq" >"$layout/config"
    rm -f "$scratch/root.tar"
    # shellcheck disable=SC2016 # $... are jq's
    jq -cS -n --argjson config "$(blob_descriptor "$layout" "$layout/config" config.v1+json)" \
        --argjson layer "$layer" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config,
          layers: [$layer]}' >"$layout/manifest"
    # shellcheck disable=SC2016 # $... are jq's
    jq -cS -n --argjson manifest "$(blob_descriptor "$layout" "$layout/manifest" manifest.v1+json)" \
        --arg architecture "$architecture" --arg version "$version" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [$manifest + {
          platform: {architecture: $architecture, os: "linux"},
          annotations: {"org.opencontainers.image.ref.name": $version}}]}' >"$layout/index.json"
    printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
    tar --create --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX --directory="$layout" --file="$name.oci.tar" oci-layout index.json blobs
    rm -rf "$layout"
}

# Moves a file to the blobs and prints its descriptor as a layer.
add_blob() {
    blob_descriptor "$1" "$2" layer.v1.tar+gzip
}

# Moves a file to the blobs of a layout and prints its descriptor: blob_descriptor LAYOUT FILE TYPE.
blob_descriptor() {
    local digest size
    digest=$(sha256sum <"$2")
    digest=${digest%% *}
    size=$(stat -c %s "$2")
    mv "$2" "$1/blobs/sha256/$digest"
    printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$3" "$digest" "$size"
}

image_time() {
    date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ
}

# Prints the numbers of the login of the service, which a runtime compares with root's.
image_user() {
    tar --extract --to-stdout --file="$1" ./etc/passwd | awk -F : '$1 == "account-ledger" { print $3 ":" $4 }' | grep .
}

# Writes the files of Debian's essential packages, of a package and of those that it needs, as a tar.
build_root_file_system() {
    local deb=$1 file=$2 list=$3 include suite
    # The libraries of the executable are those of this release of Debian.
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    include=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g')
    # shellcheck disable=SC2016 # $1 is for mmdebstrap's shell
    mmdebstrap --quiet --variant=essential --include="$include" \
        --aptopt='Acquire::Languages "none"' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --customize-hook="chroot \"\$1\" groupadd --system --gid $image_login account-ledger" \
        --customize-hook="chroot \"\$1\" useradd --system --uid $image_login --gid $image_login \
            --comment AccountLedger --home-dir /var/lib/account-ledger --no-create-home \
            --shell /usr/sbin/nologin account-ledger" \
        --customize-hook="cp '$deb' \"\$1/package.deb\"" \
        --customize-hook='chroot "$1" dpkg --install /package.deb >/dev/null' \
        --customize-hook='rm "$1/package.deb"' \
        --customize-hook="chroot \"\$1\" dpkg-query --show >'$list'" \
        --customize-hook='find "$1" -xdev -type f -perm /6000 -exec chmod a-s {} +' \
        --customize-hook='rm -rf "$1"/etc/hostname "$1"/etc/resolv.conf "$1"/etc/machine-id "$1"/var/log/* "$1"/var/lib/apt "$1"/var/cache/* "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap "$1"/etc/*-' \
        "$suite" "$file" "$(apt_sources "$suite")" >"$local_directory/mmdebstrap.log" 2>&1 ||
        fail "mmdebstrap failed: $(tail -n 5 "$local_directory/mmdebstrap.log")"
    grep -q '^account-ledger' "$list" || fail "the list of the image's packages lacks account-ledger"
}

# Writes Debian's own sources of this machine for a release to a file and prints its name.
apt_sources() {
    local file="$scratch/debian.list"
    # shellcheck disable=SC2016 # the names are apt's
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v suite="$1" '$1 == "Debian" && index($2, suite) == 1 {
            print "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]", $3, $4, $5
        }' | sort -u >"$file"
    [[ -s $file ]] || fail "apt-get has no sources of Debian $1"
    printf '%s\n' "$file"
}
