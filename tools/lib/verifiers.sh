# shellcheck shell=bash
# Third-party verifiers of the ledger's proofs and signatures: Go's sumdb is a Debian package;
# rekor-verifier and standardwebhooks come from PyPI and go to a separate environment below .local.

readonly verifiers_requirements="$repository/Tests/TransparencyLogTests/Verifiers/requirements.txt"
readonly verifiers_directory="$local_directory/verifiers"

# Creates the environment with exactly the pinned versions, unless it exists.
set_up_verifiers() {
    if cmp --silent "$verifiers_requirements" "$verifiers_directory/installed.txt"; then
        return
    fi
    say "Installing from PyPI: $(sed 's/ .*//' "$verifiers_requirements" | tr '\n' ' ')"
    rm -rf "$verifiers_directory"
    if ! install_verifiers >"$local_directory/pip.log" 2>&1; then
        rm -rf "$verifiers_directory"
        tail -n 20 "$local_directory/pip.log" >&2
        fail "pip could not install what Tests/TransparencyLogTests/Verifiers/requirements.txt names." \
            "The tests need it to show that others can check proofs and webhooks; without a network, run" \
            "this once with one, or set PIP_INDEX_URL or PIP_FIND_LINKS to where pip finds it"
    fi
    cp "$verifiers_requirements" "$verifiers_directory/installed.txt"
}

# The imported modules need Python's standard library only, so their dependencies are not installed.
install_verifiers() {
    /usr/bin/python3 -m venv "$verifiers_directory" &&
        "$verifiers_directory/bin/python" -m pip install --disable-pip-version-check --no-deps \
            --require-hashes --requirement "$verifiers_requirements"
}
