/// The addresses of this machine, to which browsers give several names.
enum LoopbackAddress {
    private static let hosts = ["127.0.0.1", "[::1]", "localhost"]

    /// Returns an address as the page's own browser reaches it.
    ///
    /// The names of this machine are different sites to a browser, whose cookies a flow would miss: a server on
    /// the loopback interface leads back to the name by which the page was opened.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - origin: The origin of the page, which may be any text.
    /// - Returns: The address, with another name of this machine if the page was opened by it.
    static func of(_ address: String, asReachedBy origin: String?) -> String {
        guard let origin else { return address }
        for host in hosts where address.hasPrefix("http://\(host):") {
            let rest = address.dropFirst("http://\(host)".count)
            let port = rest.prefix { $0 != "/" }
            for other in hosts where origin == "http://\(other)\(port)" {
                return "http://\(other)\(rest)"
            }
        }
        return address
    }
}
