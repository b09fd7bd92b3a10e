import Glibc

/// One of the servers in a connection URL, such as `host=a,b port=5432,5433`, at one address.
///
/// PostgreSQL 15 documentation, section 34.1.1.3, "Specifying Multiple Hosts": a single port
/// applies to all hosts; an empty one is the default.
struct ServerAddress {
    /// The settings that may be lists in libpq.
    static let names = ["host", "hostaddr", "port"]
    private static let defaultPort = "5432"

    /// The settings that replace the lists.
    let settings: [String: String]

    /// Whether a password with unescaped signs has become part of an address, which libpq would
    /// quote.
    static func isMisread(_ given: [String: String]) -> Bool {
        let hosts = items(given["host", default: ""])
        return hosts.contains { !$0.hasPrefix("/") && $0.dropFirst().contains("@") }
            || given["port", default: ""].contains { !$0.isWholeNumber && $0 != "," }
    }

    /// Returns the servers in order; empty if the URL does not name them itself, which leaves them
    /// to libpq.
    static func each(in given: [String: String]) -> [ServerAddress] {
        guard given["service"] == nil, !hasAddressElsewhere else { return [] }
        let lists = names.compactMap { name in
            given[name].map { (name: name, values: items($0)) }
        }
        let count = lists.filter { $0.name != "port" }.map(\.values.count).max() ?? 0
        let isWellFormed = lists.allSatisfy { list in
            list.values.count == count || (list.name == "port" && list.values.count == 1)
        }
        // libpq has the better error message for a malformed list.
        guard isWellFormed else { return [] }
        return (0..<count).map { index in
            var settings: [String: String] = [:]
            for list in lists {
                let value = list.values.count == 1 ? list.values[0] : list.values[index]
                // libpq treats an empty setting as absent, and an empty item as the default.
                if !value.isEmpty {
                    settings[list.name] = value
                } else if list.name == "port" {
                    settings[list.name] = defaultPort
                }
            }
            return ServerAddress(settings: settings)
        }
    }

    /// Returns the server once for each address of its name.
    ///
    /// - Throws: `.connectionFailed` for an unknown name.
    func each(
        addressesOf lookUp: (String) throws(PostgresError) -> [String]
    ) throws(PostgresError) -> [ServerAddress] {
        guard settings["hostaddr"] == nil, let host = settings["host"],
            !host.hasPrefix("/"), !host.hasPrefix("@")
        else { return [self] }
        var servers: [ServerAddress] = []
        for address in try lookUp(host) {
            // The name is kept for certificates and password files.
            servers.append(
                ServerAddress(settings: settings.merging(["hostaddr": address]) { $1 }))
        }
        return servers
    }

    /// Whether libpq has an address from outside the URL for its names.
    private static var hasAddressElsewhere: Bool {
        unsafe getenv("PGHOSTADDR") != nil || getenv("PGSERVICE") != nil
    }

    private static func items(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
