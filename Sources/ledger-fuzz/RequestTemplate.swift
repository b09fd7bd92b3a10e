import Cryptography
import HTTP
import JSON
import LedgerAPI

/// Values that only a running service knows, for the placeholders in requests.
struct LiveTokens: Sendable {
    var idToken = ""
    var accessToken = ""
    var refreshToken = ""
    var account = ""

    /// Returns a text with `<ID>`, `<ACCESS>`, `<REFRESH>`, `<ACCOUNT>` and `<KEY>` replaced.
    func fill(_ template: [UInt8]) -> [UInt8] {
        var bytes = template
        for (placeholder, value) in [
            ("<ID>", idToken), ("<ACCESS>", accessToken), ("<REFRESH>", refreshToken),
            ("<ACCOUNT>", account), ("<KEY>", ExampleKeys.apiKey),
        ] {
            while let range = bytes.firstRange(of: Array(placeholder.utf8)) {
                bytes.replaceSubrange(range, with: value.utf8)
            }
        }
        return bytes
    }

    /// Signs a person in at the contract itself.
    init(signingInAt api: API, of service: FuzzService) async throws {
        idToken = service.idTokens[0]
        let request = HTTPRequest(
            method: "POST", target: "/v1/auth/sign-in/google",
            headers: ["Content-Type": "application/json"],
            body: Array("{\"id_token\":\"\(idToken)\"}".utf8))
        guard let request else { throw Finding("the sign-in is no request") }
        let answer = await api.handle(request)
        guard let members = JSONValue(parsing: answer.body)?.members,
            let access = members["access_token"]?.string,
            let refresh = members["refresh_token"]?.string,
            let account = members["user_id"]?.string
        else { throw Finding("a sign-in is refused") }
        accessToken = access
        refreshToken = refresh
        self.account = account
    }

    init() {}
}

/// Requests of every route in wire form, with placeholders for tokens.
enum RequestTemplates {
    private static let json = "Host: a\nContent-Type: application/json\n"
    private static let key = "Host: a\nAuthorization: Bearer <KEY>\n"
    private static let because = key + "Ledger-Reason: because\n"
    private static let page =
        "Ledger-CSRF: x\nLedger-Beside: yes\nSec-Fetch-Site: same-origin\nOrigin: http://a\n"
        + "Cookie: __Host-ledger-account=x; __Host-ledger-account-flow=y\n"
    private static let console =
        "Ledger-CSRF: x\nSec-Fetch-Site: same-origin\nCookie: __Host-ledger-console="
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA; __Host-ledger-console-flow=y\n"
    private static let bearer = "Authorization: Bearer <ACCESS>\n"

    static let all = [
        request("POST /v1/auth/sign-in/google", json, #"{"id_token":"<ID>","nonce":"n"}"#),
        request(
            "POST /v1/auth/sign-in/google", json, #"{"id_token":"<ID>","create_account":false}"#),
        request(
            "POST /v1/auth/codes/email", json + "Accept-Language: de\n",
            #"{"address":"ada@example.com"}"#),
        request(
            "POST /v1/account/codes/email", json + bearer,
            #"{"address":"ada@example.com","plan_digest":"x"}"#),
        request(
            "POST /v1/auth/sign-in/email", json,
            #"{"challenge_id":"0b7e1f52-93aa-4c1d-8f5e-6a1c2d3e4f50","code":"270831"}"#),
        request(
            "POST /v1/auth/passkeys/passkey/create", json,
            #"{"user_name":"ada","display_name":"Ada"}"#),
        request("POST /v1/auth/passkeys/passkey/get", json, "{}"),
        request("POST /v1/account/passkeys/passkey/create", json + bearer, "{}"),
        request("POST /v1/account/passkeys/passkey/get", json + bearer, #"{"plan_digest":"x"}"#),
        request(
            "POST /v1/auth/flows", json + bearer,
            #"{"provider":"google","purpose":"link","return_to":"http://127.0.0.1/callback","code_challenge":"AA"}"#
        ),
        request("GET /v1/auth/flows/start?flow=x", "Host: a\n", ""),
        request(
            "POST /v1/auth/flows/start",
            "Host: a\nCookie: a=1; __Host-ledger-flow=x\nContent-Type: application/x-www-form-urlencoded\n",
            "state=x"),
        request(
            "GET /v1/auth/flows/callback/google?state=x&code=y&iss=z",
            "Host: a\nCookie: __Host-ledger-flow=x\n", ""),
        request(
            "POST /v1/auth/flows/callback/google",
            "Host: a\nContent-Type: application/x-www-form-urlencoded\n", "state=x&code=y+%20z"),
        request("GET /v1/providers", "Host: a\n", ""),
        request("GET /account", "Host: a\nIf-None-Match: \"x\", W/\"y\"\n", ""),
        request("GET /assets/lib/el.mjs", "Host: a\n", ""),
        request("GET /account/session?return=http://127.0.0.1/callback", "Host: a\n" + page, ""),
        request("POST /account/sign-out", json + page, #"{"everywhere":true}"#),
        request(
            "POST /account/flows", json + page,
            #"{"provider":"google","purpose":"merge","plan_digest":"x"}"#),
        request("GET /account/callback/google?flow_code=x&error=y", "Host: a\n" + page, ""),
        request("POST /account/qr-code", json + page, #"{"text":"x"}"#),
        request("GET /console", "Host: a\n", ""),
        request("GET /console/", "Host: a\n", ""),
        request("GET /t/default/console/accounts/<ACCOUNT>/as-of?as_of=1", "Host: a\n", ""),
        request("GET /console/sign-in?fresh=1&to=events%3Ftype=SignedIn", "Host: a\n", ""),
        request("GET /console/callback?state=x&code=y&iss=z&error=e", "Host: a\n" + console, ""),
        request("GET /console/session", "Host: a\n" + console, ""),
        request("POST /console/sign-out", json + console, #"{"everywhere":true}"#),
        request("POST /console/role", json + console, #"{"role":"support"}"#),
        request("GET /v1/events", "Host: a\n" + console, ""),
        request(
            "GET /v1/events?limit=1", key + "Ledger-Reason: UTF-8''%C3%A4%E2%80%AE\n", ""),
        request(
            "POST /v1/auth/sign-in/google", json, #"{"flow_code":"x","code_verifier":"y"}"#),
        request(
            "POST /v1/auth/sign-in/passkey", json,
            #"{"challenge_id":"x","credential":{"id":"AA","response":{"signature":"AA"}}}"#),
        request(
            "POST /v1/auth/second-factor", json,
            #"{"sign_in_token":"x","factor_id":"<ACCOUNT>","code":"492039","device_token":"x"}"#),
        request(
            "POST /v1/auth/second-factor/code", json, #"{"sign_in_token":"x","factor_id":"x"}"#),
        request(
            "POST /v1/auth/second-factor/passkey", json,
            #"{"sign_in_token":"x","factor_id":"x"}"#),
        request("POST /v1/account/factor-enrolments/passkey", json + bearer, "{}"),
        request(
            "POST /v1/account/factors", json + bearer,
            #"{"challenge_id":"x","credential":{"id":"AA","response":{"attestationObject":"AA"}}}"#),
        request(
            "POST /v1/account/factor-enrolments", json + bearer,
            #"{"type":"phone","phone":"+4915123456789"}"#),
        request("GET /v1/account/factors", "Host: a\n" + bearer, ""),
        request(
            "POST /v1/account/factor-enrolments", json + bearer,
            #"{"type":"totp","issuer":"Example","account_name":"ada"}"#),
        request(
            "POST /v1/account/factors", json + bearer,
            #"{"enrolment_token":"x","code":"492039"}"#),
        request("POST /v1/account/recovery-codes", json + bearer, "{}"),
        request("DELETE /v1/account/factors/<ACCOUNT>", "Host: a\n" + bearer, ""),
        request(
            "POST /v1/auth/sign-up/password", json,
            #"{"email":"ada@example.com","password":"correct horse battery staple"}"#),
        request(
            "POST /v1/auth/sign-in/password", json,
            #"{"email":"ada@example.com","password":"correct horse battery staple"}"#),
        request(
            "POST /v1/auth/password-resets/password", json, #"{"email":"ada@example.com"}"#),
        request(
            "POST /v1/auth/password-resets/password/complete", json,
            #"{"challenge_id":"0b7e1f52-93aa-4c1d-8f5e-6a1c2d3e4f50","code":"270831","password":"p"}"#
        ),
        request(
            "POST /v1/account/addresses/email", json + bearer,
            #"{"current_address":"a@b.c","challenge_id":"0b7e1f52-93aa-4c1d-8f5e-6a1c2d3e4f50","code":"1"}"#
        ),
        request("POST /v1/auth/address-returns/email", json, #"{"address":"ada@example.com"}"#),
        request(
            "POST /v1/auth/address-returns/password/complete", json,
            #"{"challenge_id":"0b7e1f52-93aa-4c1d-8f5e-6a1c2d3e4f50","code":"270831","password":"p"}"#
        ),
        request(
            "POST /v1/account/password", json + bearer,
            #"{"password":"correct horse battery staple"}"#),
        request("POST /v1/auth/refresh", json, #"{"refresh_token":"<REFRESH>"}"#),
        request("POST /v1/auth/sign-out", json + bearer, #"{"everywhere":true}"#),
        request(
            "POST /v1/auth/link/google", json + bearer + "Idempotency-Key: key-1\n",
            #"{"id_token":"<ID>","nonce":null}"#),
        request(
            "DELETE /v1/auth/link/google?identity_id=0190a1b2-c3d4-7000-8000-000000000001",
            "Host: a\n" + bearer + "Idempotency-Key: key-2\n", ""),
        request("DELETE /v1/auth/link/google", "Host: a\n" + bearer, ""),
        request(
            "GET /v1/account",
            "Host: a\n" + bearer
                + "X-Request-Id: r-1\nX-Forwarded-For: 203.0.113.7\nUser-Agent: u\n", ""),
        request(
            "GET /v1/account/activity?before=0190a1b2-c3d4-7000-8000-000000000001&limit=2",
            "Host: a\n" + bearer, ""),
        request("GET /t/default/v1/account", "Host: a\n" + bearer, ""),
        request(
            "POST /v1/account/merge/preview", json + bearer,
            #"{"provider":"google","id_token":"<ID>","keep":{"google":"absorbed"}}"#),
        request(
            "POST /v1/account/merge", json + bearer,
            #"{"provider":"google","id_token":"<ID>","plan_digest":"AAAA"}"#),
        request("GET /v1/erasure-requests?account=<ACCOUNT>&after=<ACCOUNT>&limit=1", because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/erasure/requests/<ACCOUNT>/confirm",
            because + "Content-Type: application/json\n", #"{"plan_digest":"AAAA"}"#),
        request("DELETE /v1/accounts/<ACCOUNT>/erasure/requests/<ACCOUNT>", because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/merge/preview",
            because + "Content-Type: application/json\n", #"{"absorb":"<ACCOUNT>","keep":{}}"#),
        request(
            "POST /v1/accounts/<ACCOUNT>/merge", because + "Content-Type: application/json\n",
            #"{"absorb":"<ACCOUNT>","plan_digest":"AAAA","case":"T-1"}"#),
        request(
            "POST /v1/merges/0190a1b2-c3d4-7000-8000-000000000001/undo/preview", because, ""),
        request(
            "POST /v1/merges/0190a1b2-c3d4-7000-8000-000000000001/undo",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1","undo_request":"staff:<ACCOUNT>.AAAA"}"#),
        request(
            "POST /v1/accounts/<ACCOUNT>/identities/0190a1b2-c3d4-7000-8000-000000000001/relink/preview",
            because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/identities/0190a1b2-c3d4-7000-8000-000000000001/relink",
            because + "Content-Type: application/json\n", #"{"case":"T-1"}"#),
        request("POST /v1/accounts/<ACCOUNT>/disable/preview", because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/disable", because + "Content-Type: application/json\n",
            #"{"case":"T-1"}"#),
        request("POST /v1/accounts/<ACCOUNT>/enable/preview", because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/enable", because + "Content-Type: application/json\n",
            #"{"case":"T-1"}"#),
        request("POST /v1/accounts/<ACCOUNT>/end-sessions/preview", because, ""),
        request(
            "POST /v1/accounts/<ACCOUNT>/end-sessions",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1"}"#),
        request(
            "POST /v1/accounts/<ACCOUNT>/factors/<ACCOUNT>/removal",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1","confirm_request":"staff:<ACCOUNT>.AAAA"}"#),
        request(
            "POST /v1/accounts/<ACCOUNT>/factors/<ACCOUNT>/keep",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1"}"#),
        request("POST /v1/accounts/<ACCOUNT>/factors/<ACCOUNT>/removal/preview", because, ""),
        request("POST /v1/account/factors/<ACCOUNT>/keep", json + bearer, "{}"),
        request(
            "POST /v1/accounts/<ACCOUNT>/identities/<ACCOUNT>/unlink",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1","confirm_request":"staff:<ACCOUNT>.AAAA"}"#),
        request(
            "POST /v1/accounts/<ACCOUNT>/identities/<ACCOUNT>/keep",
            because + "Content-Type: application/json\n",
            #"{"case":"T-1"}"#),
        request("POST /v1/accounts/<ACCOUNT>/identities/<ACCOUNT>/unlink/preview", because, ""),
        request("POST /v1/account/identities/<ACCOUNT>/keep", json + bearer, "{}"),
        request(
            "PUT /v1/account/identities/<ACCOUNT>/name", json + bearer, #"{"name":"Work phone"}"#),
        request("GET /.well-known/jwks.json", "Host: a\n", ""),
        request("GET /openapi.json", "Host: a\n", ""),
        request("GET /docs", "Host: a\n", ""),
        request("GET /v1/audit/openapi.json", key, ""),
        request("GET /readyz", "Host: a\n", ""),
        request("GET /healthz", "Host: a\n", ""),
        request(
            "GET /v1/access-log?after=1&from=2026-01-01T00:00:00Z&to=9&principal=operator&limit=5",
            because, ""),
        request(
            "GET /v1/events?after=0&type=SignedIn&provider=google&outcome=accepted&disclose=true",
            because, ""),
        request(
            "GET /v1/events?order=newest&before=9&actor=account:<ACCOUNT>&identity=<ACCOUNT>"
                + "&request=<ACCOUNT>", because, ""),
        request("GET /v1/events?account=<ACCOUNT>&from=0&to=9&disclose=true", because, ""),
        request(
            "GET /v1/events/stream?after=0&type=SignedIn&from=0", key + "Last-Event-ID: 1\n", ""),
        request("GET /v1/events/0190a1b2-c3d4-7000-8000-000000000001?disclose=false", key, ""),
        request("GET /v1/search?q=<ACCOUNT>", key, ""),
        request("GET /v1/search?q=ada%40example.com", because, ""),
        request(
            "POST /v1/search", because + "Content-Type: application/json\n",
            #"{"query":"ada@example.com"}"#),
        request("GET /v1/log/checkpoint", key, ""),
        request("GET /v1/log/checkpoints?from=0&to=9&limit=2", key, ""),
        request(
            "GET /v1/log/inclusion?position=0&size=1",
            key + "Accept: text/plain;x=\"a,b\";q=0.9, */*;q=0.1\n", ""),
        request("GET /v1/log/consistency?old=1&size=2", key, ""),
        request("GET /v1/log/keys", key, ""),
        request("GET /v1/accounts/<ACCOUNT>?as_of=2", key, ""),
        request("GET /v1/accounts/<ACCOUNT>?disclose=true", because, ""),
        request("GET /v1/accounts/<ACCOUNT>?as_of=2026-01-01T00:00:00.123456Z", key, ""),
        request(
            "GET /v1/accounts/<ACCOUNT>/history?after=0&as_of=2&limit=1&disclose=true", because, ""
        ),
        request(
            "GET /v1/accounts/<ACCOUNT>/diff?from=0&to=2026-01-01T00:00:00Z&limit=1&disclose=true",
            because, ""),
        request("GET /t/default/v1/accounts/<ACCOUNT>/diff?from=1&to=2", key, ""),
        request(
            "GET /v1/accounts/<ACCOUNT>/timeline?after=0-2&as_of=2&limit=1&disclose=true", because,
            ""),
        request(
            "GET /v1/conflicts?state=open&account=<ACCOUNT>&after=0&limit=2", because, ""),
        request("GET /v1/conflicts?order=newest&before=9", key, ""),
        request(
            "GET /v1/accounts/<ACCOUNT>/timeline?order=newest&before=0-2&limit=1", key, ""),
        request("GET /v1/conflicts?state=resolved", key, ""),
        request("GET /v1/conflicts/counts", key, ""),
        request("GET /v1/overview?days=7", key, ""),
        request(
            "POST /v1/exports", because + "Content-Type: application/json\n",
            #"{"account_id":"<ACCOUNT>"}"#),
        request("GET /v1/holds?after=<ACCOUNT>&limit=2", because, ""),
        request("GET /v1/identities/<ACCOUNT>/owners", key, ""),
        request("GET /v1/accounts/by-external-id/auth0/auth0%7C5f7c8ec7", because, ""),
        request("GET /v1/conflicts/0190a1b2-c3d4-7000-8000-000000000001", key, ""),
        request(
            "PUT /v1/conflicts/0190a1b2-c3d4-7000-8000-000000000001/review",
            because + "Content-Type: application/json\n", #"{"note":"looked at"}"#),
        request(
            "DELETE /v1/conflicts/0190a1b2-c3d4-7000-8000-000000000001/review", because, ""),
        request(
            "GET /v1/audit/messages?account_id=<ACCOUNT>&state=sent&limit=2", because, ""),
        request("DELETE /v1/accounts/<ACCOUNT>?basis=retention", because, ""),
        request("POST /v1/accounts/<ACCOUNT>/erasure/preview", because, ""),
        request("DELETE /v1/accounts/<ACCOUNT>?plan_digest=AAAA", because, ""),
        request("POST /v1/accounts/<ACCOUNT>/holds", because, ""),
        // At the service's own time.
        request(
            "PUT /v1/accounts/<ACCOUNT>/holds/01977420-dc00-7000-8000-000000000001", because, ""),
        request(
            "DELETE /v1/accounts/<ACCOUNT>/holds/01977420-dc00-7000-8000-000000000001", because, ""
        ),
        request(
            "OPTIONS /v1/account",
            "Host: a\nOrigin: https://app.example\nAccess-Control-Request-Method: GET\n", ""),
    ]

    static let words = [
        "Host: b\n", "Content-Type: text/plain\n", "Content-Length: 5\n", "Content-Length: -1\n",
        "Transfer-Encoding: chunked\n", "Expect: 100-continue\n", "Authorization: Bearer x\n",
        "Idempotency-Key: \n", "Origin: null\n", "X-Request-Id: é\n", "<ACCESS>", "<REFRESH>",
        "<ID>", "<KEY>", "<ACCOUNT>", "&limit=1", "&after=-1", "disclose=true", "as_of=", "&to=0",
        "/history", "/timeline", "/v1/conflicts", "state=open", "/holds", "HEAD ", "PUT ",
        "/t/acme",
        "/v1/", "\u{0}", "\n\n", "\r\n", ":", "%00", "null",
        #""id_token":1"#, #""nonce":{}"#, "HTTP/1.0", "HTTP/9.9", "Connection: close\n", "?a=b",
        "5\r\nhello\r\n0\r\n\r\n", "\t", " ", "{", "Bearer ", "\u{7F}",
    ]

    /// Checks whether a request is for a route, such as `GET /v1/account`.
    static func reach(_ route: String) -> Bool {
        let wanted = route.split(separator: "/")
        return all.contains { request in
            let target = request.prefix { $0 != "\n" && $0 != "?" }.split(separator: "/")
            return target.count == wanted.count
                && zip(target, wanted).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
        }
    }

    /// Creates a request with lines that end in a line feed, without a version and a length.
    private static func request(_ line: String, _ fields: String, _ body: String) -> String {
        "\(line)\n\(fields)\n\(body)"
    }
}
