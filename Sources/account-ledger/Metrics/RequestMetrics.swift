import LedgerAPI
import Synchronization

/// Counts answered requests by method, route template and status.
///
/// The labels come from closed lists, so that clients cannot create new series.
final class RequestMetrics: Sendable {
    private struct Route: Hashable, Comparable {
        let method: String
        let template: String

        static func < (left: Self, right: Self) -> Bool {
            (left.template, left.method) < (right.template, right.method)
        }
    }

    private struct Measures {
        // At most a few: a scan is cheaper than a dictionary.
        var statuses: [(status: Int, count: Int)] = []
        var seconds = Histogram()

        mutating func observe(_ status: Int, _ duration: Double) {
            if let index = statuses.firstIndex(where: { $0.status == status }) {
                statuses[index].count += 1
            } else {
                statuses.append((status: status, count: 1))
            }
            seconds.observe(duration)
        }
    }

    private let routes = Mutex<[Route: Measures]>([:])

    /// Records an answered request and its duration.
    func observe(_ request: RequestObservation, seconds: Double) {
        let route = Route(method: request.method, template: request.route)
        routes.withLock { routes in
            routes[route, default: Measures()].observe(request.status, seconds)
        }
    }

    /// Writes the counters and the histogram of durations.
    func write(to page: inout MetricsText) {
        let all = routes.withLock(\.self).sorted { $0.key < $1.key }
        page.begin("ledger_http_requests_total", .counter, "Answered HTTP requests.")
        for (route, measures) in all {
            for (status, count) in measures.statuses.sorted(by: { $0.status < $1.status }) {
                page.sample(
                    "ledger_http_requests_total",
                    [
                        "method": route.method, "route": route.template,
                        "status": String(status),
                    ], Double(count))
            }
        }
        page.begin(
            "ledger_http_request_seconds", .histogram,
            "Time from receiving a request to its answer."
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
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
