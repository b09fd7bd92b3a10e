import CommandLine
import Cryptography
import Encodings
import Foundation
import LedgerEngine

extension KeyDirectory {
    private static let lockName = ".lock"

    /// Loads the keys, or creates them: processes that start at the same time agree on one set.
    func loadOrMake() throws(Fault) -> Keys {
        if let keys = try load() { return keys }
        return try whileLocked { () throws(Fault) in
            if let keys = try load() { return keys }
            return try make()
        }
    }

    /// Creates the keys in a directory without keys.
    ///
    /// - Throws: `Fault` when any key exists; keys are never overwritten.
    func makeFirst() throws(Fault) -> Keys {
        try whileLocked { () throws(Fault) in
            guard try load() == nil else {
                throw fault("\(path) already holds keys; none was changed")
            }
            return try make()
        }
    }

    /// Loads the key of a development identity provider, or creates it.
    func developmentKeyOrNew(of provider: String) throws(Fault) -> RSASigningKey {
        if let key = try developmentKey(of: provider) { return key }
        return try whileLocked { () throws(Fault) in
            if let key = try developmentKey(of: provider) { return key }
            let key = RSASigningKey.generate()
            try write(key.exported(), to: .developmentProvider(name: provider))
            return key
        }
    }

    private func make() throws(Fault) -> Keys {
        let encryption = SecureRandom.bytes(SymmetricKey.byteCount)
        try write(encryption, to: .encryption(id: KeyFile.fingerprint(of: encryption)))
        _ = try writeMACKey()
        let token = TokenSigningKey.generate()
        try write(token.exported(), to: .token(id: token.keyID))
        // The refresh key is written last, so that an interrupted creation is detected as incomplete.
        try write(SecureRandom.bytes(SymmetricKey.byteCount), to: .refresh)
        guard let keys = try load() else {
            throw fault("\(path) does not contain the keys just written")
        }
        return keys
    }

    /// Loads the keys, and creates the first MAC key in a directory of a former release: logs
    /// without protection are then valid until `protect` has finished.
    func loadWithMACKey() throws(Fault) -> Keys? {
        guard let keys = try load(), keys.wrapping.macs.isEmpty else { return try load() }
        return try whileLocked { () throws(Fault) in
            if try load()?.wrapping.macs.isEmpty ?? true {
                // Before the key, so that no directory has the key and lacks this file.
                if try !(list() ?? []).contains(.unprotectedLogs) {
                    try write([], to: .unprotectedLogs)
                }
                _ = try writeMACKey()
            }
            return try load()
        }
    }

    /// Ends the validity of logs without protection; the caller holds the lock.
    ///
    /// - Returns: Whether they were valid.
    func endUnprotectedLogs() throws(Fault) -> Bool {
        guard try (list() ?? []).contains(.unprotectedLogs) else { return false }
        let location = path(of: .unprotectedLogs)
        do {
            try FileManager.default.removeItem(atPath: location)
            let directory = FileHandle(forReadingAtPath: path)
            try directory?.synchronize()
            try directory?.close()
        } catch {
            throw fault("\(location) can't be removed")
        }
        return true
    }

    /// Writes a new MAC key and returns its id.
    func writeMACKey() throws(Fault) -> String {
        let key = SymmetricKey.generate()
        let id = MACKey(key).id.description
        try write(key.copiedBytes(), to: .mac(id: id))
        return id
    }

    /// Runs a body while holding the directory's lock, which the system releases when a process dies.
    private func whileLocked<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
        let lock = try lock()
        defer { try? lock.close() }
        return try body()
    }

    /// Locks the directory against changes by other processes until the handle is closed.
    func lock() throws(Fault) -> FileHandle {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: Self.directoryMode])
        } catch {
            throw fault("can't create \(path)")
        }
        let lockPath = "\(path)/\(Self.lockName)"
        // It fails when the file exists, which is fine.
        try? Data().write(to: URL(fileURLWithPath: lockPath), options: .withoutOverwriting)
        guard let lock = FileHandle(forUpdatingAtPath: lockPath) else {
            throw fault("can't write \(path)")
        }
        guard flock(lock.fileDescriptor, LOCK_EX) == 0 else {
            try? lock.close()
            throw fault("can't lock \(path)")
        }
        return lock
    }

    /// Writes a file atomically and durably, and never replaces an existing one.
    func write(_ bytes: [UInt8], to file: KeyFile) throws(Fault) {
        let files = FileManager.default
        let draft = "\(path)/.\(file.name).\(Hex.encode(SecureRandom.bytes(8)))"
        defer { try? files.removeItem(atPath: draft) }
        do {
            try Data().write(to: URL(fileURLWithPath: draft), options: .withoutOverwriting)
            try files.setAttributes([.posixPermissions: Self.fileMode], ofItemAtPath: draft)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: draft))
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
            try handle.close()
            try files.linkItem(atPath: draft, toPath: self.path(of: file))
            let directory = FileHandle(forReadingAtPath: path)
            try directory?.synchronize()
            try directory?.close()
        } catch {
            throw fault("can't write \(self.path(of: file))")
        }
    }
}
