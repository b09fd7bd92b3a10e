import Glibc

/// How many sockets and files this process may have open.
package enum DescriptorLimit {
    /// What a process needs beside its clients' connections.
    private static let reserve = 256

    /// Takes all that the system allows and gives how many connections fit.
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
