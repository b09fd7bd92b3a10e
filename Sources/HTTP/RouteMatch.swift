/// The result of routing a method and a path.
package enum RouteMatch: Sendable {
    /// A route with the number of its handler; the template is a suitable label for metrics.
    case found(number: Int, template: String, captures: RouteCaptures)
    /// The path exists for other methods, which are sorted for `Allow`.
    case methodNotAllowed(allowed: [String], template: String, captures: RouteCaptures)
    /// No route has this path.
    case notFound
}
