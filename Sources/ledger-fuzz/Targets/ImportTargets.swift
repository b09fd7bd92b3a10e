import Cryptography
import Foundation
import JSON
import Ledger
import LedgerImport
import LedgerSignIn
import LedgerTestSupport

/// Exports of other systems.
enum ImportTargets {
    static let all = [
        elements, rows("csv-rows", .csv), rows("copy-rows", .copyText), user(.auth0),
        user(.firebase), user(.keycloak),
    ]

    private static let auth0 =
        #"{"user_id":"google-oauth2|1","email":"a@x.test","email_verified":true,"identities":[{"user_id":1,"provider":"google-oauth2","profileData":{"email":"b@x.test"}},{"user_id":"2","provider":"auth0"}],"password_hash":"$2b$10$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"}"#
    private static let hashed =
        #"{"_id":{"$oid":"5dea"},"alt_id":"a","passwordHash":"$2b$10$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui","identifiers":[{"type":"email","value":"a@x.test","verified":true}]}"#
    private static let firebase =
        #"{"localId":"a","email":"a@x.test","emailVerified":true,"passwordHash":"JDJiJDEwJGFiYw==","salt":"c2FsdA==","phoneNumber":"+4930123456","providerUserInfo":[{"providerId":"google.com","rawId":"1"}]}"#
    private static let keycloak =
        #"{"id":"1","username":"a","email":"a@x.test","emailVerified":true,"federatedIdentities":[{"identityProvider":"google","userId":"g"}],"credentials":[{"type":"password","secretData":"{\"value\":\"AAECAwQFBgcICQoLDA0ODxAREhM=\",\"salt\":\"c2FsdA==\"}","credentialData":"{\"hashIterations\":1000,\"algorithm\":\"pbkdf2\"}"}]}"#
    private static let users = """
        id,email,encrypted_password,email_confirmed_at,phone,identities
        u1,a@x.test,$2a$10$abc,2024-01-01 00:00:00+00,49301,"[{""provider"":""google"",""provider_id"":""1""}]"
        """
    private static let dump = """
        --
        COPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;
        g3\tu1\t{"sub": "g3"}\tgoogle
        \\.
        COPY auth.users (id, email, encrypted_password) FROM stdin;
        u1\ta@x.test\t\\N
        \\.
        """

    private static let words = [
        "\"user_id\":", "\"identities\":", "\"provider\":", "null", "true", "[]", "{}", "\"\"", ",",
        "\\.", "\\N", "\t", "\n", "\"\"", "\r\n", "\u{FEFF}",
    ]

    /// Elements are the same wherever the parts of a text end, and those of JSON are those of its parser.
    private static let elements = FuzzTarget(
        "json-elements",
        corpus: ["[\(auth0),\n\(firebase)]", "[1,true , \"x\\\"]\", [[]], {}]", "[]", "[ \"\" ]"],
        words: words + ["]", "[", "}", "{", "\\\"", "1"]
    ) { input in
        let whole = cut(input, partBytes: input.count + 1)
        let parts = cut(input, partBytes: 3)
        try require(whole.elements == parts.elements, "parts change the elements")
        try require(whole.isComplete == parts.isComplete, "parts change the end")
        guard case .array(let parsed)? = JSONValue(parsing: input) else { return whole.isComplete }
        try require(whole.isComplete, "an array is not complete")
        try require(whole.elements.count == parsed.count, "another number of elements")
        for (element, value) in zip(whole.elements, parsed) {
            try require(JSONValue(parsing: element) == value, "an element is another value")
        }
        return true
    }

    private static func cut(
        _ input: [UInt8], partBytes: Int
    ) -> (elements: [[UInt8]], isComplete: Bool) {
        var elements = JSONElements(.wholeText, bytesMax: 1 << 20)
        var rest = input[...]
        var found: [[UInt8]] = []
        while true {
            switch elements.next() {
            case .element(let element): found.append(element.bytes ?? [])
            case .needsBytes:
                guard !rest.isEmpty else { return (found, elements.isComplete) }
                elements.add(Array(rest.prefix(partBytes)))
                rest = rest.dropFirst(partBytes)
            case .broken: return (found, false)
            }
        }
    }

    /// Rows are the same wherever the parts of a text end.
    private static func rows(_ name: String, _ form: TextRows.Form) -> FuzzTarget {
        FuzzTarget(name, corpus: [users, dump, "a,\"b\"\"c\n\",\r\n", "\"\"\n,,"], words: words) {
            input in
            let whole = read(input, form, partBytes: input.count + 1)
            try require(whole == read(input, form, partBytes: 2), "parts change the rows")
            return !whole.contains { $0.hasPrefix("flaw") }
        }
    }

    private static func read(
        _ input: [UInt8], _ form: TextRows.Form, partBytes: Int
    ) -> [String] {
        var rest = input[...]
        var rows = TextRows(form) { () throws(ImportFault) in
            defer { rest = rest.dropFirst(partBytes) }
            return Array(rest.prefix(partBytes))
        }
        var found: [String] = []
        do throws(ImportFault) {
            while true {
                switch try rows.next() {
                case .end: return found
                case .flaw(let flaw, let line): found.append("flaw \(flaw) \(line)")
                case .row(let row): found.append("\(row.line) \(row.fields)")
                }
            }
        } catch {
            return found + ["flaw \(error)"]
        }
    }

    /// A user of any content is a flaw, or a command that can be decided.
    private static func user(_ format: ImportFormat) -> FuzzTarget {
        FuzzTarget(
            "\(format.rawValue)-user", corpus: [auth0, hashed, firebase, keycloak], words: words
        ) {
            try decide(AccountFile.record($0, format), format)
        }
    }

    /// Tables of any content end, and their accounts can be decided.
    static func supabase(directory: String) -> FuzzTarget {
        FuzzTarget("supabase-file", corpus: [users, dump], words: words) { input in
            let path = "\(directory)/supabase-\(ProcessInfo.processInfo.processIdentifier)"
            try Data(input).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            var hasAccount = false
            do {
                var file = try AccountFile(
                    .supabase, paths: [path], hashing: nil, now: Timestamp(seconds: 0))
                while let (record, _) = try file.next() {
                    if try decide(record, .supabase) { hasAccount = true }
                }
            } catch is ImportFault {
                return false
            }
            return hasAccount
        }
    }

    private static let policy: TenantPolicy = {
        var policy = TenantPolicy(providers: Set([provider("google"), provider("apple")]))
        policy.providers[provider("password")] = ProviderPin(type: .password, issuers: [])
        policy.providers[provider("email")] = ProviderPin(type: .email, issuers: [])
        policy.providers[provider("phone")] = ProviderPin(type: .phone, issuers: [])
        return policy
    }()
    private static let names = AddressNames(
        current: "key", keys: ["key": SymmetricKey.generate()])

    private static func decide(_ record: SourceRecord, _ format: ImportFormat) throws -> Bool {
        guard case .account(let account) = record else { return false }
        let mapper = AccountMapper(
            format, under: policy, given: [:], names: names, tenant: .default, isPreview: true,
            reason: "r")
        guard
            let command = mapper.map(
                account, at: Timestamp(seconds: 1), newID: SecureRandom.uint128)?.command
        else { return false }
        var ledger = ModelLedger(policy: policy)
        let real = ImportAccount(
            command.name, identities: command.identities, addresses: command.addresses,
            actor: .system, newAccount: command.newAccount,
            disabledReason: command.disabledReason)
        guard case .success(let reply) = try ledger.execute(real.intent),
            let success = ImportAccount.success(in: reply)
        else { return false }
        try require(
            success.effect != .opened
                || ledger.state.ledger.accounts[command.newAccount]?.links.isEmpty == false,
            "an account without a way to sign in")
        return success.effect == .opened
    }
}
