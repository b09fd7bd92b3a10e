import Cryptography
import Encodings
import OpenID
import Testing

/// The client's nonce and the token's, in each mode.
@Suite struct NonceTests {
    struct Row: Sendable {
        let mode: IDTokenPolicy.NonceMode
        let isRequired: Bool
        let sent: String?
        let carried: String?
        let fault: IDTokenFault?
    }

    /// SHA-256 of "n-1" in lower-case hexadecimal.
    static let digest = Hex.encode(SHA256.hash(Array("n-1".utf8)))

    static let rows: [Row] = [
        row(.raw, sent: nil, carried: nil, nil),
        row(.raw, sent: "n-1", carried: "n-1", nil),
        row(.raw, sent: "n-1", carried: "n-2", .nonceMismatch),
        row(.raw, sent: "n-1", carried: "n-11", .nonceMismatch),
        row(.raw, sent: "n-1", carried: nil, .nonceMismatch),
        row(.raw, sent: nil, carried: "n-1", .nonceMismatch),
        row(.raw, sent: "", carried: "n-1", .nonceMismatch),
        row(.raw, sent: "", carried: "", .nonceMismatch),
        row(.raw, sent: "n-1", carried: digest, .nonceMismatch),
        row(.raw, required: true, sent: nil, carried: nil, .nonceMissing),
        row(.raw, required: true, sent: nil, carried: "n-1", .nonceMissing),
        row(.raw, required: true, sent: "", carried: "", .nonceMissing),
        row(.raw, required: true, sent: "n-1", carried: nil, .nonceMismatch),
        row(.raw, required: true, sent: "n-1", carried: "n-1", nil),
        row(.sha256, sent: nil, carried: nil, nil),
        row(.sha256, sent: "n-1", carried: digest, nil),
        row(.sha256, sent: "n-1", carried: "n-1", .nonceMismatch),
        row(.sha256, sent: digest, carried: digest, .nonceMismatch),
        row(.sha256, sent: "n-1", carried: digest.uppercased(), .nonceMismatch),
        row(.sha256, sent: "n-1", carried: nil, .nonceMismatch),
        row(.sha256, sent: nil, carried: digest, .nonceMismatch),
        row(.sha256, required: true, sent: nil, carried: digest, .nonceMissing),
        row(.sha256, required: true, sent: "n-1", carried: nil, .nonceMismatch),
        row(.sha256, required: true, sent: "n-1", carried: digest, nil),
        row(.none, sent: "n-1", carried: "n-2", nil),
        row(.none, sent: nil, carried: "n-2", nil),
        row(.none, sent: "n-1", carried: nil, nil),
        row(.none, required: true, sent: nil, carried: nil, nil),
    ]

    private static func row(
        _ mode: IDTokenPolicy.NonceMode, required: Bool = false, sent: String?, carried: String?,
        _ fault: IDTokenFault?
    ) -> Row {
        Row(mode: mode, isRequired: required, sent: sent, carried: carried, fault: fault)
    }

    @Test(arguments: rows)
    func `the nonce rules hold`(row: Row) {
        var claims = Claims()
        if let carried = row.carried {
            claims = claims.with("nonce", "\"\(carried)\"")
        }
        let checker = Issuer.checker(nonce: row.mode, nonceRequired: row.isRequired)
        #expect(
            Issuer.fault(Issuer.token(claims), nonce: row.sent, checker: checker) == row.fault)
    }

    @Test func `a nonce that is no text matches nothing`() {
        let token = Issuer.token(Claims().with("nonce", "5"))
        #expect(Issuer.fault(token, nonce: "5") == .nonceMismatch)
        #expect(Issuer.fault(token, nonce: nil) == .nonceMismatch)
    }
}
