import Ledger
import LedgerSignIn
import Testing

/// The tenant's setting of local parts of other scripts than ASCII.
@Suite struct EmailLocalPartsTests {
    private func parse(_ members: String) throws -> TenantConfiguration? {
        let file = Array("{\"providers\":[]\(members)}".utf8)
        return try ProvidersFile.parse(file, policy: TenantPolicy(providers: []))[.default]
    }

    @Test func `a tenant takes ASCII alone unless its section says otherwise`() throws {
        #expect(try parse("")?.localParts == .ascii)
        #expect(try parse(",\"email_local_parts\":\"ascii\"")?.localParts == .ascii)
        #expect(try parse(",\"email_local_parts\":\"any\"")?.localParts == .any)
        for value in ["\"utf8\"", "\"ANY\"", "\"\"", "true", "null"] {
            #expect(throws: ProvidersFileFault.self, "\(value)") {
                try parse(",\"email_local_parts\":\(value)")
            }
        }
    }

    @Test func `it is no rule: the log records the same for both`() throws {
        let any = try parse(",\"email_local_parts\":\"any\"")
        #expect(try any?.policy == parse("")?.policy && any?.localParts == .any)
    }

    @Test func `a line of passwords has an address that the tenant takes`() throws {
        let line = Array(
            #"{"email":"jos\u00e9@x.test","email_verified":true,"hash":"x"}"#.utf8)
        #expect(throws: PasswordImport.Flaw.invalidEmail) { try PasswordImport(line) }
        #expect(throws: Never.self) { try PasswordImport(line, .any) }
    }
}
