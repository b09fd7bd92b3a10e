import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// Users of Auth0 with connections of their own, and the export of their hashes.
@Suite struct Auth0UsersTests {
    private static func accounts(_ texts: String...) throws -> [SourceAccount] {
        try AccountFileTests.records(.auth0, texts).compactMap { _, record in
            if case .account(let account) = record { account } else { nil }
        }
    }

    /// Returns the identities that an account gets, as `PROVIDER SUBJECT`.
    private static func identities(
        _ identity: String, of providers: [String], given: [String: String] = [:]
    ) throws -> [String] {
        var policy = TenantPolicy(providers: [])
        for name in providers {
            policy.providers[try #require(ProviderName(name))] = ProviderPin(
                type: .oidc, issuers: [])
        }
        let mapper = AccountMapper(
            .auth0, under: policy,
            given: given.compactMapValues { ProviderName($0) },
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        let line = #"{"user_id":"x|1","identities":[\#(identity)]}"#
        let account = try #require(try accounts(line).first)
        let mapped = try #require(mapper.map(account, at: Timestamp(seconds: 0)) { 1 })
        if mapped.command == nil { #expect(mapped.losses == [.unknownProvider]) }
        return (mapped.command?.identities ?? []).map {
            "\($0.subject.provider) \($0.subject.providerID)"
        }
    }

    private static let discord =
        #"{"provider":"oauth2","connection":"discord","user_id":"discord|2648","isSocial":true}"#

    @Test func `the subject of a custom connection comes without the connection's name`() throws {
        #expect(try Self.identities(Self.discord, of: ["discord"]) == ["discord 2648"])
        // Only the whole name of the connection is a prefix.
        let other = Self.discord.replacing("discord|", with: "discord2|")
        #expect(
            try Self.identities(other, of: ["discord"], given: ["discord": "discord"])
                == ["discord discord2|2648"])
        let bars = #"{"provider":"samlp","connection":"corp","user_id":"corp|a|b"}"#
        #expect(try Self.identities(bars, of: ["corp"]) == ["corp a|b"])
    }

    @Test func `a provider is given by its connection, then by its strategy`() throws {
        let both = ["oauth2": "other", "discord": "chat"]
        let providers = ["chat", "other"]
        #expect(
            try Self.identities(Self.discord, of: providers, given: both) == ["chat 2648"])
        #expect(
            try Self.identities(Self.discord, of: providers, given: ["oauth2": "other"])
                == ["other 2648"])
        let azure = #"{"provider":"waad","connection":"corp","user_id":"7"}"#
        #expect(try Self.identities(azure, of: ["chat"], given: ["corp": "chat"]) == ["chat 7"])
        #expect(try Self.identities(azure, of: ["chat"], given: ["waad": "chat"]) == ["chat 7"])
        #expect(try Self.identities(azure, of: ["waad"]) == ["waad 7"])
    }

    @Test func `connections of one strategy are not taken for one provider`() throws {
        #expect(try Self.identities(Self.discord, of: ["oauth2"]) == [])
    }

    @Test func `an id alone names its connection, too`() throws {
        let accounts = try Self.accounts(
            """
            {"user_id":"oauth2|discord|2648"}
            {"user_id":"oidc|corp|a|b"}
            {"user_id":"adfs|corp|c"}
            {"user_id":"waad|corp|1","connection":"corp"}
            {"user_id":"apple|001.a|1"}
            """)
        #expect(
            accounts.flatMap { $0.federated.map(\.subject) } == [
                "2648", "a|b", "c", "1", "001.a|1",
            ])
        #expect(
            accounts.flatMap { $0.federated.map(\.provider) } == [
                "discord", "corp", "corp", "corp", "apple",
            ])
        #expect(accounts.map(\.id).first == "oauth2|discord|2648")
    }

    @Test func `identities that an export of users lacks are a loss`() throws {
        let accounts = try Self.accounts(
            """
            {"user_id":"google-oauth2|1","email":"a@x.test","email_verified":true}
            {"user_id":"auth0|2","email":"b@x.test","identities":null}
            {"user_id":"auth0|3","identities":[]}
            {"user_id":"4","email":"c@x.test"}
            {"user_id":"a|5","app_metadata":{"account_ledger":{"identities":[]}}}
            {"_id":{"$oid":"5dea"},"email":"d@x.test"}
            """)
        #expect(
            accounts.map { $0.losses.contains(.identitiesNotInFile) }
                == [true, true, false, false, false, false])
        #expect(accounts.first?.email == nil)
    }

    private static let hashes = """
        {"_id":{"$oid":"5dea"},"email_verified":true,"email":"a@x.test","passwordHash":"$2b$10$abc","tenant":"t","connection":"Users"}
        {"_id":{"$oid":"5deb"},"alt_id":"euclid","passwordHash":"$2b$10$abd","tenant":"t","connection":"Users","identifiers":[{"type":"username","value":"bob"},{"type":"email","value":"b@x.test","verified":true}]}
        {"_id":{"$oid":"5dec"},"passwordHash":"$2b$10$abe","identifiers":[{"type":"email","value":"c@x.test","verified":false}]}
        {"_id":{"$oid":"5ded"},"email_verified":true,"email":"d@x.test","tenant":"t","connection":"Users"}
        """

    @Test func `the mark of an own export without identities leaves the e-mail of the user`() throws
    {
        let account = try #require(
            try Self.accounts(
                #"""
                {"user_id":"auth0|1","email":"a@x.test","email_verified":true,"identities":
                [{"provider":"auth0","user_id":"1","connection":"db"}],"app_metadata":
                {"account_ledger":{"external_id":"auth0|1","identities":[]}}}
                """#.replacing("\n", with: "")
            ).first)
        #expect(account.id == "auth0|1" && account.email?.text == "a@x.test")
    }

    @Test func `the export of hashes is one of users`() throws {
        let accounts = try Self.accounts(Self.hashes)
        #expect(accounts.map(\.id) == ["auth0|5dea", "auth0|euclid", "auth0|5dec", "auth0|5ded"])
        #expect(
            accounts.map { $0.email?.text } == ["a@x.test", "b@x.test", "c@x.test", "d@x.test"])
        #expect(accounts.map { $0.email?.isVerified } == [true, true, false, true])
        #expect(accounts.map(\.hash) == ["$2b$10$abc", "$2b$10$abd", "$2b$10$abe", nil])
        #expect(accounts.map(\.losses) == [[], [.username], [], []])
    }

    @Test func `the export of hashes completes the one of users`() throws {
        let users = """
            {"user_id":"auth0|5dea","email":"a@x.test","email_verified":true,"identities":[{"provider":"auth0","connection":"Users","user_id":"5dea"},{"provider":"apple","connection":"apple","user_id":"1"}]}
            {"user_id":"google-oauth2|1","identities":[{"provider":"google-oauth2","user_id":"1"},{"provider":"auth0","connection":"Users","user_id":"euclid","profileData":{"email":"b@x.test","email_verified":true}}]}
            {"user_id":"auth0|5ded","email":"d@x.test","email_verified":true}
            {"user_id":"auth0|5dea","email":"a@x.test","identities":[{"provider":"auth0","connection":"Others","user_id":"5dea"}]}
            """
        let accounts = try Self.accounts(users, "\n" + Self.hashes)
        #expect(accounts.map(\.hash) == ["$2b$10$abc", "$2b$10$abd", nil, nil])
        #expect(accounts.map { $0.federated.count } == [1, 1, 0, 0])
        #expect(accounts.map(\.hasPassword) == [true, true, true, true])
    }

    @Test(arguments: [
        #""identifiers":[{"type":"phone_number","value":"+4930123456","verified":true}]"#,
        #""identifiers":[{"type":"phone","value":"+4930123456","verified":true}]"#,
        #""phone_number":"+4930123456","phone_verified":true"#,
    ])
    func `a number in the export of hashes is an own address without its password`(
        members: String
    ) throws {
        let line = #"{"_id":{"$oid":"5dee"},"passwordHash":"$2b$10$abf",\#(members)}"#
        let number = SourceAccount.Own(text: "+4930123456", isVerified: true)
        for account in try Self.accounts(line)
            + Self.accounts(
                #"{"user_id":"auth0|5dee","identities":[{"provider":"auth0","user_id":"5dee"}],\#(members)}"#,
                line)
        {
            #expect(account.phone == number && account.email == nil)
            #expect(account.hash == nil && !account.hasPassword)
            #expect(account.losses == [.passwordOfPhone])
        }
    }

    @Test func `an unverified number of a database is no own address`() throws {
        let line =
            #"{"_id":{"$oid":"5dee"},"identifiers":[{"type":"phone","value":"+4930123456","verified":false}]}"#
        let accounts = try Self.accounts(line)
        #expect(accounts.map(\.phone) == [nil])
        #expect(accounts.map(\.losses) == [[.unverifiedAddress]])
    }

    @Test func `an id that two connections have is ambiguous without the connection`() throws {
        let user = #"{"user_id":"auth0|1","email":"a@x.test","email_verified":true}"#
        func line(_ hash: String, _ connection: String) -> String {
            #"{"_id":{"$oid":"1"},"passwordHash":"\#(hash)","connection":"\#(connection)"}"# + "\n"
        }
        let twice = line("$2b$10$abc", "a") + line("$2b$10$abd", "b")
        #expect(try Self.accounts(user, twice).map(\.hash) == [nil])
        let known =
            user.dropLast()
            + #","identities":[{"provider":"auth0","connection":"b","user_id":"1"}]}"#
        #expect(try Self.accounts(String(known), twice).map(\.hash) == ["$2b$10$abd"])
    }

    @Test(arguments: ["{\"_id\":", "{\"email\":\"a@x.test\"}", "[]"])
    func `a hash that can't be read ends the import before it begins`(line: String) throws {
        #expect(throws: ImportFault.malformedIdentity(line: 2)) {
            try Self.accounts(
                #"{"user_id":"1"}"#, #"{"_id":{"$oid":"1"},"passwordHash":"x"}"# + "\n" + line)
        }
    }
}
