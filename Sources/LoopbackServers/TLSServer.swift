import ChildProcesses
import Foundation

/// OpenSSL's own test server on 127.0.0.1, with a certificate for `localhost` that it signed itself.
///
/// It answers every request for `/keys` with fixed bytes, unless told otherwise, and ends with its owner.
package final class TLSServer {
    /// The port that it listens on.
    package let port: UInt16

    /// The certificate as a PEM file, which clients of the server must trust.
    package let certificateFile: String

    private let directory: URL
    private let process: ChildProcess

    /// OpenSSL's server did not start.
    package struct CannotStart: Error {}

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - answer: The content of `/keys`.
    ///   - mode: The option of `openssl s_server` that says how it answers.
    /// - Throws: `CannotStart`, or the error of a file or of the program.
    package init(answer: [UInt8], mode: String = "-HTTP") throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "tls-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(answer).write(to: directory.appending(path: "keys"))
        let making = try TLSServer.openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", "key.pem", "-out", "certificate.pem", "-days", "1", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            ], in: directory, output: .null)
        _ = making.waitUntilExit()
        let output = Pipe()
        process = try TLSServer.openssl(
            [
                "s_server", "-accept", "127.0.0.1:0", mode, "-cert", "certificate.pem", "-key",
                "key.pem",
            ], in: directory, output: .file(output.fileHandleForWriting.fileDescriptor))
        try output.fileHandleForWriting.close()
        self.directory = directory
        certificateFile = directory.appending(path: "certificate.pem").path(percentEncoded: false)
        guard let port = TLSServer.port(announcedOn: output.fileHandleForReading) else {
            process.send(SIGKILL)
            throw CannotStart()
        }
        self.port = port
    }

    deinit {
        process.send(SIGKILL)
        _ = process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func openssl(
        _ arguments: [String], in directory: URL, output: ChildProcess.Stream
    ) throws -> ChildProcess {
        try ChildProcess(
            executable: "/usr/bin/openssl", arguments: arguments,
            environment: ProcessInfo.processInfo.environment,
            directory: directory.path(percentEncoded: false), output: output, errors: .null)
    }

    /// Reads up to the line `ACCEPT 127.0.0.1:port`; the output ends if the server can't start.
    private static func port(announcedOn output: FileHandle) -> UInt16? {
        var text = ""
        while true {
            let chunk = output.availableData
            guard !chunk.isEmpty else {
                return nil
            }
            text += String(decoding: chunk, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { line in line.hasPrefix("ACCEPT ") }) {
                return line.split(separator: ":").last.flatMap { digits in UInt16(digits) }
            }
        }
    }
}
