# shellcheck shell=bash
# The documentation of the Debian package: the pages, and all files that they link to.

# Prints the files and folders that a page links to, from the root of the links: linked_paths ROOT PAGE.
linked_paths() {
    local folder
    folder=$1/$(dirname "$2")
    grep -oE '\]\([^)[:space:]#:]+[)#]' "$1/$2" | sed 's/^](//; s/[)#]$//' | sort -u |
        (cd "$folder" && xargs --no-run-if-empty --delimiter='\n' realpath --canonicalize-missing --no-symlinks --relative-to="$1")
}

# Copies the pages below a folder, where the links between them lead to the copies.
place_pages() {
    local target=$1 path paths
    mapfile -t paths < <(cd "$repository" && find docs -name '*.md' -not -path '*/archive/*')
    while ((${#paths[@]})); do
        path=${paths[-1]}
        unset 'paths[-1]'
        if [[ -d $repository/$path ]]; then
            mapfile -t -O "${#paths[@]}" paths < <(cd "$repository" && find "$path" -type f -not -path '*/.*')
        elif [[ ! -e $target/$path ]]; then
            install -D -m 644 "$repository/$path" "$target/$path"
            [[ $path != *.md ]] || mapfile -t -O "${#paths[@]}" paths < <(linked_paths "$repository" "$path")
        fi
    done
}

# Fails when a page below a folder has a relative link to nothing.
check_links() {
    local root=$1 page path dead=''
    while IFS= read -r page; do
        while IFS= read -r path; do
            [[ -e $root/$path ]] || dead+=" $page -> $path,"
        done < <(linked_paths "$root" "$page")
    done < <(cd "$root" && find . -name '*.md' -printf '%P\n')
    [[ -z $dead ]] || fail "dead links in packaged pages:${dead%,}"
}
