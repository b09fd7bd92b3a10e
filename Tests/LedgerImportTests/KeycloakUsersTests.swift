import LedgerImport
import Testing

/// Users of Keycloak in files that lack some of their members.
@Suite struct KeycloakUsersTests {
    private static func account(_ members: String) throws -> SourceAccount {
        let text = #"[{"id":"1","email":"a@x.test","emailVerified":true\#(members)}]"#
        guard
            case .account(let account)? = try AccountFileTests.records(.keycloak, [text]).first?
                .record
        else { throw NoAccount() }
        return account
    }

    private struct NoAccount: Error {}

    private static let google =
        #","federatedIdentities":[{"identityProvider":"google","userId":"g"}]"#

    @Test(
        arguments: [
            ("", [.passwordNotInFile, .identitiesNotInFile], false),
            (#","credentials":null"#, [.passwordNotInFile, .identitiesNotInFile], false),
            (google, [.passwordNotInFile], false),
            (#","federatedIdentities":[]"#, [.passwordNotInFile], true),
            (#","credentials":[]"#, [], true), (#","credentials":[]"# + google, [], false),
        ] as [(String, [Loss], Bool)])
    func `a list without credentials or identities says so, and its e-mail opens nothing`(
        members: String, losses: [Loss], isOwn: Bool
    ) throws {
        let account = try Self.account(members)
        #expect(account.losses == losses)
        #expect((account.email != nil) == isOwn)
        #expect(!isOwn || account.hasCodes)
    }

    @Test(arguments: [
        #""realmRoles":["admin"]"#, #""clientRoles":{"app":["editor"]}"#, #""groups":["/staff"]"#,
        #""requiredActions":["UPDATE_PASSWORD"]"#, #""attributes":{"a":["b"]}"#,
    ])
    func `what the ledger does not keep is a loss`(member: String) throws {
        #expect(try Self.account(#","credentials":[],\#(member)"#).losses == [.profile])
        let name = member.prefix { $0 != ":" }
        #expect(try Self.account(#","credentials":[],\#(name):[]"#).losses == [])
    }

    @Test(
        arguments: [
            (#""default-roles-acme""#, []), (#""default-roles-acme","admin""#, [.profile]),
        ] as [(String, [Loss])])
    func `the role that every user of a realm has is no loss`(
        roles: String, losses: [Loss]
    ) throws {
        let members = #","credentials":[],"realmRoles":[\#(roles)]"#
        #expect(try Self.account(members).losses == losses)
    }

    @Test func `the password of a person from LDAP is not in the file`() throws {
        let link = #","credentials":[],"federationLink":"0b8a6a3c-3a1c-4f0e-9d51-2f6f3f1b7a10""#
        #expect(try Self.account(link).losses == [.passwordNotInFile])
        #expect(try Self.account(link).hasCodes)
        #expect(try Self.account(#","credentials":[],"federationLink":null"#).losses == [])
    }

    @Test func `a second factor is a loss also without its credential`() throws {
        let credentials = #","credentials":[]"#
        #expect(try Self.account(credentials + #","totp":true"#).losses == [.secondFactors])
        #expect(try Self.account(credentials + #","totp":false"#).losses == [])
    }
}
