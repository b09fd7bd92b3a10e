import Foundation

/// How the process ends, by the numbers of `sysexits.h` where one fits.
enum ExitCode: Int32 {
    case success = 0
    /// It could not be done, or what was checked does not hold.
    case fault = 1
    /// The command line is wrong (EX_USAGE).
    case usage = 64

    /// Ends the process with this code, and without what libraries have registered for its end: OpenSSL would
    /// take away what other threads are still working with.
    ///
    /// Nothing is lost by it: whatever is written goes to the system at once, but for lines of the log, which
    /// a command flushes before it ends.
    func endProcess() -> Never {
        _exit(rawValue)
    }
}
