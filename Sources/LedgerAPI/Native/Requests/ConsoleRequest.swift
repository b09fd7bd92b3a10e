internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// The cookie of a session of the console: with the prefix, from this host alone and over TLS.
///
/// `Strict` would be left out on the way back from the identity provider, and where a ticket leads to the console.
enum ConsoleCookie {
    static let name = "__Host-ledger-console"
    static let parameter = Parameter(
        name: name, location: .cookie, schema: .text(""), about: "The session of the console")

    static func set(_ secret: StaffSessions.Secret) -> (name: String, value: String) {
        ("Set-Cookie", "\(name)=\(secret.cookie); \(PageCookie.attributes)")
    }

    static let deleted = (
        name: "Set-Cookie", value: "\(name)=; Max-Age=0; \(PageCookie.attributes)"
    )
}

/// The cookie of a sign-in to the console, while the person is at the identity provider.
enum ConsoleFlowCookie {
    static let name = "__Host-ledger-console-flow"
    static let parameter = Parameter(
        name: name, location: .cookie, schema: .text(""), about: "The sign-in to the console")

    static func set(_ value: String) -> (name: String, value: String) {
        (
            "Set-Cookie",
            "\(name)=\(value); Max-Age=\(StaffFlows.seconds); \(PageCookie.attributes)"
        )
    }

    static let deleted = (
        name: "Set-Cookie", value: "\(name)=; Max-Age=0; \(PageCookie.attributes)"
    )
}

/// The requests of the console, which are protected like those of the pages for people.
enum ConsoleRequest {
    /// Returns the session's secret of a request; nil for another client.
    ///
    /// - Throws: 403 for a request with the cookie, but without the session's token or of another site. With
    ///   `Authorization` no cookie is looked at.
    static func secret(
        of headers: HTTPHeaders, _ sessions: StaffSessions
    ) throws(APIError) -> StaffSessions.Secret? {
        guard headers.count(of: "Authorization") == 0 else { return nil }
        guard let cookie = Cookies.values(named: ConsoleCookie.name, in: headers).first else {
            return nil
        }
        let tokens = headers.all(PageRequest.tokenField)
        guard tokens.count == 1, PageRequest.isOfOwnSite(headers),
            let secret = sessions.secret(in: cookie), secret.permits(tokens[0])
        else { throw .notOfPage }
        return secret
    }

    /// Whether a request has the token of its session of the console.
    static func isOne(_ headers: HTTPHeaders, _ sessions: StaffSessions) -> Bool {
        do {
            return try secret(of: headers, sessions) != nil
        } catch {
            return false
        }
    }
}

/// A path below the console to which a sign-in leads back.
struct ConsolePath {
    private static let bytesMax = 1_024
    private static let special = Set("-._~!$&'()*+,;=:@/?%".utf8)

    let text: String

    /// The console's first view.
    static let home = ConsolePath(text: "")

    private init(text: String) {
        self.text = text
    }

    /// Reads a path with its query, relative to the console's address; nil for one that could lead elsewhere.
    init?(_ text: String) {
        let path = text.prefix { $0 != "?" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy(Self.isPlain),
            segments.dropLast().allSatisfy({ !$0.isEmpty }),
            // Browsers take an encoded dot for one.
            !segments.contains(where: { segment in
                [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
            })
        else { return nil }
        self.text = text
    }

    /// Returns the address relative to the callback.
    func address(in tenant: TenantID) -> String {
        // A segment before it keeps a colon from making a scheme.
        tenant == .default ? "./\(text)" : "../t/\(tenant)/console/\(text)"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: special.contains(byte)
        }
    }
}
