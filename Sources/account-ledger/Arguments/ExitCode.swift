/// How the process ends, by the numbers of `sysexits.h` where one fits.
enum ExitCode: Int32 {
    case success = 0
    /// It could not be done, or what was checked does not hold.
    case fault = 1
    /// The command line is wrong (EX_USAGE).
    case usage = 64
}
