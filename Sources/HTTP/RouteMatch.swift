/// What a router has for a method and a path.
package enum RouteMatch<Handler: Sendable>: Sendable {
    /// A route; the template is a good label for metrics, the captures are percent-decoded.
    case found(handler: Handler, template: String, captures: [String: String])
    /// The path exists, but not for this method; the methods that it has, sorted, for `Allow`.
    case methodNotAllowed(allowed: [String], template: String, captures: [String: String])
    /// No route has this path.
    case notFound
}
