import Foundation

/// The metrics of the process.
enum ProcessMetrics {
    /// Writes the build and the memory in use.
    static func write(to page: inout MetricsText) {
        page.begin("ledger_build_info", .gauge, "The build; always 1.")
        page.sample("ledger_build_info", ["version": Version.text], 1)
        guard let bytes = residentBytes() else { return }
        page.single(
            "process_resident_memory_bytes", .gauge, "Resident memory in bytes.", Double(bytes))
    }

    /// Returns the resident memory: the second number of `/proc/self/statm`, in pages.
    private static func residentBytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
            return nil
        }
        let numbers = text.split(separator: " ")
        guard numbers.count > 1, let pages = Int(numbers[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
