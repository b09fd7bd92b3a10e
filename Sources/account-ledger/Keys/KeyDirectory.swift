import CommandLine
import Foundation

/// The directory of `LEDGER_KEYS`: secrets in files that only the owner can read.
struct KeyDirectory: Sendable {
    static let directoryMode = 0o700
    static let fileMode = 0o600
    static let fileBytesMax = 16_384
    private static let filesMax = 256
    /// The most files that processes add at the same time, drafts included.
    private static let newFilesMax = 4
    /// The permission bits of group and others, none of which may be set.
    private static let foreignBits = 0o077

    let path: String

    init(path: String) {
        self.path = path
    }

    /// Lists the key files; nil when the directory is missing.
    ///
    /// - Throws: `Fault` when other users than the owner can access the directory.
    func list() throws(Fault) -> [KeyFile]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Self.directoryMode)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw fault("can't read \(path)")
        }
        guard names.count <= Self.filesMax else {
            throw fault("\(path) holds more than \(Self.filesMax) files")
        }
        return names.sorted().compactMap(KeyFile.init(name:))
    }

    /// Checks that another key leaves the directory readable.
    func checkRoom() throws(Fault) {
        let count = (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0
        guard count + Self.newFilesMax <= Self.filesMax else {
            throw fault(
                "\(path) holds \(count) files, and at most \(Self.filesMax) are read: remove former"
                    + " keys first, see \(Syntax.program) keys list")
        }
    }

    /// Reads a key file.
    ///
    /// - Throws: `Fault` when it can't be read, is too long, or is accessible to other users.
    func read(_ file: KeyFile) throws(Fault) -> [UInt8] {
        let path = path(of: file)
        try checkMode(of: path, wanted: Self.fileMode)
        guard let data = FileManager.default.contents(atPath: path) else {
            throw fault("can't read \(path)")
        }
        guard data.count <= Self.fileBytesMax else { throw fault("\(path) is too long for a key") }
        return Array(data)
    }

    func path(of file: KeyFile) -> String { "\(path)/\(file.name)" }

    func fault(_ text: String) -> Fault { Fault("\(Setting.keys.name): \(text)") }

    private func checkMode(of path: String, wanted: Int) throws(Fault) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { throw fault("can't read \(path)") }
        guard mode & Self.foreignBits == 0 else {
            throw fault(
                "\(path) is accessible to other users: run chmod \(String(wanted, radix: 8)) on it")
        }
    }
}
