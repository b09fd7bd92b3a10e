import Glibc

/// The limit of open sockets and files of this process.
package enum DescriptorLimit {
    /// The descriptors that a process needs besides client connections.
    private static let reserve = 256

    /// Raises the limit to the system's maximum and returns the possible number of connections.
    ///
    /// The usual soft limit of 1,024 is for programs that use `select(2)`.
    package static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return connections(of: 1024)
        }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return connections(of: isRaised ? limit.rlim_max : before)
    }

    private static func connections(of descriptors: rlim_t) -> Int {
        max(1, Int(clamping: descriptors) - reserve)
    }
}
