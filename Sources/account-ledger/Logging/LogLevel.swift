/// The severity of a log line.
enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug
    case info
    case warning
    case error

    static func < (left: Self, right: Self) -> Bool {
        left.severity < right.severity
    }

    private var severity: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}
