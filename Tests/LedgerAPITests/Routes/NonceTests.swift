import Cryptography
import Encodings
import OpenID
import Testing

@Suite(.overBothTransports) struct NonceTests {
    private static let hashed = Hex.encode(SHA256.hash(Array("n1".utf8)))

    /// A sign-in: the provider's configuration, the token's nonce and the client's.
    struct Row: Sendable {
        let mode: IDTokenPolicy.NonceMode
        var isRequired = false
        let carried: String?
        let sent: String?
        let isGood: Bool
    }

    @Test(arguments: [
        Row(mode: .raw, carried: nil, sent: nil, isGood: true),
        Row(mode: .raw, carried: "n1", sent: "n1", isGood: true),
        Row(mode: .raw, carried: "n1", sent: "n2", isGood: false),
        Row(mode: .raw, carried: "n1", sent: nil, isGood: false),
        Row(mode: .raw, carried: nil, sent: "n1", isGood: false),
        Row(mode: .raw, carried: hashed, sent: "n1", isGood: false),
        Row(mode: .raw, isRequired: true, carried: nil, sent: nil, isGood: false),
        Row(mode: .raw, isRequired: true, carried: "n1", sent: "n1", isGood: true),
        Row(mode: .sha256, carried: hashed, sent: "n1", isGood: true),
        Row(mode: .sha256, carried: "n1", sent: "n1", isGood: false),
        Row(mode: .sha256, carried: hashed, sent: nil, isGood: false),
        Row(mode: .sha256, carried: nil, sent: nil, isGood: true),
        Row(mode: .sha256, isRequired: true, carried: nil, sent: nil, isGood: false),
        Row(mode: .none, carried: "n1", sent: nil, isGood: true),
        Row(mode: .none, carried: "n1", sent: "n2", isGood: true),
        Row(mode: .none, carried: nil, sent: "n2", isGood: true),
    ])
    func `a nonce is compared with the token`(row: Row) async throws {
        let service = try TestService {
            $0.nonce = row.mode
            $0.nonceRequired = row.isRequired
        }
        let token = service.idToken(
            "apple", "ada", claims: ["nonce": row.carried.map { "\"\($0)\"" }])
        let sent = row.sent.map { ",\"nonce\":\"\($0)\"" } ?? ""
        let expected = row.isGood ? "200 OK" : "401 INVALID_PROVIDER_TOKEN"
        #expect(try await service.postSignIn("apple", token, sent).summary == expected)
        // The same rule applies to links; a valid token's identity has an account by now.
        let person = try await service.signInAtOther()
        let linked = row.isGood ? "409 PROVIDER_CONFLICT" : "401 INVALID_PROVIDER_TOKEN"
        #expect(try await service.link("apple", token, sent, by: person).summary == linked)
    }
}

extension TestService {
    /// Signs in at the other provider, whatever the nonce rule is.
    fileprivate func signInAtOther() async throws -> Person {
        let hashed = Hex.encode(SHA256.hash(Array("n".utf8)))
        for carried in ["n", hashed] {
            let token = idToken("google", "bob", claims: ["nonce": "\"\(carried)\""])
            let answer = try await postSignIn("google", token, ",\"nonce\":\"n\"")
            if answer.status == 200 { return try Person(answer) }
        }
        throw NobodySignedIn()
    }
}

private struct NobodySignedIn: Error {}
