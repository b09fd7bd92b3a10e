import CommandLine
import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerAudit
import LedgerExport
import Synchronization

/// A destination of an export, written part by part.
protocol ExportSink: Sendable {
    /// Writes a part.
    func add(_ part: ExportedPart) throws
    /// Writes buffered data and completes the file.
    func finish() throws
    /// The number of events written.
    var events: Int64 { get }
    /// Disclosures that a verifier will report as withheld.
    var withheld: DisclosureTally.Withheld? { get }
}

/// A file that gets its name only when it is complete, and that only its owner may read.
final class NewFile: Sendable {
    let path: String
    /// The temporary path that is written to, which no other writer of the same file has.
    let partialPath: String
    private let isKept = Mutex(false)
    private static let foreignBits: mode_t = 0o077

    /// - Throws: `Fault` when the file exists or can't be created.
    init(path: String) throws(Fault) {
        self.path = path
        partialPath = "\(path).\(Hex.encode(SecureRandom.bytes(8))).partial"
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Fault("\(path) already exists")
        }
        umask(Self.foreignBits)
        guard FileManager.default.createFile(atPath: partialPath, contents: nil) else {
            throw Fault("can't write \(partialPath)")
        }
    }

    deinit {
        guard !isKept.withLock(\.self) else { return }
        try? FileManager.default.removeItem(atPath: partialPath)
    }

    /// Renames the complete file to its final name.
    ///
    /// - Throws: `Fault` also when another writer has made a file of this name meanwhile, which is kept.
    func keep() throws(Fault) {
        do {
            try FileManager.default.moveItem(atPath: partialPath, toPath: path)
        } catch {
            throw Fault("can't write \(path)")
        }
        isKept.withLock { $0 = true }
    }
}

/// Writes a bundle.
final class BundleSink: ExportSink {
    private let writer: Mutex<BundleWriter>

    init(
        _ file: NewFile, _ tenant: TenantID, _ account: AccountID?, _ basis: ExportBasis,
        isDisclosed: Bool
    ) throws {
        let head = BundleHead(
            tenant: tenant, scope: account.map { .account($0) } ?? .all,
            checkpoint: basis.checkpoint, isDisclosed: isDisclosed)
        writer = Mutex(
            try BundleWriter(
                path: file.partialPath, head: head, note: basis.note, keys: basis.keys,
                older: basis.older))
    }

    var events: Int64 { writer.withLock(\.events) }
    var withheld: DisclosureTally.Withheld? { writer.withLock(\.withheld) }

    func add(_ part: ExportedPart) throws {
        try writer.withLock { try $0.add(part) }
    }

    func finish() throws {
        try writer.withLock { try $0.finish() }
    }
}

/// Writes one line per event: JSON or CSV.
final class LineSink: ExportSink {
    private let output: FileHandle
    private let isCSV: Bool
    private let isDisclosed: Bool
    private let count = Mutex<Int64>(0)

    init(_ file: NewFile, isCSV: Bool, isDisclosed: Bool) throws(Fault) {
        guard let output = FileHandle(forWritingAtPath: file.partialPath) else {
            throw Fault("can't write \(file.partialPath)")
        }
        self.output = output
        self.isCSV = isCSV
        self.isDisclosed = isDisclosed
        if isCSV { try write(Array(CSVLines.header(isDisclosed: isDisclosed).utf8)) }
    }

    var events: Int64 { count.withLock(\.self) }
    var withheld: DisclosureTally.Withheld? { nil }

    func add(_ part: ExportedPart) throws {
        var bytes: [UInt8] = []
        for event in part.events {
            if isCSV {
                bytes.append(contentsOf: CSVLines.row(event, isDisclosed: isDisclosed).utf8)
            } else {
                bytes.append(contentsOf: JSONLines.line(event, isDisclosed: isDisclosed))
            }
        }
        try write(bytes)
        count.withLock { $0 += Int64(part.events.count) }
    }

    func finish() throws {
        do {
            try output.synchronize()
            try output.close()
        } catch {
            throw Fault("can't write the file")
        }
    }

    private func write(_ bytes: [UInt8]) throws(Fault) {
        do {
            try output.write(contentsOf: Data(bytes))
        } catch {
            throw Fault("can't write the file")
        }
    }
}
