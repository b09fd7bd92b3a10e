/// What a router has for a method and a path.
package enum RouteMatch: Sendable {
    /// A route, whose handler the router has under the number; the template is a good label for
    /// metrics.
    case found(number: Int, template: String, captures: RouteCaptures)
    /// The path exists, but not for this method; the methods that it has, sorted, for `Allow`.
    case methodNotAllowed(allowed: [String], template: String, captures: RouteCaptures)
    /// No route has this path.
    case notFound
}
