import Cryptography
import Foundation
import LedgerPostgres

extension KeyDirectory {
    private static let lockName = ".lock"

    /// The keys that are there, or new ones: processes that start at once agree on one set.
    func loadOrMake() throws(Fault) -> Keys {
        if let keys = try load() { return keys }
        return try whileLocked { () throws(Fault) in
            if let keys = try load() { return keys }
            return try make()
        }
    }

    /// New keys in a directory that has none.
    ///
    /// - Throws: `Fault` when there is any key; none is ever overwritten.
    func makeFirst() throws(Fault) -> Keys {
        try whileLocked { () throws(Fault) in
            guard try load() == nil else {
                throw fault("\(path) holds keys already; none was changed")
            }
            return try make()
        }
    }

    /// The key of a development identity provider, made when there is none.
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
        // The refresh key is the last: a making that was broken off is seen as incomplete.
        try write(SecureRandom.bytes(SymmetricKey.byteCount), to: .refresh)
        guard let keys = try load() else { throw fault("\(path) lost the keys just written") }
        return keys
    }

    /// The keys that are there, with a first MAC key if a former release has made the others.
    func loadWithMACKey() throws(Fault) -> Keys? {
        guard let keys = try load(), keys.wrapping.macs.isEmpty else { return try load() }
        return try whileLocked { () throws(Fault) in
            if try load()?.wrapping.macs.isEmpty ?? true { _ = try writeMACKey() }
            return try load()
        }
    }

    /// Writes a new MAC key and gives its id.
    func writeMACKey() throws(Fault) -> String {
        let key = SymmetricKey.generate()
        let id = MACKey(key).id.description
        try write(key.copiedBytes(), to: .mac(id: id))
        return id
    }

    /// Runs a body while no other process is in here; the system lifts the lock when a process dies.
    private func whileLocked<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
        let lock = try lock()
        defer { try? lock.close() }
        return try body()
    }

    /// Keeps every other process from changing the directory until the lock is closed.
    func lock() throws(Fault) -> FileHandle {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: Self.directoryMode])
        } catch {
            throw fault("\(path) can't be made")
        }
        let lockPath = "\(path)/\(Self.lockName)"
        // It fails when the file is there, which is just as good.
        try? Data().write(to: URL(fileURLWithPath: lockPath), options: .withoutOverwriting)
        guard let lock = FileHandle(forUpdatingAtPath: lockPath) else {
            throw fault("\(path) can't be written")
        }
        guard flock(lock.fileDescriptor, LOCK_EX) == 0 else {
            try? lock.close()
            throw fault("\(path) can't be locked")
        }
        return lock
    }

    /// Writes a file whole or not at all, durable before it has its name, never over another.
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
            throw fault("\(self.path(of: file)) can't be written")
        }
    }
}
