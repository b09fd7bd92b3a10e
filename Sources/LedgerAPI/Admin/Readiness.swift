/// Whether the service can do its work, and what that depends on.
package struct Readiness: Hashable, Sendable {
    /// One thing that the service depends on.
    package struct Check: Hashable, Sendable {
        /// What is checked, such as `database` or `projector`.
        package let name: String
        /// Whether it is as it should be.
        package let isReady: Bool
        /// What an operator should know of it; shown on the admin listener only.
        package let detail: String?

        /// Describes a check.
        package init(_ name: String, isReady: Bool, detail: String? = nil) {
            self.name = name
            self.isReady = isReady
            self.detail = detail
        }
    }

    /// What was checked.
    package let checks: [Check]

    /// Collects checks.
    package init(checks: [Check]) {
        self.checks = checks
    }

    /// Whether every check is as it should be.
    package var isReady: Bool { checks.allSatisfy(\.isReady) }
}

extension Readiness: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("status")
            writer.text(isReady ? "ready" : "not_ready")
            writer.name("checks")
            writer.array { writer in
                for check in checks {
                    writer.object { writer in
                        writer.name("name")
                        writer.text(check.name)
                        writer.name("ready")
                        writer.flag(check.isReady)
                        guard let detail = check.detail else { return }
                        writer.name("detail")
                        writer.text(detail)
                    }
                }
            }
        }
    }
}
