internal import LedgerWire

extension AdminAPI {
    /// A page of the admin listener.
    enum Page: CaseIterable {
        case metrics
        case readiness
        case health

        var path: String {
            switch self {
            case .metrics: "/metrics"
            case .readiness: ReadinessRoute.path
            case .health: HealthRoute.path
            }
        }

        /// The description in the document for staff.
        var operation: Operation {
            switch self {
            case .metrics:
                Operation(
                    id: "get_metrics", tag: .service, summary: "All metrics, for Prometheus",
                    access: .anyone, answers: .text("text/plain", "# TYPE ..."))
            case .readiness:
                Operation(
                    id: "get_detailed_readiness", tag: .service,
                    summary: "Whether each dependency of the service works", access: .anyone,
                    answers: .json(Readiness.schema), otherAnswers: [503: Readiness.schema])
            case .health:
                Operation(
                    id: "get_admin_health", tag: .service,
                    summary: "Whether the process is alive", access: .anyone,
                    answers: .json(StatusAnswer.schema))
            }
        }
    }
}
