import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The file of the staff's identity provider.
struct StaffFileTests {
    private static let valid = """
        {"issuer":"https://id.example","client_id":"ledger","client_secret_file":"/secret",\
        "role_claim":"groups","roles":{"a":"auditor","b":{"role":"support","tenants":["acme"]}}}
        """

    private func read(_ text: String) throws -> StaffFile { try StaffFile(Array(text.utf8)) }

    private func fault(_ text: String) -> String? {
        do {
            _ = try StaffFile(Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `the values of the claim give roles, in all tenants or in some`() throws {
        let file = try read(Self.valid)
        #expect(file.clientSecretFile == "/secret")
        let rules = file.settings(secret: "s3cret").rules
        let acme = tenant("acme")
        let both = rules.roles(of: ["a", "b", "c"])
        #expect(both.roles(in: .default) == [.auditor])
        #expect(both.roles(in: acme) == [.auditor, .support])
        #expect(rules.roles(of: ["b"]).roles(in: .default).isEmpty)
        #expect(rules.roles(of: ["b"]).contain(acme) && !rules.roles(of: ["b"]).contain(.default))
        #expect(rules.roles(of: ["A", "b ", ""]).roles(in: acme).isEmpty)
    }

    @Test func `a role that several values give is in the tenants of each`() throws {
        let acme = tenant("acme")
        let text = Self.valid.replacing(
            #""a":"auditor""#,
            with: #""a":{"role":"support","tenants":["default"]},"all":"support""#)
        let rules = try read(text).settings(secret: "s").rules
        #expect(rules.roles(of: ["a", "b"]).roles(in: acme) == [.support])
        #expect(rules.roles(of: ["a", "b"]).roles(in: .default) == [.support])
        #expect(rules.roles(of: ["a", "b"]).roles(in: tenant("else")).isEmpty)
        #expect(rules.roles(of: ["a", "b", "all"]).roles(in: tenant("else")) == [.support])
    }

    @Test(arguments: [
        ("{", "the file is not valid JSON or has a duplicate member"),
        ("[]", "the file must be an object"),
        (
            valid.replacing(#""role_claim""#, with: #""role_clam""#),
            "role_clam is an unknown member"
        ),
        (valid.replacing("https://id", with: "http://id"), "issuer must use https"),
        (valid.replacing("https://id.example", with: "id"), "issuer must be an https URL"),
        (valid.replacing("id.example", with: "id.example?x=1"), "issuer must have no query"),
        (valid.replacing(#""client_id":"ledger","#, with: ""), "client_id is missing"),
        (valid.replacing(#""/secret""#, with: #""""#), "client_secret_file must not be empty"),
        (valid.replacing(#""auditor""#, with: #""root""#), #"roles.a must be "auditor""#),
        (valid.replacing(#""auditor""#, with: "1"), #"roles.a must be "auditor""#),
        (valid.replacing(#"["acme"]"#, with: "[]"), "roles.b.tenants must not be empty"),
        (valid.replacing("acme", with: "a/b"), "roles.b.tenants[0] is an invalid tenant name"),
        (valid.replacing(#","tenants":["acme"]"#, with: ""), "roles.b.tenants is missing"),
        (valid.replacing(#""tenants""#, with: #""tenant""#), "roles.b.tenant is an unknown member"),
        (
            valid.replacing(#""role_claim":"groups""#, with: #""scope":"profile""#),
            "scope must contain openid"
        ),
    ]) func `a fault names its place`(text: String, fault: String) {
        #expect(self.fault(text)?.hasPrefix(fault) == true, "\(self.fault(text) ?? "none")")
    }

    @Test func `the roles, the tenants and the file are limited`() {
        func file(_ roles: String) -> String {
            #"{"issuer":"https://id.example","client_id":"l","client_secret_file":"s","roles":{\#(roles)}}"#
        }
        let many = (0...StaffFile.rolesMax).map { #""\#($0)":"admin""# }.joined(separator: ",")
        #expect(fault(file(many))?.hasPrefix("roles must have 1 to") == true)
        #expect(fault(file(""))?.hasPrefix("roles must have 1 to") == true)
        let tenants = (0...StaffFile.tenantsMax).map { "\"t\($0)\"" }.joined(separator: ",")
        let wide = #""a":{"role":"admin","tenants":[\#(tenants)]}"#
        #expect(fault(file(wide))?.hasPrefix("roles names more than") == true)
        let long = String(repeating: " ", count: StaffFile.bytesMax + 1)
        #expect(fault(long)?.hasPrefix("the file has more than") == true)
    }
}
