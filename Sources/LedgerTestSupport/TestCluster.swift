internal import FoundationEssentials

/// The Postgres cluster that tests make their databases on, named by `TEST_DATABASE_URL`.
package enum TestCluster {
    /// The environment variable: a URL that libpq understands, of a login that is a superuser.
    package static let variable = "TEST_DATABASE_URL"

    /// The variable is not set; a test that needs a database fails rather than being skipped.
    package struct Missing: Error, CustomStringConvertible {
        /// What to do about it.
        package let description =
            "\(TestCluster.variable) must be the URL of a superuser login on a scratch cluster"
    }

    /// The URL of the superuser.
    package static var url: String {
        get throws(Missing) {
            guard let url = ProcessInfo.processInfo.environment[variable], !url.isEmpty else {
                throw Missing()
            }
            return url
        }
    }

    /// The same cluster under other settings, such as `dbname`, `user` or `password`.
    ///
    /// libpq lets the last setting win. Values are plain ASCII letters, digits and underscores.
    package static func url(replacing settings: KeyValuePairs<String, String>) throws(Missing)
        -> String
    {
        let url = try url
        let isURI = url.hasPrefix("postgresql://") || url.hasPrefix("postgres://")
        let pairs = settings.map { "\($0.key)=\($0.value)" }
        guard isURI else { return ([url] + pairs).joined(separator: " ") }
        return url + (url.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
    }
}
