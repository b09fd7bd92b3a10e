# shellcheck shell=bash
# Tries the settings of packaging/proxy: the walk-through through each proxy, and requests that it must not pass on.

try_proxies() {
    make_authority
    make_ledger proxies
    https_port=$(free_port) http_port=$(free_port)
    export LEDGER_TRUSTED_PROXIES=127.0.0.1,::1
    export LEDGER_PUBLIC_URL="https://localhost:$https_port"
    # Some requests of the walk-through have no proxy, so the server has this address for both.
    LEDGER_LISTEN=127.0.0.1:$(free_port)
    export LEDGER_LISTEN
    start_server "$scratch/server.log"
    try_proxy nginx
    try_proxy caddy
}

# An authority, and a certificate for localhost.
make_authority() {
    (
        cd "$scratch"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=Test authority' \
            -keyout authority.key -out authority.pem
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=localhost' -keyout server.key \
            -out server.csr
        openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
            -extfile <(printf 'subjectAltName=DNS:localhost') -out server.pem
    ) 2>"$scratch/openssl.log" || fail "openssl: $(tail -n 3 "$scratch/openssl.log")"
    export CURL_CA_BUNDLE="$scratch/authority.pem"
}

# Whether this machine has the loopback address of IPv6.
has_ipv6() { grep -qs '^0\{31\}1 ' /proc/net/if_inet6; }

# Rewrites the names, the ports and the files of the packaged settings, and nothing else.
settings_for_this_machine() {
    local ipv6="s|listen \[::\]:80;|listen [::1]:$http_port;|; s|listen \[::\]:443 ssl|listen [::1]:$https_port ssl|"
    has_ipv6 || ipv6='/listen \[::\]/d'
    sed -e "$ipv6" -e "s|ledger\.example\.com\.pem|SERVER_PEM|; s|/etc/ssl/SERVER_PEM|$scratch/server.pem|" \
        -e "s|/etc/ssl/private/ledger\.example\.com\.key|$scratch/server.key|" \
        -e "s|127\.0\.0\.1:8080|$server_address|; s|/var/log/[a-z]*/ledger\.log|$scratch/access.log|" \
        -e "s|listen 80;|listen 127.0.0.1:$http_port;|; s|listen 443 ssl|listen 127.0.0.1:$https_port ssl|" \
        -e "s|https://ledger\.example\.com|https://localhost:$https_port|" \
        -e "s|http://ledger\.example\.com|http://localhost:$http_port|" \
        -e "s|ledger\.example\.com|localhost|" "$repository/packaging/proxy/$1"
}

start_nginx() {
    settings_for_this_machine nginx.conf >"$scratch/site.conf"
    cat >"$scratch/nginx.conf" <<SETTINGS
daemon off;
pid $scratch/nginx.pid;
events {}
http {
    client_body_temp_path $scratch/body;
    proxy_temp_path $scratch/proxy;
    include $scratch/site.conf;
}
SETTINGS
    nginx -t -q -e "$scratch/nginx.log" -c "$scratch/nginx.conf"
    nginx -e "$scratch/nginx.log" -c "$scratch/nginx.conf" &
    proxy=$!
}

start_caddy() {
    {
        printf '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
        settings_for_this_machine Caddyfile
    } >"$scratch/Caddyfile"
    XDG_DATA_HOME="$scratch/caddy" XDG_CONFIG_HOME="$scratch/caddy" \
        caddy run --adapter caddyfile --config "$scratch/Caddyfile" 2>"$scratch/caddy.log" &
    proxy=$!
}

try_proxy() {
    local base="https://localhost:$https_port"
    : >"$scratch/access.log"
    "start_$1"
    at_exit stop_child "$proxy" 20
    eventually 10 is_listening 127.0.0.1 "$https_port"
    "$repository/tools/walk-through" "$base" >"$scratch/walk-through.log" 2>&1 ||
        fail "$1: $(tail -n 5 "$scratch/walk-through.log")"
    refuses_other_transports "$1" "$base"
    passes_bodies_on "$1" "$base"
    hides_internal_pages "$1" "$base"
    keeps_the_client "$1" "$base"
    streams "$1" "$base"
    expect "lines of the access log of $1 with a query" 0 "$(grep -c '[?]' "$scratch/access.log" || true)"
    [[ $(wc -l <"$scratch/access.log") -gt 50 ]] || fail "$1 logs no requests"
    stop_child "$proxy" 20
    say "$1 $(version_of "$1"): the walk-through and every check passed"
}

version_of() {
    case "$1" in
        nginx) nginx -v 2>&1 | sed 's|.*/||' ;;
        caddy) caddy version | cut -d ' ' -f 1 ;;
    esac
}

# Prints the status of an answer: status_of ARGUMENT OF curl ...
status_of() {
    curl --silent --max-time 20 --output /dev/null --write-out '%{http_code}' "$@"
}

refuses_other_transports() {
    expect "$1: status of plain HTTP" "308 $2/v1/providers?x=1" "$(curl --silent --output /dev/null \
        --write-out '%{http_code} %{redirect_url}' "http://localhost:$http_port/v1/providers?x=1" |
        sed "s|https://localhost/|$2/|")"
    ! curl --silent --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 "$2/healthz" || fail "$1 speaks TLS 1.1"
    ! CURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt curl --silent "$2/healthz" ||
        fail "the certificate of $1 is not checked"
    curl --silent --head "$2/healthz" | grep -qi '^strict-transport-security: max-age' || fail "$1 sends no HSTS"
}

# The server refuses a body without a length; nginx gives it one, and Caddy 2.6 does not. Bodies of more than 64 KiB
# are refused.
passes_bodies_on() {
    local body chunked=200
    [[ $1 != caddy ]] || chunked=411
    body="{\"id_token\":\"$(id_token google "chunked-$1")\"}"
    expect "$1: status of a chunked body" "$chunked" "$(status_of --header 'Content-Type: application/json' \
        --header 'Transfer-Encoding: chunked' --data "$body" "$2/v1/auth/sign-in/google")"
    head -c 70000 /dev/zero | tr '\0' ' ' >"$scratch/large"
    expect "$1: status of a large body" 413 "$(status_of --header 'Content-Type: application/json' \
        --data-binary "@$scratch/large" "$2/v1/auth/sign-in/google")"
}

hides_internal_pages() {
    expect "$1: status of /metrics" 404 "$(status_of "$2/metrics")"
    ! curl --silent "$2/readyz" | grep -q projector || fail "$1 shows the detailed readiness"
}

# The address in the log is the client's, by both protocols, and not one that it has invented.
keeps_the_client() {
    keeps_the_client_by "$1" "$2" 4 127.0.0.1
    ! has_ipv6 || keeps_the_client_by "$1" "$2" 6 ::1
}

keeps_the_client_by() {
    local session address
    session=$(ask --fail "--ipv$3" --header 'X-Forwarded-For: 203.0.113.7' \
        --data "{\"id_token\":\"$(id_token google "client-$1-$3")\"}" "$2/v1/auth/sign-in/google")
    address=$("$server_program" replay --account "$(jq -r .user_id <<<"$session")" --disclose --reason test |
        grep -oE '203\.0\.113\.7|127\.0\.0\.1|::1' | sort -u)
    expect "$1: the address of the client by IPv$3" "$4" "$address"
}

# An event reaches a reader of the stream while it stays open.
streams() {
    local key reader
    key=$("$server_program" keys api create --role auditor --label "$1" 2>/dev/null)
    curl --silent --no-buffer --max-time 30 --header "Authorization: Bearer $key" "$2/v1/events/stream?from=0" \
        >"$scratch/stream" &
    reader=$!
    eventually 10 grep -q '^event: ' "$scratch/stream"
    sign_in "stream-$1" "$2" >/dev/null
    eventually 5 grep -q "^id: $(($(metric 'ledger_head_position{tenant="default"}') - 1))-" "$scratch/stream"
    kill "$reader"
    wait "$reader" || true
}
