internal import Foundation

/// A program or library in C that only fault tests use, compiled when it is first needed.
package enum CProgram {
    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("tools/lib/chaos").path

    /// Compiles `tools/lib/chaos/NAME.c` into a directory and returns the path of the output.
    ///
    /// - Throws: `TestTimeout` with the compiler's output.
    package static func compile(
        _ name: String, into directory: String, asLibrary: Bool = false
    ) async throws -> String {
        let output = directory + "/" + name + (asLibrary ? ".so" : "")
        let kind = asLibrary ? ["-shared", "-fPIC"] : []
        let compiler = try RunningProcess(
            executable: "/usr/bin/env",
            arguments: ["cc", "-O2", "-Wall", "-Wextra", "-Werror"] + kind
                + ["-o", output, "\(sources)/\(name).c", "-ldl", "-pthread"],
            environment: [:])
        guard try await compiler.exitStatus(within: .seconds(60)) == 0 else {
            throw TestTimeout(waitingFor: "\(name).c to compile: \(compiler.errors.text)")
        }
        return output
    }

    /// Creates a directory that every login can read.
    ///
    /// - Throws: an error of the file system.
    static func makeDirectory() throws -> String {
        let directory = NSTemporaryDirectory() + "ledger-faults-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        return directory
    }
}
