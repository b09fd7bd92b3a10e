import Foundation
import Ledger
import LedgerImport
import Testing

/// The accounts of exports.
@Suite struct AccountFileTests {
    /// Reads the files as an export, and returns each record's line and text.
    static func records(
        _ format: ImportFormat, _ texts: [String], hashing: FirebaseHashing? = nil
    ) throws -> [(line: Int, record: SourceRecord)] {
        try with(texts) { paths in
            var file = try AccountFile(
                format, paths: paths, hashing: hashing, now: Timestamp(seconds: 1_790_000_000))
            var records: [(line: Int, record: SourceRecord)] = []
            while let (record, line) = try file.next() { records.append((line, record)) }
            return records
        }
    }

    /// Writes the texts to files during the body.
    @discardableResult
    static func with<Value>(_ texts: [String], _ body: ([String]) throws -> Value) throws -> Value {
        try with(texts.map { Data($0.utf8) }, body)
    }

    /// Writes the contents to files during the body.
    static func with<Value>(
        _ contents: [Data], _ body: ([String]) throws -> Value
    ) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "import-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = try contents.enumerated().map { index, content in
            let url = folder.appending(path: "\(index)")
            try content.write(to: url)
            return url.path
        }
        return try body(paths)
    }

    private static func accounts(
        _ format: ImportFormat, _ texts: String..., hashing: FirebaseHashing? = nil
    ) throws -> [SourceAccount] {
        try records(format, texts, hashing: hashing).map { _, record in
            guard case .account(let account) = record else { throw NoAccount(record: record) }
            return account
        }
    }

    private struct NoAccount: Error {
        let record: SourceRecord
    }

    @Test func `Auth0's users have identities, an own address, a hash and a block`() throws {
        let accounts = try Self.accounts(
            .auth0,
            """
            {"user_id":"google-oauth2|1","email":"ada@x.test","email_verified":true,"name":"Ada","identities":[{"user_id":"1","provider":"google-oauth2","connection":"google-oauth2","isSocial":true},{"user_id":42,"provider":"github","profileData":{"email":"a@g.test","email_verified":false}}]}

            {"user_id":"auth0|2","email":"bob@x.test","email_verified":true,"blocked":true,"username":"bob","multifactor":["guardian"],"identities":[{"user_id":"2","provider":"auth0"}],"password_hash":"$2b$10$abc"}
            {"user_id":"email|3","email":"eve@x.test","email_verified":true,"identities":[{"user_id":"3","provider":"email"}]}
            {"user_id":"sms|4","phone_number":"+4930123456","phone_verified":true,"identities":[{"user_id":"4","provider":"sms"}]}
            {"user_id":"auth0|5","email":"kim@x.test","email_verified":false,"identities":[{"user_id":"5","provider":"auth0"}]}
            """)
        #expect(
            accounts.map(\.id) == ["google-oauth2|1", "auth0|2", "email|3", "sms|4", "auth0|5"])
        let ada = accounts[0]
        #expect(ada.email == nil && ada.losses == [.profile])
        #expect(ada.federated.map(\.provider) == ["google-oauth2", "github"])
        #expect(ada.federated.map(\.subject) == ["1", "42"])
        #expect(ada.federated.map(\.email) == ["ada@x.test", "a@g.test"])
        #expect(ada.federated.map(\.isEmailVerified) == [true, false])
        let bob = accounts[1]
        #expect(bob.hash == "$2b$10$abc" && bob.hasPassword && bob.isDisabled)
        #expect(bob.losses == [.username, .secondFactors])
        #expect(accounts[2].hasCodes && !accounts[2].hasPassword)
        #expect(accounts[3].phone == .init(text: "+4930123456", isVerified: true))
        #expect(accounts[4].email == .init(text: "kim@x.test", isVerified: false))
        #expect(accounts[4].hasPassword && accounts[4].hash == nil)
    }

    @Test func `a file for Auth0's import is an array, with hashes of other schemes`() throws {
        let accounts = try Self.accounts(
            .auth0,
            """
            [{"user_id":"1","email":"a@x.test","email_verified":true,"custom_password_hash":{"algorithm":"argon2","hash":{"value":"$argon2id$v=19$m=1,t=1,p=1$c2FsdHNhbHQ$aGFzaA","encoding":"utf8"}},"app_metadata":{"account_ledger":{"identities":[{"provider":"apple","user_id":"a"}]}}},
             {"user_id":"2","email":"b@x.test","email_verified":true,"custom_password_hash":{"algorithm":"md5","hash":{"value":"0","encoding":"hex"}}}]
            """)
        #expect(accounts[0].hash?.hasPrefix("$argon2id$") == true)
        #expect(accounts[0].federated.map(\.subject) == ["a"])
        #expect(accounts[1].hash == nil && accounts[1].losses == [.unsupportedHash])
    }

    @Test func `broken lines are flaws of their own, and the next ones are read`() throws {
        let long = String(repeating: "x", count: 10_000_000)
        let records = try Self.records(
            .auth0,
            [
                """
                {"user_id":"1","identities":[]}
                {"user_id":
                \(long)
                {"email":"a@x.test"}
                [1]
                {"user_id":"2","user_id":"3"}
                {"user_id":"2","identities":"x"}
                """
            ])
        let seen = records.map { line, record in
            switch record {
            case .account(let account): "\(line) \(account.id)"
            case .flaw(let flaw): "\(line) \(flaw.rawValue)"
            }
        }
        #expect(
            seen == [
                "1 1", "2 malformed_record", "3 record_too_long", "4 no_id", "5 malformed_record",
                "6 malformed_record", "7 2",
            ])
    }

    @Test func `an array that breaks in its middle ends the import with its line`() throws {
        #expect(throws: ImportFault.malformed(line: 2)) {
            try Self.records(.auth0, ["[{\"user_id\":\"1\"},\n{\"user_id\":\"2\"} x]"])
        }
        #expect(throws: ImportFault.malformed(line: 1)) {
            try Self.records(.firebase, ["{\"users\":[{\"localId\":\"1\"}"])
        }
    }

    private static let hashConfig = """
        hash_config {
          algorithm: SCRYPT,
          base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
          base64_salt_separator: Bw==,
          rounds: 8,
          mem_cost: 14,
        }
        """

    @Test func `Firebase's users have a project's hashes, and bcrypt`() throws {
        let hashing = try #require(FirebaseHashing(text: Array(Self.hashConfig.utf8)))
        let accounts = try Self.accounts(
            .firebase,
            """
            {"users": [
            {"localId":"a","email":"a@x.test","emailVerified":true,"passwordHash":"lSrfV15cpx95_sZS2W9c9Kp6i","salt":"42xEC-ixf3L2lw==","displayName":"A","providerUserInfo":[{"providerId":"google.com","rawId":"1","email":"g@x.test"},{"providerId":"password","rawId":"a@x.test"}]},
            {"localId":"b","email":"b@x.test","emailVerified":true,"passwordHash":"JDJiJDEwJGFiYw=="},
            {"localId":"c","phoneNumber":"+4930123456","disabled":true,"providerUserInfo":[{"providerId":"phone"}]},
            {"localId":"d"}
            ]}
            """, hashing: hashing)
        #expect(
            accounts[0].hash?.hasPrefix("$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8")
                == true)
        #expect(
            accounts[0].hash?.hasSuffix("$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i===") == true)
        #expect(accounts[0].federated.map(\.provider) == ["google.com"])
        #expect(accounts[1].hash == "$2b$10$abc")
        #expect(accounts[2].phone?.isVerified == true && accounts[2].isDisabled)
        #expect(accounts[3].email == nil && accounts[3].federated == [])
    }

    @Test func `Firebase's CSV has the providers in fixed columns`() throws {
        let row =
            #"a,a@x.test,true,JDJiJDEwJGFiYw==,,"Ada, A",,1,g@x.test,,,,,,,,,,,42,,,,0,0,+4930123456,false,"{""x"":1}","#
        let accounts = try Self.accounts(.firebase, row + "\n")
        #expect(accounts[0].federated.map(\.provider) == ["google.com", "github.com"])
        #expect(accounts[0].federated.map(\.subject) == ["1", "42"])
        #expect(accounts[0].phone?.text == "+4930123456" && accounts[0].losses == [.profile])
        #expect(accounts[0].hash == "$2b$10$abc")
        let short = try Self.records(.firebase, ["a,b\n"])
        guard case .flaw(.malformed)? = short.first?.record else {
            Issue.record("\(short)")
            return
        }
    }

    @Test func `Firebase's newer CSV has six more providers`() throws {
        var row = Array(repeating: "", count: 52)
        row[0] = "a"
        row[26] = "true"
        for (index, provider) in Self.newProviders {
            row[index] = provider
            row[index + 1] = "\(index)@x.test"
        }
        let text = row.joined(separator: ",") + ",\n"
        let account = try #require(Self.accounts(.firebase, text).first)
        #expect(account.federated.map(\.provider) == Self.newProviders.map(\.1))
        #expect(account.federated.map(\.subject) == Self.newProviders.map(\.1))
        #expect(account.federated.map(\.email) == Self.newProviders.map { "\($0.0)@x.test" })
        #expect(account.isDisabled && account.email == nil && account.losses == [])
    }

    private static let newProviders = [
        (28, "apple.com"), (32, "microsoft.com"), (36, "gc.apple.com"),
        (40, "playgames.google.com"), (44, "linkedin.com"), (48, "yahoo.com"),
    ]

    @Test(arguments: ["", "hash_config {}", "algorithm: BCRYPT", "algorithm: SCRYPT, rounds: 9"])
    func `another text is no hash_config`(text: String) {
        #expect(FirebaseHashing(text: Array(text.utf8)) == nil)
    }

    @Test func `Keycloak's users have hashes of three kinds`() throws {
        let accounts = try Self.accounts(
            .keycloak,
            #"""
            {"realm":"x","users":[
            {"id":"1","username":"ada","email":"a@x.test","emailVerified":true,"enabled":true,"firstName":"A","federatedIdentities":[{"identityProvider":"google","userId":"g","userName":"a"}],"credentials":[{"type":"password","secretData":"{\"value\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\",\"salt\":\"c2FsdHNhbHRzYWx0c2FsdA==\",\"additionalParameters\":{}}","credentialData":"{\"hashIterations\":27500,\"algorithm\":\"pbkdf2-sha256\",\"additionalParameters\":{}}"},{"type":"otp"}]},
            {"id":"2","username":"b@x.test","email":"b@x.test","emailVerified":true,"enabled":false,"credentials":[{"type":"password","secretData":"{\"value\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\",\"salt\":\"c2FsdHNhbHRzYWx0c2FsdA==\"}","credentialData":"{\"hashIterations\":5,\"algorithm\":\"argon2\",\"additionalParameters\":{\"hashLength\":[\"32\"],\"memory\":[\"7168\"],\"type\":[\"id\"],\"version\":[\"1.3\"],\"parallelism\":[\"1\"]}}"}]},
            {"id":"3","username":"c@x.test","email":"c@x.test","emailVerified":true,"credentials":[{"type":"password","hashedSaltedValue":"AAECAwQFBgcICQoLDA0ODxAREhM=","salt":"c2FsdA==","hashIterations":1000,"algorithm":"pbkdf2"}]}
            ],"clients":[{}]}
            """#)
        #expect(
            accounts[0].hash?.hasPrefix("$pbkdf2-sha256$i=27500,l=32$c2FsdHNhbHRzYWx0c2FsdA$")
                == true)
        #expect(accounts[0].losses == [.username, .profile, .secondFactors])
        #expect(accounts[0].federated.map(\.subject) == ["g"])
        #expect(accounts[1].hash?.hasPrefix("$argon2id$v=19$m=7168,t=5,p=1$") == true)
        #expect(accounts[1].isDisabled && accounts[1].losses == [])
        #expect(accounts[2].hash?.hasPrefix("$pbkdf2-sha1$i=1000,l=20$c2FsdA$") == true)
    }

    private static func realms(_ text: String) throws -> [String] {
        try records(.keycloak, [text]).map { line, record in
            guard case .account(let account) = record else { return "\(line) \(record)" }
            return "\(line) \(account.id)"
        }
    }

    @Test func `an export of all of Keycloak's realms has the users of one`() throws {
        let users = #""users":[{"id":"1"},{"id":"2"}]"#
        #expect(
            try Self.realms(
                "[{\"id\":\"r\",\"realm\":\"a\",\n\(users),\"clients\":[{}]}, {\"realm\":\"b\"}]")
                == ["2 1", "2 2"])
        #expect(try Self.realms("[{\"realm\":\"a\",\"users\":[]},{\(users)}]") == ["1 1", "1 2"])
        let long = String(repeating: "x", count: 2_000_000)
        #expect(try Self.realms("[{\"realm\":\"\(long)\",\(users)}]") == ["1 1", "1 2"])
        // Users as the administration's interface lists them.
        #expect(try Self.realms("[{\"id\":\"1\"},{\"id\":\"2\"}]") == ["1 1", "1 2"])
        #expect(try Self.realms("[]") == [])
    }

    @Test(arguments: [
        (
            #"[{"realm":"a","users":[{"id":"1"}]},{"realm":"b","users":[{"id":"2"}]}]"#,
            "the file has users of several realms: export one, with kc.sh export --realm NAME"
        ),
        (#"{"realm":"a"}"#, "the file has no users"), (#"{}"#, "the file has no users"),
        (#"[{"realm":"a","id":"r"}]"#, "the file has no users"),
    ])
    func `no realm's users are taken for another's, or missed`(text: String, fault: String) throws {
        let thrown = #expect(throws: ImportFault.self) { try Self.realms(text) }
        #expect(thrown?.description == fault)
    }

    private static let users = """
        id,email,encrypted_password,email_confirmed_at,phone,phone_confirmed_at,banned_until,deleted_at,raw_user_meta_data
        u1,a@x.test,$2a$10$abc,2024-01-01 00:00:00+00,,,,,"{""name"":""A,
        B""}"
        u2,b@x.test,,2024-01-01 00:00:00+00,4930123456,2024-01-01 00:00:00+00,2999-01-01 00:00:00+00,,{}
        u3,,,,,,2001-01-01 00:00:00+00,,
        u4,,,,,,,2024-01-01 00:00:00+00,

        """

    private static func check(_ records: [(line: Int, record: SourceRecord)]) throws {
        let accounts = records.compactMap { _, record in
            if case .account(let account) = record { account } else { nil }
        }
        #expect(accounts.map(\.id) == ["u1", "u2", "u3"])
        #expect(accounts[0].hash == "$2a$10$abc" && accounts[0].email?.isVerified == true)
        #expect(accounts[0].losses == [.profile])
        #expect(accounts[1].phone == .init(text: "+4930123456", isVerified: true))
        #expect(accounts.map(\.isDisabled) == [false, true, false])
        #expect(accounts[1].email == nil)
        #expect(accounts[1].federated.map(\.subject) == ["g2"])
        #expect(accounts[1].federated.map(\.email) == ["g@x.test"])
        #expect(accounts[2].federated.map(\.provider) == ["google", "apple"])
        guard case .flaw(.deleted)? = records.last?.record else {
            Issue.record("\(records)")
            return
        }
    }

    @Test func `Supabase's identities are found whatever their order`() throws {
        let identities = """
            provider_id,user_id,identity_data,provider
            g3,u3,"{""sub"":""g3""}",google
            u1,u1,"{""sub"":""u1""}",email
            g2,u2,"{""sub"":""g2"",""email"":""g@x.test"",""email_verified"":true}",google
            a3,u3,{},apple

            """
        let records = try Self.records(.supabase, [Self.users, identities])
        try Self.check(records)
        #expect(records.map(\.line) == [2, 4, 5, 6])
    }

    @Test func `Supabase's dump has both tables`() throws {
        let dump = """
            --
            -- PostgreSQL database dump
            --
            COPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;
            g3\tu3\t{"sub": "g3"}\tgoogle
            u1\tu1\t{"sub": "u1"}\temail
            g2\tu2\t{"sub": "g2", "email": "g@x.test"}\tgoogle
            a3\tu3\t{}\tapple
            \\.

            COPY auth.users (id, email, encrypted_password, email_confirmed_at, phone, phone_confirmed_at, banned_until, deleted_at, raw_user_meta_data) FROM stdin;
            u1\ta@x.test\t$2a$10$abc\t2024-01-01 00:00:00+00\t\\N\t\\N\t\\N\t\\N\t{"name": "A\\nB"}
            u2\tb@x.test\t\t2024-01-01 00:00:00+00\t4930123456\t2024-01-01 00:00:00+00\t2999-01-01 00:00:00+00\t\\N\t{}
            u3\t\\N\t\\N\t\\N\t\\N\t\\N\t2001-01-01 00:00:00+00\t\\N\t\\N
            u4\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t2024-01-01 00:00:00+00\t\\N
            \\.

            """
        try Self.check(try Self.records(.supabase, [dump]))
    }

    @Test func `one CSV may have the identities as JSON`() throws {
        let text = """
            id,email,identities
            u1,a@x.test,"[{""provider"":""google"",""provider_id"":""g"",""identity_data"":{""sub"":""g""}}]"
            u2,b@x.test,x

            """
        let records = try Self.records(.supabase, [text])
        guard case .account(let account) = records[0].record,
            case .flaw(.malformed) = records[1].record
        else {
            Issue.record("\(records)")
            return
        }
        #expect(account.federated.map(\.subject) == ["g"] && account.email == nil)
    }
}
