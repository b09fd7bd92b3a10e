internal import Foundation

/// The exit codes of the process, from `sysexits.h` where one fits.
package enum ExitCode: Int32 {
    case success = 0
    /// The command failed, or a check found a problem.
    case fault = 1
    /// The command line is wrong (EX_USAGE).
    case usage = 64

    /// Ends the process with this code, without the exit handlers of libraries: OpenSSL's would free memory
    /// that other threads still use.
    ///
    /// No output is lost: writes are unbuffered except for log lines, which a command flushes before it ends.
    package func endProcess() -> Never {
        _exit(rawValue)
    }
}
