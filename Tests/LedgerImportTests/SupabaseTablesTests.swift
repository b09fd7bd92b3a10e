import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// The tables of Supabase, as its dashboard, its command line and its former releases write them.
@Suite struct SupabaseTablesTests {
    private static let time = "2024-01-01 00:00:00.5+00"
    private static let bcrypt = "$2b$10$CCCCCCCCCCCCCCCCCCCCC.KgQljzbljH4iwhlg3oTf8buusOTZRX6"

    private static func records(_ texts: String...) throws -> [SourceRecord] {
        try AccountFileTests.records(.supabase, texts).map(\.record)
    }

    private static func accounts(_ records: [SourceRecord]) -> [SourceAccount] {
        records.compactMap { if case .account(let account) = $0 { account } else { nil } }
    }

    @Test(arguments: ["null", "NULL"])
    func `the dashboard's null is NULL`(null: String) throws {
        let accounts = Self.accounts(
            try Self.records(
                """
                id,email,encrypted_password,email_confirmed_at,phone,phone_confirmed_at,banned_until,deleted_at,raw_user_meta_data,raw_app_meta_data
                u1,a@x.test,N,N,N,N,N,N,N,N
                u2,N,N,N,4930123456,N,N,N,N,N
                u3,N,N,N,4930123457,\(Self.time),N,N,{},{}

                """.replacing("N", with: null),
                """
                id,user_id,provider,provider_id,identity_data
                0b8a6a3c-3a1c-4f0e-9d51-2f6f3f1b7a10,u3,google,N,"{""sub"":""g3""}"

                """.replacing("N", with: null)))
        #expect(accounts.map(\.id) == ["u1", "u2", "u3"])
        #expect(accounts.first?.email == .init(text: "a@x.test", isVerified: false))
        #expect(accounts.allSatisfy { $0.hash == nil && !$0.isDisabled && $0.losses == [] })
        #expect(accounts.map { $0.phone?.isVerified } == [nil, false, true])
        #expect(accounts.last?.email == nil)
        #expect(accounts.last?.federated.map(\.subject) == ["g3"])
        let old = try Self.records("id,email,confirmed_at,phone\nu1,a@x.test,\(null),\(null)\n")
        #expect(Self.accounts(old).map { $0.email?.isVerified } == [false])
        let json = try Self.records("id,email,identities\nu1,a@x.test,\(null)\n")
        #expect(Self.accounts(json).map { $0.email?.text } == ["a@x.test"])
    }

    @Test(arguments: ["true", "yes", "2024", "1/2/2024 10:00", "unconfirmed", "-"])
    func `a time that can't be read confirms nothing, and is a flaw`(text: String) throws {
        for row in ["\(text),,,", ",\(text),,", ",,\(text),", ",,,\(text)"] {
            let records = try Self.records(
                "id,email,email_confirmed_at,phone_confirmed_at,banned_until,deleted_at\n"
                    + "u1,a@x.test,\(row)\n")
            guard case .flaw(.malformed)? = records.first else {
                Issue.record("\(row): \(records)")
                continue
            }
        }
    }

    @Test func `a row that was cut off is no account, and no account without a block`() throws {
        let row = "u1,a@x.test,\(Self.time),2999-01-01 00:00:00+00,\(Self.time)"
        let header = "id,email,email_confirmed_at,banned_until,deleted_at"
        let dump = "COPY auth.users (\(header)) FROM stdin;\nROW\n\\.\n"
        let cut = String(row.prefix { $0 != " " })
        for rest in [cut, cut + " 00:00:00+00", "u1,a@x.te", row + ","] {
            for text in [
                "\(header)\n\(rest)", dump.replacing("ROW", with: rest.replacing(",", with: "\t")),
            ] {
                guard case .flaw(.malformed)? = try Self.records(text).first else {
                    Issue.record("\(text)")
                    continue
                }
            }
        }
        for rest in ["g1,u1,goo", "g1,u1,google,x,y"] {
            #expect(throws: ImportFault.malformedIdentity(line: 2)) {
                try Self.records("id\nu1\n", "provider_id,user_id,provider,id\n\(rest)\n")
            }
        }
    }

    @Test func `a ban without an end is one`() throws {
        let accounts = Self.accounts(
            try Self.records("id,banned_until\nu1,infinity\nu2,-infinity\n"))
        #expect(accounts.map(\.isDisabled) == [true, false])
    }

    /// The file is read at 14:13:20 UTC.
    @Test(arguments: [
        ("16:00:00+02", false), ("13:00:00-05", true), ("19:44:00.5+05:30", true),
        ("19:43:00+05:30", false), ("14:14:00", true), ("14:13:00Z", false),
    ])
    func `a ban ends at its moment, whatever the offset`(end: String, isDisabled: Bool) throws {
        let accounts = Self.accounts(try Self.records("id,banned_until\nu1,2026-09-21 \(end)\n"))
        #expect(accounts.map(\.isDisabled) == [isDisabled])
    }

    private static func mapped(
        _ account: SourceAccount?, providers: [(String, ProviderType)], confirmLater: Bool = false
    ) throws -> AccountMapper.Mapped {
        var policy = TenantPolicy(providers: [])
        policy.confirmLater = confirmLater
        for (name, type) in providers {
            policy.providers[try #require(ProviderName(name))] = ProviderPin(
                type: type, issuers: [])
        }
        let mapper = AccountMapper(
            .supabase, under: policy, given: [:],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        let source = try #require(account)
        return try #require(mapper.map(source, at: Timestamp(seconds: 0)) { 1 })
    }

    @Test func `a confirmed address signs in by codes also beside a password`() throws {
        let accounts = Self.accounts(
            try Self.records(
                """
                id,email,encrypted_password,email_confirmed_at
                u1,a@x.test,\(Self.bcrypt),\(Self.time)
                u2,b@x.test,\(Self.bcrypt),

                """))
        let both: [(String, ProviderType)] = [("password", .password), ("email", .email)]
        let first = try #require(accounts.first)
        let command = try #require(Self.mapped(first, providers: both).command)
        let ways = command.addresses.flatMap(\.ways)
        #expect(ways.map(\.provider.description) == ["password", "email"])
        #expect(ways.map { $0.password == nil } == [false, true])
        // Opened, named, two links, an address, a password; and a block and another's claim, which it may have.
        #expect(first.eventsMax == 8)
        for one in both {
            let alone = try #require(Self.mapped(first, providers: [one]).command)
            #expect(alone.addresses.flatMap(\.ways).map(\.provider.description) == [one.0])
        }
        let unverified = try Self.mapped(accounts.last, providers: both)
        #expect(unverified.command == nil && unverified.losses == [.unverifiedAddress])
    }

    @Test(arguments: [
        "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHQ$FqGkmHNGCd0BRW2kBt6fPZ2pPmyGwwChL8FGUhTOSSI",
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
    ])
    func `hashes of users that were imported into Supabase are taken`(hash: String) throws {
        let accounts = Self.accounts(
            try Self.records(
                "id,email,encrypted_password,email_confirmed_at\nu1,a@x.test,\"\(hash)\",\(Self.time)\n"
            ))
        let mapped = try Self.mapped(accounts.first, providers: [("password", .password)])
        #expect(mapped.losses == [] && mapped.command?.addresses.count == 1)
    }

    @Test func `an unverified address with a hash is a claim where addresses are confirmed later`()
        throws
    {
        let accounts = Self.accounts(
            try Self.records(
                """
                id,email,encrypted_password,phone
                u1,a@x.test,\(Self.bcrypt),
                u2,b@x.test,$9$unknown,
                u3,,,4930123456

                """))
        let all: [(String, ProviderType)] = [
            ("password", .password), ("email", .email), ("phone", .phone),
        ]
        let mapped = try accounts.map {
            try Self.mapped($0, providers: all, confirmLater: true)
        }
        let claim = try #require(mapped.first?.command?.addresses.first)
        #expect(claim.isClaimed && claim.ways.map(\.provider.description) == ["password"])
        #expect(mapped.first?.losses == [])
        #expect(mapped.count == 3)
        for other in mapped.dropFirst() {
            #expect(other.command == nil && other.losses == [.unverifiedAddress])
        }
    }

    @Test func `the subject is the provider's, in each release`() throws {
        let uuid = "0b8a6a3c-3a1c-4f0e-9d51-2f6f3f1b7a10"
        let sub = #""{""sub"":""s1""}""#
        func subjects(_ header: String, _ row: String) throws -> [String] {
            let records = try Self.records(
                "id\nu1\n", "user_id,provider,\(header)\nu1,google,\(row)\n")
            return Self.accounts(records).flatMap { $0.federated.map(\.subject) }
        }
        #expect(try subjects("id,provider_id,identity_data", "\(uuid),p1,\(sub)") == ["p1"])
        #expect(try subjects("id,identity_data", "\(uuid),\(sub)") == ["s1"])
        #expect(try subjects("id,identity_data", "g1,{}") == ["g1"])
        #expect(try subjects("id,identity_data", "\(uuid),{}") == [""])
        let json = try Self.records(
            """
            id,identities
            u1,"[{""provider"":""google"",""id"":""\(uuid)"",""identity_data"":{""sub"":""s1""}},{""provider"":""apple"",""id"":""a1""},{""provider"":""x"",""id"":""\(uuid)""}]"

            """)
        #expect(Self.accounts(json).flatMap { $0.federated.map(\.subject) } == ["s1", "a1", ""])
    }

    @Test func `the dump of Supabase's command line quotes its names`() throws {
        let accounts = Self.accounts(
            try Self.records(
                """
                SET session_replication_role = replica;

                COPY "auth"."users" ("instance_id", "id", "email", "email_confirmed_at") FROM stdin;
                0\tu1\ta@x.test\t\(Self.time)
                \\.

                COPY "auth"."identities" ("provider_id", "user_id", "identity_data", "provider") FROM stdin;
                g1\tu1\t{"sub": "g1"}\tgoogle
                \\.

                """))
        #expect(accounts.map(\.id) == ["u1"])
        #expect(accounts.flatMap { $0.federated.map(\.subject) } == ["g1"])
    }

    @Test func `a file of identities without them is named`() throws {
        let users = "COPY auth.users (id) FROM stdin;\nu1\n\\.\n"
        #expect(throws: ImportFault.missingTable("auth.identities")) {
            try Self.records(users, "user_id,provider,provider_id\nu1,google,g1\n")
        }
        #expect(throws: ImportFault.missingColumn("user_id")) {
            try Self.records("id\nu1\n", users)
        }
        #expect(try Self.accounts(Self.records(users)).map(\.id) == ["u1"])
    }

    @Test func `a second factor of a dump is a loss`() throws {
        let accounts = Self.accounts(
            try Self.records(
                """
                COPY auth.mfa_factors (id, user_id, friendly_name, status, secret) FROM stdin;
                f1\tu1\t\\N\tunverified\ts
                f2\tu2\tphone\tunverified\ts
                f3\tu2\t\\N\tverified\ts
                \\.

                COPY auth.users (id, email) FROM stdin;
                u1\ta@x.test
                u2\tb@x.test
                u3\tc@x.test
                \\.

                """))
        #expect(accounts.map(\.losses) == [[], [.secondFactors], []])
    }

    @Test func `rows of another table are not taken for the tables of a dump`() throws {
        let records = try Self.records(
            """
            COPY app.notes (text) FROM stdin;
            COPY auth.users (id, email, email_confirmed_at) FROM stdin;
            eve\ta@x.test\t\(Self.time)
            \\.

            COPY auth.users (id, email) FROM stdin;
            u1\ta@x.test
            \\.

            """)
        #expect(Self.accounts(records).map(\.id) == ["u1"])
    }

    @Test func `a dump without the table of users names it`() throws {
        let fault = #expect(throws: ImportFault.self) {
            try Self.records("--\nINSERT INTO auth.users VALUES (1);\n")
        }
        #expect(fault?.description == "the file has no COPY of auth.users")
    }

    private static let providers =
        #""{""provider"":""email"",""providers"":[""email"",""google""]}""#

    @Test func `identities of which there is no table are a loss`() throws {
        func losses(_ texts: String...) throws -> [[String]] {
            try Self.accounts(AccountFileTests.records(.supabase, texts).map(\.record))
                .map { $0.losses.map(\.rawValue) }
        }
        let users = """
            id,email,email_confirmed_at,raw_app_meta_data
            u1,a@x.test,\(Self.time),\(Self.providers)
            u2,b@x.test,\(Self.time),"{""provider"":""email"",""providers"":[""email"",""phone""]}"
            u3,c@x.test,\(Self.time),"{""provider"":""google""}"

            """
        let lost = ["identities_not_in_file"]
        #expect(try losses(users) == [lost, [], lost])
        let identities = "user_id,provider,provider_id\nu1,google,g1\n"
        #expect(try losses(users, identities) == [[], [], lost])
        let dump = """
            --
            COPY auth.users (id, raw_app_meta_data) FROM stdin;
            u1\t{"providers": ["google"]}
            \\.

            """
        #expect(try losses(dump) == [lost])
        // A table without some of the rows.
        #expect(
            try losses(users, "user_id,provider,provider_id\nu1,apple,a1\nu3,google,g3\n")
                == [lost, [], []])
        let column = """
            id,raw_app_meta_data,identities
            u1,\(Self.providers),
            u2,\(Self.providers),"[{""provider"":""google"",""id"":""g1""}]"

            """
        #expect(try losses(column) == [lost, []])
    }

    @Test func `the e-mail of a provider whose identity is missing opens nothing`() throws {
        let header = "id,email,email_confirmed_at,encrypted_password,raw_app_meta_data"
        func emails(_ data: String, hash: String = "", _ more: String...) throws -> [String?] {
            let users = "\(header)\nu1,a@x.test,\(Self.time),\(hash),\(data)\n"
            return try Self.accounts(
                AccountFileTests.records(.supabase, [users] + more).map(\.record)
            ).map { $0.email?.text }
        }
        let google = #""{""provider"":""google"",""providers"":[""google""]}""#
        let others = "user_id,provider,provider_id\nu2,google,g2\n"
        #expect(try emails(google) == [nil])
        #expect(try emails(google, others) == [nil])
        #expect(try emails(google, hash: Self.bcrypt) == ["a@x.test"])
        #expect(try emails(Self.providers, others) == ["a@x.test"])
        #expect(try emails("", others) == ["a@x.test"])
    }

    @Test func `the password of a phone number is a loss`() throws {
        let accounts = Self.accounts(
            try Self.records(
                """
                id,email,encrypted_password,phone,phone_confirmed_at
                u1,,\(Self.bcrypt),4930123456,\(Self.time)
                u2,,,4930123457,\(Self.time)

                """))
        #expect(accounts.map { $0.losses.map(\.rawValue) } == [["password_of_phone"], []])
        #expect(accounts.allSatisfy { $0.hash == nil && $0.phone?.isVerified == true })
    }
}
