# shellcheck shell=bash
# Programs from PyPI, in environments of their own below .local.

# Third-party verifiers of the ledger's proofs and signatures; Go's sumdb is a Debian package.
set_up_verifiers() {
    set_up_python_programs verifiers "$repository/Tests/TransparencyLogTests/Verifiers/requirements.txt"
}

# axe-core, the checker of accessibility, for tests in a browser.
set_up_axe() {
    set_up_python_programs axe "$repository/Tests/PageTests/requirements.txt"
}

# Creates the named environment with exactly the packages that a file of requirements pins, unless it exists.
set_up_python_programs() {
    local directory="$local_directory/$1" requirements=$2
    if cmp --silent "$requirements" "$directory/installed.txt"; then
        return
    fi
    say "Installing from PyPI: $(sed 's/ .*//' "$requirements" | tr '\n' ' ')"
    rm -rf "$directory"
    if ! install_python_programs "$directory" "$requirements" >"$local_directory/pip.log" 2>&1; then
        rm -rf "$directory"
        tail -n 20 "$local_directory/pip.log" >&2
        fail "pip could not install what ${requirements#"$repository/"} names. Without a network, run this once" \
            "with one, or set PIP_INDEX_URL or PIP_FIND_LINKS to where pip finds it"
    fi
    cp "$requirements" "$directory/installed.txt"
}

# Dependencies that are needed are in the file, too.
install_python_programs() {
    /usr/bin/python3 -m venv "$1" &&
        "$1/bin/python" -m pip install --disable-pip-version-check --no-deps --require-hashes --requirement "$2"
}
