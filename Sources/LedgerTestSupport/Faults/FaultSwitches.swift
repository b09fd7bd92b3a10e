internal import Foundation

/// Faults of a process's disk and clock, switched on and off while it runs.
///
/// `tools/lib/chaos/faults.c`, preloaded into the process, looks for files in a directory.
package final class FaultSwitches: Sendable {
    /// The faults.
    package enum Fault: String, CaseIterable, Sendable {
        /// Writes that extend a file fail as on a full disk.
        case diskFull = "disk-full"
        /// Flushes and writes are delayed by a number of milliseconds.
        case diskSlow = "disk-slow"
        /// The wall clock is ahead by a number of seconds.
        case clock
    }

    private let directory: String
    private let library: String

    /// Compiles the library.
    ///
    /// - Throws: `TestTimeout` with the compiler's output.
    package init() async throws {
        directory = try CProgram.makeDirectory()
        library = try await CProgram.compile("faults", into: directory, asLibrary: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The environment for affected processes.
    package var environment: [String: String] {
        ["LD_PRELOAD": library, "FAULT_DIRECTORY": directory]
    }

    /// Switches a fault on.
    ///
    /// - Throws: an error of the file system.
    package func begin(_ fault: Fault, _ amount: Int = 1) throws {
        // Written elsewhere and renamed, because a partly written number would be another number.
        let path = directory + "/" + fault.rawValue
        try "\(amount)".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    }

    /// Switches a fault off.
    ///
    /// - Throws: an error of the file system.
    package func end(_ fault: Fault) throws {
        try FileManager.default.removeItem(atPath: directory + "/" + fault.rawValue)
    }
}
