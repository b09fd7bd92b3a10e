import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// The addresses and identities that an export proves, and those that it only mentions.
@Suite struct ImportedProofsTests {
    private static func accounts(
        _ format: ImportFormat, _ text: String
    ) throws -> [SourceAccount] {
        try AccountFileTests.records(format, [text]).compactMap { _, record in
            if case .account(let account) = record { account } else { nil }
        }
    }

    private static func auth0(_ text: String) throws -> SourceAccount {
        try #require(try accounts(.auth0, text).first)
    }

    @Test func `Supabase's confirmation of a phone does not verify the e-mail`() throws {
        let time = "2024-01-01 00:00:00+00"
        let accounts = try Self.accounts(
            .supabase,
            """
            id,email,email_confirmed_at,phone,phone_confirmed_at,confirmed_at
            u1,a@x.test,,4930123456,\(time),\(time)
            u2,b@x.test,,,,\(time)
            u3,c@x.test,\(time),,,\(time)

            """)
        #expect(accounts.map { $0.email?.isVerified } == [false, false, true])
        #expect(accounts.first?.phone?.isVerified == true)
    }

    @Test func `confirmed_at alone verifies an e-mail without a phone`() throws {
        let accounts = try Self.accounts(
            .supabase,
            """
            id,email,phone,confirmed_at
            u1,a@x.test,,2024-01-01 00:00:00+00
            u2,b@x.test,4930123456,2024-01-01 00:00:00+00

            """)
        #expect(accounts.map { $0.email?.isVerified } == [true, false])
    }

    @Test func `Auth0's users without identities have that of their id's prefix`() throws {
        let google = try Self.auth0(
            #"{"user_id":"google-oauth2|1","email":"a@x.test","email_verified":true}"#)
        #expect(google.email == nil)
        #expect(google.federated.map(\.provider) == ["google-oauth2"])
        #expect(google.federated.map(\.subject) == ["1"])
        #expect(google.federated.map(\.email) == ["a@x.test"])
        for id in ["auth0|1", "1"] {
            let own = try Self.auth0(
                #"{"user_id":"\#(id)","email":"a@x.test","email_verified":true}"#)
            #expect(own.email == .init(text: "a@x.test", isVerified: true))
            #expect(own.federated == [] && own.hasPassword)
        }
        let codes = try Self.auth0(
            #"{"user_id":"email|1","email":"a@x.test","email_verified":true}"#)
        #expect(codes.email?.isVerified == true && codes.hasCodes && !codes.hasPassword)
    }

    @Test func `Auth0's e-mail at the root is that of the first identity alone`() throws {
        let linked = try Self.auth0(
            """
            {"user_id":"google-oauth2|1","email":"a@x.test","email_verified":true,"password_hash":"$2b$10$abc","identities":[{"provider":"google-oauth2","user_id":"1"},{"provider":"auth0","user_id":"2","profileData":{"email":"b@x.test","email_verified":false}},{"provider":"github","user_id":"3"}]}
            """)
        #expect(linked.email == .init(text: "b@x.test", isVerified: false))
        #expect(linked.federated.map(\.email) == ["a@x.test", nil])
        let bare = try Self.auth0(
            """
            {"user_id":"google-oauth2|1","email":"a@x.test","email_verified":true,"identities":[{"provider":"google-oauth2","user_id":"1"},{"provider":"auth0","user_id":"2"}]}
            """)
        #expect(bare.email == nil)
    }

    @Test func `a second own address of Auth0 is a loss, and the password's comes first`() throws {
        let both = try Self.auth0(
            """
            {"user_id":"email|1","email":"a@x.test","email_verified":true,"identities":[{"provider":"email","user_id":"1"},{"provider":"auth0","user_id":"2","profileData":{"email":"b@x.test","email_verified":true}}]}
            """)
        #expect(both.email?.text == "b@x.test" && !both.hasCodes)
        #expect(both.losses == [.furtherAddress])
    }

    @Test(arguments: ["a@x.test", "b@x.test"])
    func `a verified address of Auth0 comes before one of a database that is not`(
        database: String
    ) throws {
        let codes = #"{"provider":"email","user_id":"1""#
        let password = #"{"provider":"auth0","user_id":"2""#
        let root = #""user_id":"x|1","password_hash":"$2b$10$abc""#
        for line in [
            #"{\#(root),"email":"a@x.test","email_verified":true,"identities":[\#(codes)},\#(password),"profileData":{"email":"\#(database)","email_verified":false}}]}"#,
            #"{\#(root),"email":"\#(database)","email_verified":false,"identities":[\#(password)},\#(codes),"profileData":{"email":"a@x.test","email_verified":true}}]}"#,
        ] {
            let account = try Self.auth0(line)
            #expect(account.email == .init(text: "a@x.test", isVerified: true))
            #expect(account.hasCodes && !account.hasPassword && account.hash == nil)
            #expect(
                Set(account.losses)
                    == (database == "a@x.test"
                        ? [.unverifiedAddress] : [.unverifiedAddress, .furtherAddress]))
        }
    }

    @Test func `a hash of one of two databases is not given to the other`() throws {
        let account = try Self.auth0(
            """
            {"user_id":"auth0|1","email":"a@x.test","email_verified":false,"password_hash":"$2b$10$abc","identities":[{"provider":"auth0","user_id":"1"},{"provider":"auth0","user_id":"2","profileData":{"email":"b@x.test","email_verified":true}}]}
            """)
        #expect(account.email == .init(text: "b@x.test", isVerified: true))
        #expect(account.hash == nil && account.hasPassword)
    }

    @Test func `a user of Keycloak needs an id, and a former password is no second factor`() throws
    {
        let records = try AccountFileTests.records(
            .keycloak,
            [
                """
                {"users":[{"username":"ada","email":"a@x.test"},
                {"id":"1","credentials":[{"type":"password-history"}]}]}
                """
            ])
        guard case .flaw(.noID)? = records.first?.record,
            case .account(let account)? = records.last?.record
        else {
            Issue.record("\(records)")
            return
        }
        #expect(account.losses == [])
    }

    @Test func `an account has at most 64 identities, and the others are a loss`() throws {
        let google = try #require(ProviderName("google"))
        let mapper = AccountMapper(
            .auth0, under: TenantPolicy(providers: [google], severalPerProvider: true), given: [:],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        for (count, losses) in [(64, []), (65, [.tooManyIdentities])] as [(Int, [Loss])] {
            let identities = (0..<count)
                .map { #"{"provider":"google-oauth2","user_id":"\#($0)"}"# }
                .joined(separator: ",")
            let account = try Self.auth0(#"{"user_id":"1","identities":[\#(identities)]}"#)
            let mapped = mapper.map(account, at: Timestamp(seconds: 0)) { 1 }
            #expect(mapped?.command?.identities.count == 64)
            #expect(mapped?.losses == losses)
        }
    }

    @Test func `a batch ends at the number of its events`() throws {
        let identities = (0..<100).map { #"{"provider":"p","user_id":"\#($0)"}"# }
            .joined(separator: ",")
        let line = #"{"user_id":"1","identities":[\#(identities)]}"#
        let account = try Self.auth0(line)
        #expect(account.federated.count == 100)
        #expect(account.eventsMax == SourceAccount.identitiesMax + 3)
        try AccountFileTests.with([line + "\n" + line + "\n" + line]) { paths in
            var file = try AccountFile(
                .auth0, paths: paths, hashing: nil, now: Timestamp(seconds: 0))
            #expect(try file.batch(recordsMax: 512, eventsMax: 100).count == 2)
            #expect(try file.batch(recordsMax: 512, eventsMax: 100).count == 1)
            #expect(try file.batch(recordsMax: 512, eventsMax: 100).isEmpty)
        }
    }

    @Test(arguments: [
        (
            ImportFormat.auth0,
            #"{"user_id":"1","identities":[{"provider":"google-oauth2","user_id":NUMBER}]}"#
        ),
        (
            .auth0,
            #"{"user_id":"1","app_metadata":{"account_ledger":{"identities":[{"provider":"x","user_id":NUMBER}]}}}"#
        ),
        (.firebase, #"{"localId":"1","providerUserInfo":[{"providerId":"x","rawId":NUMBER}]}"#),
        (
            .keycloak,
            #"{"id":"1","credentials":[],"federatedIdentities":[{"identityProvider":"x","userId":NUMBER}]}"#
        ),
    ])
    func `a rounded number is no subject`(
        format: ImportFormat, record: String
    ) throws {
        let google = try #require(ProviderName("google"))
        let mapper = AccountMapper(
            format, under: TenantPolicy(providers: [google]),
            given: ["google-oauth2": google, "x": google],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        for (number, subject) in [
            ("9007199254740991", "9007199254740991"), ("9007199254740993", nil),
            ("-9007199254740993", nil), ("117526984351268745301", nil),
        ] as [(String, String?)] {
            let bytes = Array(record.replacing("NUMBER", with: number).utf8)
            guard case .account(let account) = AccountFile.record(bytes, format) else {
                Issue.record("\(number) makes a flaw")
                continue
            }
            let mapped = try #require(mapper.map(account, at: Timestamp(seconds: 0)) { 1 })
            #expect(mapped.command?.identities.map(\.subject.providerID) == subject.map { [$0] })
            #expect(mapped.losses.contains(.invalidSubject) == (subject == nil))
        }
    }

    @Test func `an account without an id that is read exactly has none`() {
        for (format, record) in [
            (.auth0, #"{"user_id":9007199254740993}"#),
            (.auth0, #"{"alt_id":9007199254740993,"_id":{"$oid":"5dea"}}"#),
            (.firebase, #"{"localId":9007199254740993}"#),
        ] as [(ImportFormat, String)] {
            guard case .flaw(.noID) = AccountFile.record(Array(record.utf8), format) else {
                Issue.record("\(record) has an id")
                continue
            }
        }
    }

    private static let dump = """
        --
        COPY auth.identities (user_id, provider, provider_id) FROM stdin;
        u1\tgoogle\tg1
        \\.
        COPY auth.users (id, email) FROM stdin;
        u1\ta@x.test
        \\.

        -- the end

        """

    @Test func `what follows the users of a dump is no user`() throws {
        try AccountFileTests.with([Self.dump]) { paths in
            var file = try AccountFile(
                .supabase, paths: paths, hashing: nil, now: Timestamp(seconds: 0))
            #expect(try file.batch(recordsMax: 9, eventsMax: 999).count == 1)
            #expect(try file.batch(recordsMax: 9, eventsMax: 999).isEmpty)
        }
    }

    @Test func `a dump that breaks off is malformed at its end`() throws {
        let users = Self.dump.prefix(
            upTo: try #require(Self.dump.firstRange(of: "\\.\n\n")).lowerBound)
        #expect(throws: ImportFault.malformed(line: 7)) {
            try AccountFileTests.records(.supabase, [String(users)])
        }
        let identities = "COPY auth.identities (user_id, provider) FROM stdin;\nu1\tgoogle\n"
        #expect(throws: ImportFault.malformedIdentity(line: 3)) {
            try AccountFileTests.records(.supabase, [Self.dump, identities])
        }
    }

    @Test(arguments: [
        "u1,goo\"gle\",g1\n", "u1,google,\"g1\"x\n", ",google,g1\n", "u1,\"google,g1\n",
    ])
    func `an identity that can't be read ends the import before it begins`(row: String) throws {
        try AccountFileTests.with([
            "id\nu1\n", "user_id,provider,provider_id\nu2,google,g2\n\n" + row,
        ]) { paths in
            #expect(throws: ImportFault.malformedIdentity(line: 4)) {
                try AccountFile(.supabase, paths: paths, hashing: nil, now: Timestamp(seconds: 0))
            }
        }
    }
}
