import Cryptography
import Ledger
import LedgerImport
import LedgerSignIn
import Testing

/// Accounts that are written for another system, and read again.
@Suite struct UserWriterTests {
    private static let types = [
        ("google", ProviderType.oidc), ("email", .email), ("password", .password),
        ("phone", .phone),
    ].reduce(into: [ProviderName: ProviderType]()) { types, named in
        if let name = ProviderName(named.0) { types[name] = named.1 }
    }

    private static func identity(
        _ provider: String, address: String? = nil, email: Email? = nil, hash: String? = nil,
        isClaimed: Bool = false
    ) throws -> ExportedAccount.Identity {
        var identity = ExportedAccount.Identity(
            id: IdentityID(bits: 1), provider: try #require(ProviderName(provider)),
            providerID: "subject")
        identity.address = address
        identity.isAddressVerified = !isClaimed
        identity.email = email
        identity.hash = hash
        return identity
    }

    private static func account(
        _ names: [String] = [], _ identities: [ExportedAccount.Identity]
    ) throws -> ExportedAccount {
        var account = ExportedAccount(id: AccountID(bits: 7), isDisabled: false)
        account.identities = identities
        let source = try #require(NameSource("auth0"))
        account.names = try names.map { try #require(ExternalName(source: source, id: $0)) }
        return account
    }

    private static func written(
        _ account: ExportedAccount
    ) throws -> (account: SourceAccount, omissions: [UserWriter.Omission], text: String) {
        let (bytes, omissions) = UserWriter(for: .auth0, types: types).write(account)
        guard case .account(let read) = AccountFile.record(bytes, .auth0) else {
            throw NotRead()
        }
        return (read, omissions, String(decoding: bytes, as: UTF8.self))
    }

    private struct NotRead: Error {}

    @Test(arguments: [
        (UserWriter.Target.auth0, #""email_verified":"#), (.firebase, #""emailVerified":"#),
    ])
    func `a claimed address is not called verified`(target: UserWriter.Target, member: String)
        throws
    {
        for isClaimed in [true, false] {
            let password = try Self.identity(
                "password", address: "a@x.test", hash: "$2b$10$abc", isClaimed: isClaimed)
            let bytes = UserWriter(for: target, types: Self.types)
                .write(try Self.account([], [password])).bytes
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("\(member)\(!isClaimed)"), "\(text)")
        }
    }

    @Test(arguments: [[], ["google-oauth2|1"], ["auth0|1"]])
    func `a provider's e-mail comes back as no own address`(names: [String]) throws {
        let google = try Self.identity("google", email: Email("a@x.test", isVerified: true))
        let (read, omissions, text) = try Self.written(Self.account(names, [google]))
        #expect(read.email?.isVerified != true && read.phone == nil)
        #expect(read.federated.map(\.provider) == ["google"])
        #expect(read.federated.map(\.email) == ["a@x.test"])
        #expect(omissions == [])
        // Auth0 itself must not call the e-mail verified, either.
        #expect(text.contains(#""email":"a@x.test","email_verified":false"#), "\(text)")
    }

    @Test(arguments: ["google-oauth2|1", "auth0|google-oauth2|1"])
    func `an own address comes back whatever the prefix of the id`(id: String) throws {
        let hash = "$2b$10$abc"
        let password = try Self.identity("password", address: "a@x.test", hash: hash)
        let (read, _, _) = try Self.written(Self.account([id], [password]))
        #expect(read.id == id && read.federated == [])
        #expect(read.email == .init(text: "a@x.test", isVerified: true) && read.hash == hash)
    }

    @Test(arguments: ["auth0|1", "google-oauth2|1", "1"])
    func `an external id comes back with its prefix`(id: String) throws {
        let password = try Self.identity("password", address: "a@x.test", hash: "$2b$10$abc")
        let google = try Self.identity("google", email: Email("a@x.test", isVerified: nil))
        for identities in [[password], [google]] {
            let (read, omissions, text) = try Self.written(Self.account([id], identities))
            #expect(read.id == id && omissions == [], "\(text)")
            // Auth0 puts the prefix before it.
            #expect(text.contains("\"user_id\":\"auth0|") == false, "\(text)")
        }
        let unnamed = try Self.written(Self.account([], [google]))
        #expect(unnamed.account.id == AccountID(bits: 7).description)
    }

    @Test func `a second external id and a second own address are counted`() throws {
        let codes = try Self.identity("email", address: "b@x.test")
        let password = try Self.identity("password", address: "a@x.test", hash: "$2b$10$abc")
        let (read, omissions, text) = try Self.written(
            Self.account(["auth0|1", "auth0|2"], [codes, password]))
        #expect(read.id == "auth0|1" && read.email?.text == "a@x.test" && !read.hasCodes)
        #expect(omissions == [.address, .name], "\(text)")
        let same = try Self.identity("email", address: "a@x.test")
        #expect(try Self.written(Self.account(["auth0|1"], [same, password])).omissions == [])
    }

    @Test(arguments: ["google", "phone"], UserWriter.Target.allCases)
    func `an account without an e-mail is counted where the system requires one`(
        provider: String, target: UserWriter.Target
    ) throws {
        let identity = try Self.identity(
            provider, address: provider == "phone" ? "+14155550100" : nil)
        let written = UserWriter(for: target, types: Self.types)
            .write(try Self.account([], [identity]))
        #expect(written.omissions == (target == .auth0 ? [.noEmail] : []))
    }

    @Test(arguments: ["", ",keyid=0011223344556677"])
    func `a hash with a pepper is left out and counted`(pepper: String) throws {
        let hash = "$argon2id$v=19$m=19456,t=2,p=1\(pepper)$c29tZXNhbHQ$aGFzaA"
        let password = try Self.identity("password", address: "a@x.test", hash: hash)
        let (_, omissions, text) = try Self.written(Self.account([], [password]))
        #expect(omissions == (pepper.isEmpty ? [] : [.hash]))
        #expect(text.contains("$argon2id$") == pepper.isEmpty, "\(text)")
    }

    @Test(arguments: [
        ("$2a$10$abc", nil), ("$2b$10$abc", nil), ("$2b$12$abc", "$2b$12$abc"),
        ("$2a$08$abc", "$2a$08$abc"), ("$2y$10$abc", "$2b$10$abc"),
    ])
    func `bcrypt that Auth0 has not made is a custom hash`(hash: String, custom: String?) throws {
        let password = try Self.identity("password", address: "a@x.test", hash: hash)
        let (read, omissions, text) = try Self.written(Self.account([], [password]))
        #expect(read.hash == custom ?? hash && read.hasPassword && omissions == [])
        #expect(text.contains(#""password_hash":"\#(hash)""#) == (custom == nil), "\(text)")
        let member =
            #""custom_password_hash":{"algorithm":"bcrypt","hash":{"value":"\#(custom ?? "")","encoding":"utf8"}}"#
        #expect(text.contains(member) == (custom != nil), "\(text)")
    }

    @Test(
        arguments: [
            (nil, [.ownEmail]), ("$2b$10$abc", []),
            ("$argon2id$v=19$m=1,t=1,p=1$a$b", [.hash, .ownEmail]),
        ] as [(String?, Set<UserWriter.Omission>)])
    func `an own e-mail that Firebase takes for a provider's is counted`(
        hash: String?, omissions: Set<UserWriter.Omission>
    ) throws {
        let google = try Self.identity("google", email: Email("a@x.test", isVerified: false))
        let own = try Self.identity(
            hash == nil ? "email" : "password", address: "b@x.test", hash: hash)
        let writer = UserWriter(for: .firebase, types: Self.types)
        let written = writer.write(try Self.account([], [google, own]))
        #expect(Set(written.omissions) == omissions)
        guard case .account(let read) = AccountFile.record(written.bytes, .firebase) else {
            throw NotRead()
        }
        #expect((read.email?.text == "b@x.test") == omissions.isEmpty)
        #expect(read.losses == (omissions.isEmpty ? [] : [.furtherAddress]))
        let alone = writer.write(try Self.account([], [own]))
        #expect(!alone.omissions.contains(.ownEmail))
    }

    @Test(
        arguments: [
            (.firebase, ["google"], []), (.firebase, ["apple"], []), (.firebase, ["facebook"], []),
            (.firebase, ["github"], []), (.firebase, ["twitter"], []), (.firebase, ["x"], []),
            (.firebase, ["google", "apple", "facebook", "github", "twitter", "x"], ["x"]),
            (.firebase, ["google", "google.com", "steam"], ["google", "steam"]),
            (.auth0, ["google", "google-oauth2", "twitter", "x", "steam"], []),
        ] as [(UserWriter.Target, [String], [String])])
    func `each written identity comes back to its provider, and the others are counted`(
        target: UserWriter.Target, providers: [String], omitted: [String]
    ) throws {
        let names = try providers.map { try #require(ProviderName($0)) }
        let policy = TenantPolicy(providers: Set(names))
        let writer = UserWriter(for: target, types: policy.providers.mapValues(\.type))
        let written = writer.write(
            try Self.account(
                [],
                try providers.map {
                    try Self.identity($0, email: Email("a@x.test", isVerified: nil))
                }))
        #expect(written.omissions == (omitted.isEmpty ? [] : [.identity]))
        let format = try #require(ImportFormat(rawValue: target.rawValue))
        guard case .account(let read) = AccountFile.record(written.bytes, format) else {
            throw NotRead()
        }
        let mapper = AccountMapper(
            format, under: policy, given: [:],
            names: AddressNames(current: "key", keys: ["key": .generate()]), tenant: .default,
            isPreview: true, reason: "")
        let mapped = try #require(mapper.map(read, at: Timestamp(seconds: 0)) { 1 })
        #expect(mapped.losses == [])
        let identities = mapped.command?.identities ?? []
        #expect(
            identities.map(\.subject.provider.description)
                == providers.filter { !omitted.contains($0) })
    }

    @Test(
        arguments: [
            (.auth0, [.factor]), (.firebase, [.factor, .codes, .verification]),
        ] as [(UserWriter.Target, Set<UserWriter.Omission>)])
    func `parts that do not come back are counted`(
        target: UserWriter.Target, omissions: Set<UserWriter.Omission>
    ) throws {
        var account = try Self.account(
            [],
            [
                Self.identity("google", email: Email("g@x.test", isVerified: true)),
                Self.identity("password", address: "a@x.test", hash: "$2b$10$abc"),
                Self.identity("email", address: "a@x.test"),
            ])
        account.hasSecondFactors = true
        let written = UserWriter(for: target, types: Self.types).write(account)
        #expect(Set(written.omissions) == omissions)
        let format = try #require(ImportFormat(rawValue: target.rawValue))
        guard case .account(let read) = AccountFile.record(written.bytes, format) else {
            throw NotRead()
        }
        #expect(read.hasCodes != omissions.contains(.codes))
        #expect(
            (read.federated.first?.isEmailVerified == true) != omissions.contains(.verification))
    }
}
