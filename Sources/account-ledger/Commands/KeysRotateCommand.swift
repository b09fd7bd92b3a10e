import Cryptography
import Foundation
import Ledger
import LedgerPostgres

/// `keys rotate`: makes a key that takes another's place.
enum KeysRotateCommand {
    /// Long enough for every process to have read the directory, and for others who check tokens
    /// offline to have fetched the published keys again.
    static let secondsDefault: Int64 = 330
    private static let secondsRange: ClosedRange<Int64> = 5...86_400

    static let syntax = Syntax(
        words: ["keys", "rotate"],
        summary: "make a new key that takes the place of the one in use",
        operands: [.init(placeholder: "KIND", meaning: "token, encryption, mac or checkpoint")],
        options: [
            .init(
                name: "after", placeholder: "SECONDS",
                meaning: "when the new key is used, 5 to 86400; default: \(secondsDefault)"),
            .init(
                name: "retire",
                meaning: "checkpoint: end the former keys, once something is signed with the new"),
        ],
        settings: [.databaseURL, .keys, .mode, .sealerState, .origin],
        details: """
            The new key is published and accepted at once by every process that shares the directory of
            LEDGER_KEYS, and used from its time on; no server is restarted. The one before it stays and is
            accepted. Every tenant's log says so with KeyRotated. Broken off, the same command goes on.

            token: signs access tokens. The old key may be removed an hour after the new one is used.
            encryption: wraps the keys of accounts opened from then on; 'keys rewrap' wraps the others
            anew, after which the old key may be removed.
            mac: authenticates events and decision state. It is used at once; the old key is still needed to
            verify what it authenticated.
            checkpoint: signs checkpoints of every log in the directory of LEDGER_SEALER_STATE, beside the
            key before it until --retire; auditors get the new public key meanwhile.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        if arguments.operands.first == KeyRotated.Kind.checkpoint.rawValue {
            return try await rotateCheckpointKeys(arguments, environment)
        }
        guard let kind = arguments.operands.first.flatMap(KeyChoice.Kind.init) else {
            throw arguments.misuse("KIND is token, encryption, mac or checkpoint")
        }
        guard !arguments.has("retire") else { throw arguments.misuse("--retire is for checkpoint") }
        if kind == .mac { return try await rotateMACKey(arguments, environment) }
        let seconds = try arguments.value(
            of: "after", as: "5 to 86400",
            { Int64($0).flatMap { secondsRange.contains($0) ? $0 : nil } })
        let url = try environment.databaseURL
        let mode = try environment.mode
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        let book = try OpenedTenants.read(url: url)
        let keys = try book.keys(from: directory, mode: mode)
        let rotation = KeyRotation(url: url, keyring: keys.wrapping)
        let now = Timestamp.now
        let choice = try directory.choice(at: now)
        let last = choice.lastID(of: kind) ?? ""
        let behind = facts(of: kind, to: last, in: book)
        if !behind.isEmpty {
            try await rotation.append(behind)
            Terminal.print("finished the rotation to \(kind.rawValue) key \(last)\n")
            return .success
        }
        if let next = choice.next[kind], now < next.from {
            throw Fault(
                "a rotation is under way: \(kind.rawValue) key \(next.id) is used from \(next.from) on"
            )
        }
        let from = now.adding(seconds: seconds ?? secondsDefault)
        let new = try directory.add(kind, from: from, now: now)
        try await rotation.append(facts(of: kind, to: new, in: book))
        Terminal.print(
            """
            Made \(kind.rawValue) key \(new) in \(directory.path)
              accepted at once, used from \(from) on; until then \(last)

            """)
        return .success
    }

    private static func rotateMACKey(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        guard arguments["after"] == nil else {
            throw arguments.misuse("--after is for token and encryption")
        }
        let url = try environment.databaseURL
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        let (key, tenants) = try await MACKeyRotation(url: url, directory: directory)
            .run(try OpenedTenants.read(url: url))
        Terminal.print(
            tenants.map { "tenant \($0): MAC key \(key) authenticates what is appended now\n" }
                .joined())
        return .success
    }

    private static func rotateCheckpointKeys(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        guard arguments["after"] == nil else {
            throw arguments.misuse("--after is for token and encryption")
        }
        let url = try environment.databaseURL
        guard let directory = try SealingSetup.directory(environment, mode: try environment.mode)
        else {
            throw Fault("\(Setting.sealerState.name) is not set: \(Setting.sealerState.meaning)")
        }
        guard let macs = try LedgerReading.macKeys(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: a key of it authenticates what is appended")
        }
        let rotation = CheckpointKeyRotation(url: url, directory: directory, macs: macs)
        do {
            return try await arguments.has("retire") ? rotation.end() : rotation.begin()
        } catch let fault as SealerRecordFault {
            throw Fault("\(Setting.sealerState.name): \(fault)")
        }
    }

    /// What each log has to say that does not end with this key.
    private static func facts(
        of kind: KeyChoice.Kind, to id: String, in book: OpenedTenants
    ) -> [TenantID: KeyRotated] {
        var facts: [TenantID: KeyRotated] = [:]
        for tenant in book.facts.keys {
            guard let former = book.keys(of: kind, in: tenant).last, former != id else { continue }
            facts[tenant] = KeyRotated(kind: kind.event, key: id, former: former)
        }
        return facts
    }
}

extension KeyChoice.Kind {
    /// The kind as the log names it.
    var event: KeyRotated.Kind {
        switch self {
        case .encryption: .encryption
        case .mac: .mac
        case .token: .token
        }
    }
}
