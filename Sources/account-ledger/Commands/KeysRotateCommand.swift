import CommandLine
import Cryptography
import Foundation
import Ledger
import LedgerEngine

/// `keys rotate`: creates a key that replaces the current one.
enum KeysRotateCommand {
    /// Long enough for every process to read the directory, and for verifiers of tokens to fetch the
    /// published keys again.
    static let secondsDefault: Int64 = 330
    private static let secondsRange: ClosedRange<Int64> = 5...86_400

    static let syntax = Syntax(
        words: ["keys", "rotate"],
        summary: "create a key that replaces the one in use",
        operands: [
            .init(placeholder: "KIND", meaning: "token, encryption, mac, pepper or checkpoint")
        ],
        options: [
            .init(
                name: "after", placeholder: "SECONDS",
                meaning: "delay before the new key is used, 5 to 86400; default: \(secondsDefault)"),
            .init(
                name: "retire",
                meaning: "checkpoint: end the former keys, after the first signature of the new"),
        ],
        settings: [.databaseURL, .keys, .mode, .sealerState, .origin],
        details: """
            Every process that shares the directory of LEDGER_KEYS publishes and accepts the new key
            immediately and uses it after the delay; no server restarts. The former key stays and is accepted.
            KeyRotated in every tenant's log records the rotation. An interrupted run continues when the
            command is repeated.
            token: signs access tokens. The old key can be removed an hour after the new one came into use.
            encryption: wraps the keys of accounts opened from then on; 'keys rewrap' rewraps the others,
            after which the old key can be removed.
            mac: authenticates events and decision state. Used immediately; the old key is still needed to
            verify what it authenticated. After an interrupted run, the command creates another key.
            pepper: is mixed into the hashes of passwords; the first one begins this. Passwords of former
            ones, or without any, are hashed again after the next sign-in. Lost peppers can't be replaced: their
            passwords can only be reset. After an interrupted run, the command may create another one.
            checkpoint: signs the checkpoints of every log in the directory of LEDGER_SEALER_STATE, beside the
            former key until --retire; auditors get the new public key meanwhile.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        if arguments.operands.first == KeyRotated.Kind.checkpoint.rawValue {
            return try await rotateCheckpointKeys(arguments, environment)
        }
        guard let kind = arguments.operands.first.flatMap(KeyChoice.Kind.init) else {
            throw arguments.usageError("KIND must be token, encryption, mac, pepper or checkpoint")
        }
        guard !arguments.has("retire") else {
            throw arguments.usageError("--retire requires KIND checkpoint")
        }
        if kind == .mac { return try await rotateMACKey(arguments, environment) }
        let seconds = try arguments.value(
            of: "after", as: "a number of seconds from 5 to 86400",
            { Int64($0).flatMap { secondsRange.contains($0) ? $0 : nil } })
        let url = try environment.databaseURL
        let mode = try environment.mode
        let directory = KeyDirectory(path: try environment.required(.keys))
        // Keys that are missing before the first server are created under the lock, so before it is taken here.
        _ = try TenantOpenings.read(url: url, macs: try directory.loadMACKeys())
            .keys(from: directory, mode: mode, withPepper: kind != .pepper)
        let lock = try directory.lock()
        defer { try? lock.close() }
        let book = try TenantOpenings.read(url: url, macs: try directory.loadMACKeys())
        let keys = try book.keys(from: directory, mode: mode, withPepper: kind != .pepper)
        let refused = book.refused(with: keys.wrapping.macs, from: directory)
        let code = LedgerCommands.reportLeftOut(refused)
        let tenants = book.tenants.filter {
            refused[$0.description] == nil && book.moves[$0] == nil
        }
        let rotation = KeyRotation(url: url, keyring: keys.wrapping)
        let now = Timestamp.now
        let choice = try directory.choice(at: now)
        let last = choice.lastID(of: kind)
        // A tenant that was created since the last rotation names no pepper.
        let named = tenants.filter { !book.keys(of: kind, in: $0).isEmpty }
        let behind = last.map { facts(of: kind, to: $0, in: book, of: named) } ?? [:]
        if let last, !behind.isEmpty {
            try await rotation.append(behind)
            Terminal.print("finished the rotation to \(kind.rawValue) key \(last)\n")
            return code
        }
        if let next = choice.next[kind], now < next.from {
            throw Fault(
                "a rotation is in progress: \(kind.rawValue) key \(next.id) comes into use at \(next.from)"
            )
        }
        let from = now.adding(seconds: seconds ?? secondsDefault)
        let new = try directory.add(kind, from: from, now: now)
        try await rotation.append(facts(of: kind, to: new, in: book, of: tenants))
        Terminal.print(
            """
            Created \(kind.rawValue) key \(new) in \(directory.path)
              accepted immediately, used from \(from) on; until then \(last ?? "none")

            """)
        return code
    }

    private static func rotateMACKey(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        guard arguments["after"] == nil else {
            throw arguments.usageError("--after requires KIND token, encryption or pepper")
        }
        let url = try environment.databaseURL
        let directory = KeyDirectory(path: try environment.required(.keys))
        let lock = try directory.lock()
        defer { try? lock.close() }
        let leftOut = try await MACKeyRotation(url: url, directory: directory).run()
        return leftOut.isEmpty ? .success : .fault
    }

    private static func rotateCheckpointKeys(
        _ arguments: Arguments, _ environment: Environment
    ) async throws -> ExitCode {
        guard arguments["after"] == nil else {
            throw arguments.usageError("--after requires KIND token, encryption or pepper")
        }
        let url = try environment.databaseURL
        guard let directory = try SealingSetup.directory(environment, mode: try environment.mode)
        else {
            throw Fault("\(Setting.sealerState.name) is not set: \(Setting.sealerState.meaning)")
        }
        guard let macs = try LedgerCommands.macKeys(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: it must hold the MAC key that authenticates events"
            )
        }
        let rotation = CheckpointKeyRotation(
            url: url, directory: directory,
            keys: KeyDirectory(path: try environment.required(.keys)), macs: macs)
        do {
            return try await arguments.has("retire") ? rotation.end() : rotation.begin()
        } catch let fault as SealerRecordFault {
            throw Fault("\(Setting.sealerState.name): \(fault)")
        }
    }

    /// Returns the fact for each log whose last key of the kind is another one.
    private static func facts(
        of kind: KeyChoice.Kind, to id: String, in book: TenantOpenings, of tenants: [TenantID]
    ) -> [TenantID: KeyRotated] {
        var facts: [TenantID: KeyRotated] = [:]
        for tenant in tenants {
            let former = book.keys(of: kind, in: tenant).last
            guard former != id, former != nil || kind == .pepper else { continue }
            facts[tenant] = KeyRotated(
                kind: kind.event, key: id, former: former ?? KeyRotated.noFormerKey)
        }
        return facts
    }
}

extension KeyChoice.Kind {
    /// The kind as recorded in the log.
    var event: KeyRotated.Kind {
        switch self {
        case .encryption: .encryption
        case .mac: .mac
        case .pepper: .pepper
        case .token: .token
        }
    }
}
