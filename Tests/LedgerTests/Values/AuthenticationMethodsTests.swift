import Testing

@testable import Ledger

/// The second factor in the methods of a sign-in: whether there is one, and whose.
@Suite struct AuthenticationMethodsTests {
    private let issuers = AuthenticationMethods.federated(withSecondFactor: ["otp", "mfa"])

    @Test func `an issuer's second factor is one, and differs from one of the account`() {
        #expect(issuers.description == "fed fed_mfa mfa otp")
        #expect(issuers.includesSecondFactor && issuers.includesIssuersSecondFactor)
        #expect(AuthenticationMethods(issuers.description) == issuers)
        let own = AuthenticationMethods.federated.with(.totp)
        #expect(own.description == "fed mfa otp")
        #expect(own.includesSecondFactor && !own.includesIssuersSecondFactor)
        for plain in [AuthenticationMethods.federated, .passkey, .password] {
            #expect(!plain.includesSecondFactor && !plain.includesIssuersSecondFactor)
        }
    }

    @Test func `the account's own factor is the last one that was used`() {
        #expect(issuers.with(.phone).description == "fed mfa otp sms")
        #expect(
            AuthenticationMethods.verifyingPasskey.with(.totp).description == "hwk mfa otp user")
    }

    @Test func `without the second factor neither word is left`() {
        #expect(issuers.withoutSecondFactor.description == "fed otp")
    }

    @Test func `all values that an issuer may state fit into one text`() {
        let all = AuthenticationMethods.federated(
            withSecondFactor: Array(AuthenticationMethods.issuersSecondFactors))
        #expect(
            Set(all.words)
                == AuthenticationMethods.issuersSecondFactors.union(["fed", "fed_mfa", "mfa"]))
    }

    @Test(arguments: [("fed fed_mfa mfa", 1), ("fed mfa otp", 2), ("hwk mfa user", 2)])
    func `the factor of a session was used at its issuer or at its opening`(
        text: String, seconds: Int64
    ) throws {
        let session = Session(
            id: SessionID(bits: 1), account: AccountID(bits: 1), identity: IdentityID(bits: 1),
            authenticatedAt: Timestamp(seconds: 1),
            methods: try #require(AuthenticationMethods(text)), openedAt: Timestamp(seconds: 2),
            openedPosition: LogPosition(1), endedPosition: nil)
        #expect(session.secondFactorUsedAt == Timestamp(seconds: seconds))
    }
}
