internal import FoundationEssentials

/// The Postgres cluster of the test databases, from `TEST_DATABASE_URL`.
package enum TestCluster {
    /// The environment variable: the libpq URL of a superuser login.
    package static let variable = "TEST_DATABASE_URL"

    /// The environment variable of the tests on Citus.
    ///
    /// It has the libpq URLs of superusers of the workers, separated by spaces; ``variable`` names the coordinator. The
    /// nodes trust each other's connections.
    package static let workersVariable = "TEST_CITUS_WORKERS"

    /// The URLs of the workers; empty for a plain cluster.
    package static var workers: [String] {
        (ProcessInfo.processInfo.environment[workersVariable] ?? "").split(separator: " ")
            .map(String.init)
    }

    /// The error for an unset variable: tests that need a database fail instead of being skipped.
    package struct Missing: Error, CustomStringConvertible {
        /// The advice to the user.
        package let description =
            "\(TestCluster.variable) must be the URL of a superuser login on a scratch cluster"
    }

    /// The URL of the superuser.
    package static var url: String {
        get throws(Missing) { try url(replacing: [:]) }
    }

    /// Returns the URL with other settings, such as `dbname`, `user` or `password`.
    ///
    /// In libpq the last setting wins. Values are plain ASCII letters, digits and underscores. The
    /// connect timeout is a minute: on a busy machine, Postgres takes seconds to start a session.
    package static func url(replacing settings: KeyValuePairs<String, String>) throws(Missing)
        -> String
    {
        guard let url = ProcessInfo.processInfo.environment[variable], !url.isEmpty else {
            throw Missing()
        }
        return replacing(settings, in: url)
    }

    /// Returns a URL with other settings.
    static func replacing(_ settings: KeyValuePairs<String, String>, in url: String) -> String {
        let isURI = url.hasPrefix("postgresql://") || url.hasPrefix("postgres://")
        let pairs = settings.map { "\($0.key)=\($0.value)" } + ["connect_timeout=60"]
        guard isURI else { return ([url] + pairs).joined(separator: " ") }
        return url + (url.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
    }
}
