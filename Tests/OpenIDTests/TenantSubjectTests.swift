import Cryptography
import Testing

@testable import OpenID

/// Subjects of an issuer with tenants, each of which has an issuer of its own, such as Microsoft's.
@Suite struct TenantSubjectTests {
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let object = "00000000-0000-0000-66f3-3332eca7ea81"
    private static let template = "https://login.example/{tenantid}/v2.0"

    private static let good = Claims().with("iss", #""https://login.example/\#(tenant)/v2.0""#)
        .with("tid", #""\#(tenant)""#).with("oid", #""\#(object)""#)

    private static func policy(_ tenants: Set<String>? = nil) -> IDTokenPolicy {
        IDTokenPolicy(
            issuers: [template, "https://sts.example/{tenantid}/"], audiences: ["client-1"],
            algorithms: [.rs256], nonce: .raw, subject: .tenantAndObject(of: tenants))
    }

    private func check(
        _ claims: Claims, tenants: Set<String>? = nil, keys: KeySet = Issuer.keys
    ) throws(IDTokenFault) -> IDTokenClaims {
        try IDTokenChecker(policy: Self.policy(tenants)).check(
            Issuer.token(claims), nonce: nil, keys: keys, now: Claims.now)
    }

    private func fault(
        _ claims: Claims, tenants: Set<String>? = nil, keys: KeySet = Issuer.keys
    ) -> IDTokenFault? {
        do {
            _ = try check(claims, tenants: tenants, keys: keys)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the subject is the tenant with the object, whatever sub is`() throws {
        for claims in [Self.good, Self.good.without("sub"), Self.good.with("sub", #""pairwise""#)] {
            #expect(try check(claims).subject == "\(Self.tenant)/\(Self.object)")
        }
        let v1 = Self.good.with("iss", #""https://sts.example/\#(Self.tenant)/""#)
        #expect(try check(v1).subject == "\(Self.tenant)/\(Self.object)")
    }

    @Test(
        arguments: [
            (good.with("tid", #""\#(other)""#), .wrongIssuer), (good.without("tid"), .wrongIssuer),
            (good.with("tid", "null"), .wrongIssuer), (good.with("tid", "7"), .wrongIssuer),
            (good.with("tid", #""{tenantid}""#).with("iss", #""\#(template)""#), .wrongIssuer),
            (good.with("iss", #""\#(template)""#), .wrongIssuer),
            (good.with("iss", #""https://login.example/\#(other)/v2.0""#), .wrongIssuer),
            (good.with("iss", #""https://login.example/\#(tenant)/v2.0/""#), .wrongIssuer),
            (
                good.with("tid", #""a""#).with("iss", #""https://login.example/a/v2.0""#),
                .wrongIssuer
            ),
            (
                good.with("tid", #""\#(tenant.uppercased())""#)
                    .with("iss", #""https://login.example/\#(tenant.uppercased())/v2.0""#),
                .wrongIssuer
            ),
            (good.without("oid"), .badSubject), (good.with("oid", "null"), .badSubject),
            (good.with("oid", #""""#), .badSubject), (good.with("oid", #""x""#), .badSubject),
            (good.with("oid", #""\#(object)/""#), .badSubject),
            (good.with("oid", #""\#(object.uppercased())""#), .badSubject),
            (good.with("oid", #""\#(object.replacing("-", with: "0"))""#), .badSubject),
        ] as [(Claims, IDTokenFault)])
    func `a token of another tenant than its issuer's, or without an object, is refused`(
        claims: Claims, expected: IDTokenFault
    ) {
        #expect(fault(claims) == expected, "\(String(decoding: claims.json, as: UTF8.self))")
    }

    @Test func `only tokens of the permitted tenants are accepted`() {
        #expect(fault(Self.good, tenants: [Self.other]) == .wrongIssuer)
        #expect(fault(Self.good, tenants: [Self.other, Self.tenant]) == nil)
    }

    @Test(
        arguments: [
            ("true", true), (#""true""#, true), (#""1""#, true), ("1", true), ("false", false),
            (#""0""#, false), ("0", false), ("null", false), ("[]", false), (nil, false),
        ] as [(String?, Bool)])
    func `an address is verified only if its domain's owner is`(
        json: String?, isVerified: Bool
    ) throws {
        let claims = Self.good.with("email", #""a@b.example""#).with("email_verified", "true")
        let checked = try check(json.map { claims.with("xms_edov", $0) } ?? claims)
        #expect(checked.email == "a@b.example")
        #expect((checked.emailVerified ?? false) == isVerified)
    }

    @Test func `a key that is for one tenant signs for no other`() throws {
        func keys(_ issuer: String) throws -> KeySet {
            let members = Issuer.key.publicJWK.dropFirst()
            return try #require(
                KeySet(jwks: Array(#"{"keys":[{"issuer":"\#(issuer)",\#(members)]}"#.utf8)))
        }
        for issuer in [Self.template, "https://login.example/\(Self.tenant)/v2.0"] {
            #expect(fault(Self.good, keys: try keys(issuer)) == nil)
        }
        for issuer in [
            "https://login.example/\(Self.other)/v2.0", "https://sts.example/{tenantid}/",
        ] {
            #expect(fault(Self.good, keys: try keys(issuer)) == .unknownKey)
        }
        // Other issuers give the member another meaning, or none.
        let plain = Issuer.fault(Issuer.token(Claims()), keys: try keys("other"))
        #expect(plain == nil)
    }
}
