import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// Addresses that one record of a file claims and another one proves.
@Suite struct ProvedClaimsTests {
    private static let hash = "$2b$10$CCCCCCCCCCCCCCCCCCCCC.KgQljzbljH4iwhlg3oTf8buusOTZRX6"

    private static func user(_ id: String, _ email: String, isVerified: Bool) -> String {
        #"{"user_id":"\#(id)","email":"\#(email)","email_verified":\#(isVerified),"password_hash":"\#(hash)"}"#
    }

    private static let claim = user("1", "A@X.test", isVerified: false)
    private static let proof = user("2", "A@x.test", isVerified: true)

    /// Returns what becomes of the address of each record: a claim, a proof or its losses.
    private static func results(_ lines: [String], confirmLater: Bool = true) throws -> [String] {
        var policy = TenantPolicy(providers: [])
        policy.confirmLater = confirmLater
        policy.providers[try #require(ProviderName("password"))] = ProviderPin(
            type: .password, issuers: [])
        let mapper = AccountMapper(
            .auth0, under: policy, given: [:],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        #expect(mapper.hasClaims == confirmLater)
        return try AccountFileTests.with([lines.joined(separator: "\n")]) { paths in
            func open() throws -> AccountFile {
                try AccountFile(.auth0, paths: paths, hashing: nil, now: Timestamp(seconds: 0))
            }
            func map(_ record: SourceRecord, _ mapper: AccountMapper) -> AccountMapper.Mapped? {
                guard case .account(let account) = record else { return nil }
                return mapper.map(account, at: Timestamp(seconds: 0)) { 1 }
            }
            var claims = ProvedClaims()
            var read = try open()
            while let (record, _) = try read.next() {
                guard let command = map(record, mapper)?.command, claims.read(command)
                else { continue }
                claims.end(by: command)
            }
            var informed = mapper
            informed.provedClaims = claims.found
            var file = try open()
            var results: [String] = []
            while let (record, _) = try file.next() {
                guard let mapped = map(record, informed) else { continue }
                results.append(
                    mapped.command?.addresses.first.map { $0.isClaimed ? "claim" : "proof" }
                        ?? mapped.losses.map(\.rawValue).joined())
            }
            return results
        }
    }

    @Test(arguments: [
        ([claim, proof], ["unverified_address", "proof"]),
        // The ledger refuses this claim, which is the later one.
        ([proof, claim], ["proof", "claim"]),
        (
            [claim, user("3", "a@x.test", isVerified: false), proof],
            ["unverified_address", "unverified_address", "proof"]
        ),
        ([claim, user("2", "b@x.test", isVerified: true)], ["claim", "proof"]),
        // A second record of one account is not imported, so that its proof proves nothing to another one.
        ([claim, user("1", "a@x.test", isVerified: true)], ["claim", "proof"]),
        // The same of a record of another account: an earlier record has its external id.
        (
            [user("2", "b@x.test", isVerified: true), claim, proof], ["proof", "claim", "proof"]
        ),
        // A record without a way to sign in is not imported, so that the next one of its external id is.
        ([#"{"user_id":"2"}"#, claim, proof], ["", "unverified_address", "proof"]),
        ([claim, #"{"user_id":"#, proof], ["unverified_address", "proof"]),
    ])
    func `a claim gives way to a later proof by another account`(
        lines: [String], results: [String]
    ) throws {
        #expect(try Self.results(lines) == results)
    }

    @Test func `a tenant that confirms nothing later has no claims`() throws {
        #expect(
            try Self.results([Self.claim, Self.proof], confirmLater: false)
                == ["unverified_address", "proof"])
    }
}
