internal import ChildProcesses
internal import Foundation
package import JSON

/// Chromium with a virtual authenticator, driven by `Browser/drive.mjs`.
///
/// The program ends with its standard input, and after five minutes.
package final class Browser {
    /// The program or the page has failed; with its message.
    package struct Failure: Error {
        package let message: String
    }

    /// The origin of the page.
    package let origin: String
    private let process: ChildProcess
    private let commands = Pipe()
    private let answers = Pipe()

    /// Opens the page.
    package init() async throws {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Browser/drive.mjs").path
        // Without the environment variables of a sanitizer's run.
        let environment = ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"].contains($0.key)
        }
        process = try ChildProcess(
            executable: "/usr/bin/env", arguments: ["node", program], environment: environment,
            input: .file(commands.fileHandleForReading.fileDescriptor),
            output: .file(answers.fileHandleForWriting.fileDescriptor), errors: .inherited)
        try commands.fileHandleForReading.close()
        try answers.fileHandleForWriting.close()
        origin = try await Self.answer(answers, "origin")
    }

    deinit {
        try? commands.fileHandleForWriting.close()
        _ = process.waitUntilExit()
    }

    /// Plugs in an authenticator in place of the former one.
    package func plugIn(transport: String, storesCredentials: Bool = true) async throws {
        try send(
            """
            {"authenticator":{"protocol":"ctap2","transport":"\(transport)",\
            "hasResidentKey":\(storesCredentials),"hasUserVerification":true,"isUserVerified":true}}
            """)
        _ = try await Self.answer(answers, nil)
    }

    /// Sets whether the authenticator recognises its user.
    package func setUserVerified(_ isVerified: Bool) async throws {
        try send(#"{"isUserVerified":\#(isVerified)}"#)
        _ = try await Self.answer(answers, nil)
    }

    /// Opens an address, and runs a script in each page that follows; returns the address of the last one.
    package func visit(_ address: String, scripts: [String]) async throws -> String {
        var command = JSONWriter()
        command.object { writer in
            writer.member("visit", address)
            writer.name("scripts")
            writer.texts(scripts)
        }
        try send(String(decoding: command.bytes, as: UTF8.self))
        return try await Self.answer(answers, "address")
    }

    /// Calls `navigator.credentials.create()`; returns `RegistrationResponseJSON`.
    package func create(_ options: some JSONWritable) async throws -> [UInt8] {
        try await create(Self.json(options))
    }

    /// Calls `navigator.credentials.create()` with the text of the options.
    package func create(_ options: [UInt8]) async throws -> [UInt8] {
        try await credential("create", options)
    }

    /// Calls `navigator.credentials.get()`; returns `AuthenticationResponseJSON`.
    package func get(_ options: some JSONWritable) async throws -> [UInt8] {
        try await get(Self.json(options))
    }

    /// Calls `navigator.credentials.get()` with the text of the options.
    package func get(_ options: [UInt8]) async throws -> [UInt8] {
        try await credential("get", options)
    }

    private static func json(_ options: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        options.write(to: &writer)
        return writer.bytes
    }

    private func credential(_ name: String, _ options: [UInt8]) async throws -> [UInt8] {
        try send("{\"\(name)\":\(String(decoding: options, as: UTF8.self))}")
        return Array(try await Self.answer(answers, "credential").utf8)
    }

    private func send(_ command: String) throws {
        guard process.ending == nil else { throw Failure(message: "the program has ended") }
        try commands.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    }

    /// Returns a member of the next answer.
    private static func answer(_ pipe: Pipe, _ member: String?) async throws -> String {
        let line = try await line(from: pipe.fileHandleForReading)
        let members = JSONValue(parsing: line)?.members
        guard let members, members["error"] == nil else {
            throw Failure(message: String(decoding: line, as: UTF8.self))
        }
        guard let member else { return "" }
        guard let text = members[member]?.string else {
            throw Failure(message: "no \(member) in \(String(decoding: line, as: UTF8.self))")
        }
        return text
    }

    /// Reads a line, outside the threads that run tests.
    private static func line(from file: FileHandle) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        var line: [UInt8] = []
                        while let byte = try file.read(upToCount: 1)?.first, byte != 0x0A {
                            line.append(byte)
                        }
                        return line
                    })
            }
        }
    }
}
