internal import Foundation

/// Processor time as counted by the kernel, which other work on the machine does not affect.
enum CPUTime {
    /// The number of processors.
    static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// The idle time of all processors, without time stolen by a hypervisor and without waiting for disks.
    static var idleSeconds: Double {
        let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        let all = stat?.split(separator: "\n").first?.split(separator: " ") ?? []
        // cpu user nice system idle iowait irq softirq steal ...
        return (all.dropFirst(4).first.flatMap { Double($0) } ?? 0) / ticksPerSecond
    }

    /// Returns the time used by a process so far; 0 for an ended one.
    static func seconds(of process: Int32, withEndedChildren: Bool = false) -> Double {
        let path = "/proc/\(process)/stat"
        guard let stat = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        // The name in parentheses may contain spaces; the 12th field after it is the first of four.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        let times = fields.dropFirst(11).prefix(withEndedChildren ? 4 : 2)
        return times.compactMap { Double($0) }.reduce(0, +) / ticksPerSecond
    }
}
