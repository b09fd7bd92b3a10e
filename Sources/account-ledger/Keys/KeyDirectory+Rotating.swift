import CommandLine
import Cryptography
import Foundation
import Ledger

extension KeyDirectory {
    /// Returns the keys in use at a time, and the newest ones with the times from which on they are used.
    ///
    /// - Throws: `Fault` for a directory without exactly one current key of each kind but the pepper.
    func choice(at now: Timestamp) throws(Fault) -> KeyChoice {
        let files = try list() ?? []
        let said = try files.contains(.current) ? readChoice() : KeyChoice()
        var choice = KeyChoice()
        for kind in KeyChoice.Kind.allCases {
            let ids = Self.ids(of: kind, in: files)
            // A directory of a former release has no MAC key.
            if ids.isEmpty, kind == .mac { continue }
            choice.current[kind] =
                try kind == .pepper
                ? currentIfAny(kind, among: ids, said, at: now)
                : current(kind, among: ids, said, at: now)
            // Also a past one: its time says how long the former key has been out of use.
            choice.next[kind] = said.next[kind]
        }
        return choice
    }

    /// Returns the time at which the newest key of a kind came or comes into use; nil when unknown.
    func beginning(of kind: KeyChoice.Kind) throws(Fault) -> Timestamp? {
        guard try list()?.contains(.current) ?? false else { return nil }
        return try readChoice().next[kind]?.from
    }

    /// Adds a key that replaces the current one at a time; the caller holds the lock.
    ///
    /// Until then every process that reads the directory accepts the new key and uses the old one.
    /// - Returns: the id of the new key.
    /// - Throws: `Fault` also for a directory that holds almost as many files as are read.
    func add(_ kind: KeyChoice.Kind, from: Timestamp, now: Timestamp) throws(Fault) -> String {
        try checkRoom()
        var choice = try choice(at: now)
        // Before the new key exists, so that the current key is never ambiguous.
        try replaceChoice(choice)
        let id: String
        switch kind {
        case .token:
            let key = TokenSigningKey.generate()
            id = key.keyID
            try write(key.exported(), to: .token(id: id))
        case .mac:
            id = try writeMACKey()
        case .encryption, .pepper:
            let key = SecureRandom.bytes(SymmetricKey.byteCount)
            id = KeyFile.fingerprint(of: key)
            try write(key, to: Self.file(kind, id))
        }
        choice.next[kind] = KeyChoice.Next(id: id, from: from)
        try replaceChoice(choice)
        return id
    }

    /// Checks that a key exists and is neither in use nor next.
    ///
    /// - Throws: `Fault` for another key.
    func checkFormer(_ kind: KeyChoice.Kind, _ id: String, now: Timestamp) throws(Fault) {
        let choice = try choice(at: now)
        guard Self.ids(of: kind, in: try list() ?? []).contains(id) else {
            throw fault("\(path) has no such \(kind.rawValue) key")
        }
        guard choice.id(of: kind, at: now) != id, choice.lastID(of: kind) != id else {
            throw fault("\(kind.rawValue) key \(id) is in use: rotate it first")
        }
    }

    /// Deletes a key; the caller holds the lock.
    ///
    /// - Throws: `Fault` for a key that is in use or does not exist.
    func remove(_ kind: KeyChoice.Kind, _ id: String, now: Timestamp) throws(Fault) {
        try checkFormer(kind, id, now: now)
        do {
            try FileManager.default.removeItem(atPath: path(of: Self.file(kind, id)))
        } catch {
            throw fault("can't delete \(path(of: Self.file(kind, id)))")
        }
    }

    /// Returns the ids of the keys of a kind.
    static func ids(of kind: KeyChoice.Kind, in files: [KeyFile]) -> [String] {
        files.compactMap { file in
            switch (file, kind) {
            case (.token(let id), .token), (.encryption(let id), .encryption),
                (.mac(let id), .mac), (.pepper(let id), .pepper):
                id
            case (.token, _), (.encryption, _), (.mac, _), (.pepper, _), (.refresh, _),
                (.developmentProvider, _), (.current, _), (.unprotectedLogs, _):
                nil
            }
        }
    }

    private static func file(_ kind: KeyChoice.Kind, _ id: String) -> KeyFile {
        switch kind {
        case .token: .token(id: id)
        case .encryption: .encryption(id: id)
        case .mac: .mac(id: id)
        case .pepper: .pepper(id: id)
        }
    }

    /// Replaces the file `current` atomically.
    private func replaceChoice(_ choice: KeyChoice) throws(Fault) {
        let location = path(of: .current)
        guard FileManager.default.fileExists(atPath: location) else {
            return try write(Array(choice.text.utf8), to: .current)
        }
        do {
            // It keeps the mode of the file that it replaces.
            try Data(choice.text.utf8).write(to: URL(fileURLWithPath: location), options: .atomic)
            for name in [location, path] {
                let handle = FileHandle(forReadingAtPath: name)
                try handle?.synchronize()
                try handle?.close()
            }
        } catch {
            throw fault("can't write \(location)")
        }
    }
}
