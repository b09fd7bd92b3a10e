import Glibc

/// One of the servers that a connection URL names, as `host=a,b port=5432,5433` does, at one address.
///
/// PostgreSQL 15 documentation, section 34.1.1.3, "Specifying Multiple Hosts": where there is one port, it is
/// for all; an empty one is the default.
struct ServerAddress {
    /// The settings that libpq has lists in.
    static let names = ["host", "hostaddr", "port"]
    private static let defaultPort = "5432"

    /// What stands in the place of the lists.
    let settings: [String: String]

    /// Whether a password with signs that want escaping has become part of an address, which libpq would quote.
    static func isMisread(_ given: [String: String]) -> Bool {
        let hosts = items(given["host", default: ""])
        return hosts.contains { !$0.hasPrefix("/") && $0.dropFirst().contains("@") }
            || given["port", default: ""].contains { !$0.isWholeNumber && $0 != "," }
    }

    /// The servers in their order; none where the URL does not name them itself, which leaves them to libpq.
    static func each(in given: [String: String]) -> [ServerAddress] {
        guard given["service"] == nil, !hasAddressElsewhere else { return [] }
        let lists = names.compactMap { name in
            given[name].map { (name: name, values: items($0)) }
        }
        let count = lists.filter { $0.name != "port" }.map(\.values.count).max() ?? 0
        let isWellFormed = lists.allSatisfy { list in
            list.values.count == count || (list.name == "port" && list.values.count == 1)
        }
        // libpq says better what is wrong with a list.
        guard isWellFormed else { return [] }
        return (0..<count).map { index in
            var settings: [String: String] = [:]
            for list in lists {
                let value = list.values.count == 1 ? list.values[0] : list.values[index]
                // libpq takes an empty setting for none, and an empty item for the default.
                if !value.isEmpty {
                    settings[list.name] = value
                } else if list.name == "port" {
                    settings[list.name] = defaultPort
                }
            }
            return ServerAddress(settings: settings)
        }
    }

    /// The server once for each address of its name.
    ///
    /// - Throws: `.connectionFailed` for a name that nobody knows.
    func each(
        addressesOf lookUp: (String) throws(PostgresError) -> [String]
    ) throws(PostgresError) -> [ServerAddress] {
        guard settings["hostaddr"] == nil, let host = settings["host"],
            !host.hasPrefix("/"), !host.hasPrefix("@")
        else { return [self] }
        var servers: [ServerAddress] = []
        for address in try lookUp(host) {
            // The name stays: certificates and password files go by it.
            servers.append(
                ServerAddress(settings: settings.merging(["hostaddr": address]) { $1 }))
        }
        return servers
    }

    /// Whether libpq knows an address that goes with the names in the URL.
    private static var hasAddressElsewhere: Bool {
        unsafe getenv("PGHOSTADDR") != nil || getenv("PGSERVICE") != nil
    }

    private static func items(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
