internal import Foundation

/// Faults of a process's disk and clock, switched on and off while it runs.
///
/// `tools/lib/chaos/faults.c`, preloaded into the process, looks for files in a directory.
package final class FaultSwitches: Sendable {
    /// What can go wrong.
    package enum Fault: String, CaseIterable, Sendable {
        /// What would make a file longer fails as on a full disk.
        case diskFull = "disk-full"
        /// Flushes and writes wait so many milliseconds.
        case diskSlow = "disk-slow"
        /// The wall clock is so many seconds ahead.
        case clock
    }

    private let directory: String
    private let library: String

    /// Compiles the library.
    ///
    /// - Throws: `TestTimeout` with what the compiler said.
    package init() async throws {
        directory = try CProgram.makeDirectory()
        library = try await CProgram.compile("faults", into: directory, asLibrary: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// What a process has to be started with.
    package var environment: [String: String] {
        ["LD_PRELOAD": library, "FAULT_DIRECTORY": directory]
    }

    /// Switches a fault on.
    ///
    /// - Throws: what the file system refuses.
    package func begin(_ fault: Fault, _ amount: Int = 1) throws {
        // Beside the directory first, since a half-written number would be another number.
        let path = directory + "/" + fault.rawValue
        try "\(amount)".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    }

    /// Switches a fault off.
    ///
    /// - Throws: what the file system refuses.
    package func end(_ fault: Fault) throws {
        try FileManager.default.removeItem(atPath: directory + "/" + fault.rawValue)
    }
}
