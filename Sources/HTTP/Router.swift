/// A router from methods and paths to handlers.
///
/// Literal segments are compared byte by byte without decoding, and have priority over captures. A
/// captured segment is percent-decoded once; it does not match when it is empty, malformed, not UTF-8,
/// or contains a NUL, or an encoded slash where the route does not allow it. The handler for GET serves
/// HEAD. OPTIONS is left to the owner; its target `*` has the methods of all routes.
package struct Router<Handler: Sendable>: Sendable {
    private var tree = RouteTree()
    private var handlers: [Handler] = []

    /// Creates a router without routes.
    package init() {}

    /// Adds a route.
    ///
    /// Two templates for the same paths must be identical, and a method has one handler; anything else is
    /// a programming error and ends the program.
    ///
    /// - Parameters:
    ///   - method: The method in capitals.
    ///   - template: The path, with `{name}` for a segment to capture.
    ///   - handler: The handler.
    ///   - slashCapture: The capture that may contain an encoded slash; nil for none.
    package mutating func add(
        _ method: String, _ template: String, _ handler: Handler,
        slashesIn slashCapture: String? = nil
    ) {
        tree.add(
            method, RouteTemplate(template, slashesIn: slashCapture), number: handlers.count)
        handlers.append(handler)
    }

    /// Finds the route for a method and a percent-encoded path without query.
    package func match(method: String, path: String) -> RouteMatch {
        tree.match(method: method, path: path)
    }

    /// The handler of a match.
    package subscript(number: Int) -> Handler { handlers[number] }
}
