/// What a router has for a method and a path.
package enum RouteMatch<Handler: Sendable>: Sendable {
    /// A route; the template is a good label for metrics.
    case found(handler: Handler, template: String, captures: RouteCaptures)
    /// The path exists, but not for this method; the methods that it has, sorted, for `Allow`.
    case methodNotAllowed(allowed: [String], template: String, captures: RouteCaptures)
    /// No route has this path.
    case notFound
}
