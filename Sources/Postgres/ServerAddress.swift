/// One of the servers that a connection URL names, as `host=a,b port=5432,5433` does, at one address.
///
/// PostgreSQL 15 documentation, section 34.1.1.3, "Specifying Multiple Hosts": where there is one port, it is
/// for all; an empty one is the default.
struct ServerAddress {
    /// What replaces the lists in libpq's settings.
    private var names: [String: String]

    /// The settings that follow the URL, and so win over it.
    var settings: [(String, String)] { names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    /// The addresses in their order; none where the URL names none, which leaves libpq's own default.
    static func each(in given: [String: String]) -> [ServerAddress] {
        let lists = ["host", "hostaddr", "port"].compactMap { name in
            given[name].map { (name: name, values: items($0)) }
        }
        let count = lists.filter { $0.name != "port" }.map(\.values.count).max() ?? 0
        let isWellFormed = lists.allSatisfy { list in
            list.values.count == count || (list.name == "port" && list.values.count == 1)
        }
        // libpq says better what is wrong with a list.
        guard isWellFormed else { return [] }
        return (0..<count).map { index in
            ServerAddress(
                names: Dictionary(
                    uniqueKeysWithValues: lists.map { list in
                        (list.name, list.values.count == 1 ? list.values[0] : list.values[index])
                    }))
        }
    }

    /// The server once for each address of its name, so that nobody has to look it up again.
    func each(addressesOf lookUp: (String) -> [String] = HostName.addresses) -> [ServerAddress] {
        guard names["hostaddr", default: ""].isEmpty, let host = names["host"] else {
            return [self]
        }
        let addresses = lookUp(host)
        guard !addresses.isEmpty else { return [self] }
        return addresses.map { address in
            var one = self
            // The name stays: certificates and password files go by it.
            one.names["hostaddr"] = address
            return one
        }
    }

    private static func items(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    private init(names: [String: String]) {
        self.names = names
    }
}
