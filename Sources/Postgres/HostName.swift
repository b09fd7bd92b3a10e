import Glibc

/// A server's name in a connection URL, as a resolver knows it.
enum HostName {
    /// The numeric addresses of a name, in the order in which they are best tried; none when it has none, when
    /// it is the folder of a Unix socket, or when nobody knows: libpq asks again then, and says why not.
    ///
    /// getaddrinfo(3): it sorts as RFC 6724 rules.
    static func addresses(of name: String) -> [String] {
        guard !name.isEmpty, !name.hasPrefix("/"), !name.hasPrefix("@") else { return [] }
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var found: [String] = []
        var next = unsafe first
        while let entry = unsafe next {
            if let text = unsafe numeric(entry.pointee), !found.contains(text) {
                found.append(text)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    private static func numeric(_ entry: addrinfo) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
            let status = unsafe getnameinfo(
                entry.ai_addr, entry.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            guard status == 0, let start = text.baseAddress else { return nil }
            return unsafe String(cString: start)
        }
    }
}
