import LedgerAPI
import Synchronization

/// Counts answered requests by method, route template and status.
///
/// The labels come from closed lists, so that strangers cannot make new series.
final class RequestMetrics: Sendable {
    private struct Route: Hashable, Comparable {
        let method: String
        let template: String

        static func < (left: Self, right: Self) -> Bool {
            (left.template, left.method) < (right.template, right.method)
        }
    }

    private struct Measures {
        var statuses: [Int: Int] = [:]
        var seconds = Histogram()

        mutating func observe(_ status: Int, _ duration: Double) {
            statuses[status, default: 0] += 1
            seconds.observe(duration)
        }
    }

    private let routes = Mutex<[Route: Measures]>([:])

    /// Notes an answered request.
    func observe(_ request: RequestObservation) {
        let route = Route(method: request.method, template: request.route)
        let seconds = request.duration.secondsValue
        routes.withLock { routes in
            routes[route, default: Measures()].observe(request.status, seconds)
        }
    }

    /// Writes the counters and the histogram of durations.
    func write(to page: inout MetricsText) {
        let all = routes.withLock(\.self).sorted { $0.key < $1.key }
        page.begin("ledger_http_requests_total", .counter, "Answered HTTP requests.")
        for (route, measures) in all {
            for (status, count) in measures.statuses.sorted(by: { $0.key < $1.key }) {
                page.sample(
                    "ledger_http_requests_total",
                    [
                        "method": route.method, "route": route.template,
                        "status": String(status),
                    ], Double(count))
            }
        }
        page.begin(
            "ledger_http_request_seconds", .histogram, "Time from a received request to its answer."
        )
        for (route, measures) in all {
            page.samples(
                "ledger_http_request_seconds",
                ["method": route.method, "route": route.template], of: measures.seconds)
        }
    }
}

extension Duration {
    /// The length in seconds.
    var secondsValue: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
