import CommandLine
import Foundation
import Ledger
import LedgerEngine
import LedgerPostgres
import Passwords

/// `keys remove`: deletes a key that is no longer needed.
enum KeysRemoveCommand {
    /// Longer than the lifetime of any access token.
    private static let secondsAfterUse: Int64 = 3_660

    static let syntax = Syntax(
        words: ["keys", "remove"],
        summary: "delete a former key that is no longer needed",
        operands: [
            .init(placeholder: "KIND", meaning: "token, encryption, mac or pepper"),
            .init(placeholder: "KEY", meaning: "key name as printed by keys list"),
        ],
        options: [
            .init(
                name: "leaked",
                meaning: "remove a token key immediately; its tokens are then refused")
        ],
        settings: [.databaseURL, .keys],
        details: """
            Refuses a key that is in use or next, or that a log of this database names last, a token key
            within an hour of its last use, an encryption key that is needed by keys of accounts, secrets of
            webhooks, passwords, second factors or addresses, which 'keys rewrap' renews, or by open codes,
            unsent messages, or requests and messages of the last day; a MAC key that the last marker of a
            log names or that authenticates a row; 'protect' gives such rows new MACs; and a pepper within an hour
            of its last use or that a password was hashed with, for which every password is decrypted. A backup
            made before 'keys rewrap' holds account keys that only the former encryption key unwraps: keep a
            copy of that key as long as such a backup, or its disclosures are lost. Servers refuse the tokens
            of a removed key within 5 s.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let kind = arguments.operands.first.flatMap(KeyChoice.Kind.init) else {
            throw arguments.usageError("KIND must be token, encryption, mac or pepper")
        }
        let id = arguments.operands[1]
        let isLeaked = arguments.has("leaked")
        guard !isLeaked || kind == .token else {
            throw arguments.usageError("--leaked requires KIND token")
        }
        let url = try environment.databaseURL
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        let book = try TenantOpenings.read(url: url, macs: try directory.loadMACKeys())
        let now = Timestamp.now
        switch kind {
        case .token:
            let beginning = try directory.beginning(of: kind)
            if !isLeaked, let beginning, now < beginning.adding(seconds: secondsAfterUse) {
                throw Fault(
                    "the newest token key is in use for less than an hour: tokens of former keys may be valid;"
                        + " --leaked removes the key anyway"
                )
            }
        case .mac:
            try refuseUsedMACKey(id, book, url: url)
        case .pepper:
            try directory.checkFormer(kind, id, now: now)
            if let beginning = try directory.beginning(of: kind),
                now < beginning.adding(seconds: secondsAfterUse)
            {
                throw Fault(
                    "the newest pepper is in use for less than an hour: open sign-ups may need the former"
                )
            }
            guard let keys = try directory.load() else {
                throw directory.fault("\(directory.path) holds no keys")
            }
            try refuseUsedPepper(id, url: url, keyring: keys.wrapping)
        case .encryption:
            for tenant in book.tenants {
                let kinds = try book.usedKeys(of: tenant, among: [id]).map(\.kind)
                if let text = needs(kinds) {
                    throw Fault("encryption key \(id) is needed in tenant \(tenant) by \(text)")
                }
            }
        }
        try directory.checkFormer(kind, id, now: now)
        try refuseNamedKey(kind, id, book)
        try directory.remove(kind, id, now: now)
        Terminal.print("\(kind.rawValue) key \(Arguments.quoted(id)) was deleted\n")
        return .success
    }

    /// Names data that needs an encryption key, with what ends the need; nil without any.
    private static func needs(_ kinds: [WrappingKeyUse.Kind]) -> String? {
        let advice = [true: "run \(Syntax.program) keys rewrap", false: "wait for their end"]
        let parts = [true, false].compactMap { isRewrapped -> String? in
            let names = kinds.filter { $0.isRewrapped == isRewrapped }.map(\.name)
            guard !names.isEmpty, let advice = advice[isRewrapped] else { return nil }
            return "\(names.joined(separator: ", ")) (\(advice))"
        }
        return parts.isEmpty ? nil : parts.joined(separator: " and by ")
    }

    /// Refuses the last key that a log names, without which no server starts.
    private static func refuseNamedKey(
        _ kind: KeyChoice.Kind, _ id: String, _ book: TenantOpenings
    ) throws(Fault) {
        for tenant in book.requiringTenants where book.keys(of: kind, in: tenant).last == id {
            let advice =
                book.moves[tenant].map { "it \($0.description), finish that first" }
                ?? "run \(Syntax.program) keys rotate \(kind.rawValue), which records the newer one"
            throw Fault(
                "\(kind.rawValue) key \(id) is the last one in the log of tenant \(tenant): \(advice)"
            )
        }
    }

    /// Refuses a pepper without which a password can't be checked.
    private static func refuseUsedPepper(
        _ id: String, url: String, keyring: WrappingKeyring
    ) throws(Fault) {
        var count = 0
        var unreadable = 0
        try SchemaCheck.withConnection(to: url) { connection in
            try StoredPasswords.each(keyring: keyring, on: connection) { hash in
                guard let hash else { return unreadable += 1 }
                // The keys of passkeys are no hashes.
                if (try? PasswordHash(hash))?.pepperID == id { count += 1 }
            }
        }
        guard unreadable == 0 else {
            throw Fault("\(unreadable) passwords can't be decrypted: run \(Syntax.program) verify")
        }
        guard count == 0 else {
            throw Fault(
                "pepper \(id) is needed by \(count) passwords: each is hashed again after its next sign-in"
            )
        }
    }

    /// Refuses a MAC key that is still in use.
    ///
    /// Events that a former key has authenticated are covered by the root in the next marker.
    private static func refuseUsedMACKey(
        _ id: String, _ book: TenantOpenings, url: String
    ) throws(Fault) {
        for tenant in book.tenants where book.keys(of: .mac, in: tenant).last == id {
            throw Fault(
                "MAC key \(id) authenticates new events in the log of tenant \(tenant)")
        }
        guard let key = MACKey.ID(id) else { return }
        let location = try SchemaCheck.withConnection(to: url) {
            try MACKeyUse.first(of: key, on: $0)
        }
        if let location {
            throw Fault("MAC key \(id) authenticates \(location): run \(Syntax.program) protect")
        }
    }
}
