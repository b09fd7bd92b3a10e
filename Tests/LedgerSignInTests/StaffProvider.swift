import Cryptography
import Encodings
import HTTP
import JSON
import Ledger
import OpenID
import Synchronization

@testable import LedgerSignIn

/// An identity provider of the staff whose answers a test changes.
final class StaffProvider: Sendable {
    static let issuer = "https://id.example"
    static let now = Timestamp(seconds: 1_790_000_000)
    static let callback = "https://ledger.example/console/callback"
    private static let key = RSASigningKey.generate()
    private static let otherKey = RSASigningKey.generate()

    /// The answers.
    struct Script: Sendable {
        /// The claims of the ID token, as JSON, beside the nonce.
        var claims: [String: String] = [
            "iss": "\"\(issuer)\"", "sub": "\"sam-1\"", "aud": "\"ledger\"",
            "iat": "\(now.seconds)", "exp": "\(now.seconds + 60)", "name": "\"Sam Ample\"",
            "auth_time": "\(now.seconds - 10)", "groups": #"["support","other"]"#,
        ]
        /// Replaces the nonce of the flow.
        var nonce: String?
        var isSignedByOther = false
        /// Members of the metadata, as JSON.
        var metadata: [String: String] = [:]
        /// Replaces the metadata.
        var document: String?
        var status = 200
        /// Replaces the answer of the token endpoint.
        var tokens: String?
    }

    private let script = Mutex(Script())
    private let nonce = Mutex<String?>(nil)
    let faults = Mutex<[String]>([])
    let fetches = Mutex(0)
    let clock = Mutex<Int64>(0)
    private let key = SymmetricKey.generate()

    func change(_ body: (inout Script) -> Void) { script.withLock { body(&$0) } }

    /// The sign-ins with token endpoint and keys at a base URL.
    func flows(at base: String) -> StaffFlows {
        let settings = StaffSettings(
            issuer: Self.issuer, client: "ledger", secret: "s3cret", rules: .development)
        let discovery = StaffDiscovery(
            settings, now: { [self] in clock.withLock(\.self) },
            fetch: { [self] url in
                fetches.withLock { $0 += 1 }
                guard url == Self.issuer + "/.well-known/openid-configuration" else {
                    throw LedgerFault.internalFailure
                }
                return FetchedKeySet(body: metadata(base), maxAgeSeconds: nil)
            }, onFault: { [self] text in faults.withLock { $0.append(text) } })
        return StaffFlows(settings, discovery: discovery, key: key)
    }

    private func metadata(_ base: String) -> [UInt8] {
        let script = script.withLock(\.self)
        if let document = script.document { return Array(document.utf8) }
        let usual = [
            "issuer": "\"\(Self.issuer)\"",
            "authorization_endpoint": "\"https://id.example/authorize\"",
            "token_endpoint": "\"\(base)/token\"", "jwks_uri": "\"\(base)/jwks\"",
        ]
        let members = usual.merging(script.metadata) { $1 }.sorted { $0.key < $1.key }
        return Array("{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8)
    }

    /// Answers a request to the token endpoint or for the keys.
    func answer(_ request: HTTPRequest) -> (status: Int, body: String) {
        guard request.path == "/token" else {
            return (200, "{\"keys\":[\(Self.key.publicJWK)]}")
        }
        let script = script.withLock(\.self)
        if let tokens = script.tokens { return (script.status, tokens) }
        var claims = script.claims
        claims["nonce"] = (script.nonce ?? nonce.withLock(\.self)).map { "\"\($0)\"" }
        let text = claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        let token = (script.isSignedByOther ? Self.otherKey : Self.key).sign(
            header: ["kid": Self.key.keyID, "typ": "JWT"],
            claims: Array("{\(text.joined(separator: ","))}".utf8))
        return (script.status, #"{"access_token":"x","id_token":"\#(token)"}"#)
    }

    /// Keeps the nonce of an address for the token; returns the fields of the address.
    func open(_ address: String) -> [String: String] {
        let query = address.drop { $0 != "?" }
        let request = HTTPRequest(method: "GET", target: "/" + query)
        let fields = Dictionary(
            (request?.query ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        nonce.withLock { $0 = fields["nonce"] }
        return fields
    }
}
