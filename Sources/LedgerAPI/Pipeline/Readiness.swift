import JSON

/// The readiness of the service: one check for each of its dependencies.
package struct Readiness: Hashable, Sendable {
    /// The state of one dependency.
    package struct Check: Hashable, Sendable {
        /// The name of the dependency, such as `database` or `projector`.
        package let name: String
        /// Whether the dependency works.
        package let isReady: Bool
        /// Details for operators; shown on the admin listener only.
        package let detail: String?

        /// Describes a check.
        package init(_ name: String, isReady: Bool, detail: String? = nil) {
            self.name = name
            self.isReady = isReady
            self.detail = detail
        }
    }

    /// The checks that were made.
    package let checks: [Check]

    /// Collects checks.
    package init(checks: [Check]) {
        self.checks = checks
    }

    /// Whether every check passed.
    package var isReady: Bool { checks.allSatisfy(\.isReady) }
}

extension Readiness: JSONWritable {
    static let schema = Schema.object(
        "Readiness",
        [
            .required("status", .choice(["ready", "not_ready"])),
            .required(
                "checks",
                .list(
                    .object(
                        "ReadinessCheck",
                        [
                            .required("name", .text("database")), .required("ready", .flag(true)),
                            .optional("detail", .text("primary")),
                        ]))),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("status", isReady ? "ready" : "not_ready")
            writer.name("checks")
            writer.array { writer in
                for check in checks {
                    writer.object { writer in
                        writer.member("name", check.name)
                        writer.name("ready")
                        writer.flag(check.isReady)
                        writer.member("detail", check.detail)
                    }
                }
            }
        }
    }
}
