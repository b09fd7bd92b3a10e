import Foundation

/// The directory of `LEDGER_KEYS`: secrets in files that nobody but the owner can read.
struct KeyDirectory: Sendable {
    static let directoryMode = 0o700
    static let fileMode = 0o600
    static let fileBytesMax = 16_384
    private static let filesMax = 256
    /// What group and others may do: nothing at all.
    private static let foreignBits = 0o077

    let path: String

    init(path: String) {
        self.path = path
    }

    /// The key files that are there; nil when the directory is missing.
    ///
    /// - Throws: `Fault` when others than the owner can reach the directory.
    func list() throws(Fault) -> [KeyFile]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Self.directoryMode)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw fault("\(path) can't be read")
        }
        guard names.count <= Self.filesMax else {
            throw fault("\(path) holds more than \(Self.filesMax) files")
        }
        return names.sorted().compactMap(KeyFile.init(name:))
    }

    /// The content of a key file.
    ///
    /// - Throws: `Fault` when it can't be read, is too long, or others than the owner can read it.
    func read(_ file: KeyFile) throws(Fault) -> [UInt8] {
        let path = path(of: file)
        try checkMode(of: path, wanted: Self.fileMode)
        guard let data = FileManager.default.contents(atPath: path) else {
            throw fault("\(path) can't be read")
        }
        guard data.count <= Self.fileBytesMax else { throw fault("\(path) is too long for a key") }
        return Array(data)
    }

    func path(of file: KeyFile) -> String { "\(path)/\(file.name)" }

    func fault(_ text: String) -> Fault { Fault("\(Setting.keys.name): \(text)") }

    private func checkMode(of path: String, wanted: Int) throws(Fault) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { throw fault("\(path) can't be read") }
        guard mode & Self.foreignBits == 0 else {
            throw fault(
                "\(path) is open to others than its owner: chmod \(String(wanted, radix: 8)) it")
        }
    }
}
