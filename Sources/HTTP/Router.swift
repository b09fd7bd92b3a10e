/// Finds the handler for a method and a path.
///
/// Literal segments compare byte by byte, without decoding, and win over captures. A captured
/// segment is percent-decoded once; one that is empty, badly encoded, not UTF-8, or that holds a
/// NUL or an encoded slash matches nothing. HEAD is served by the handler for GET. OPTIONS is left
/// to the owner.
package struct Router<Handler: Sendable>: Sendable {
    private var tree = RouteTree()
    private var handlers: [Handler] = []

    /// Makes a router without routes.
    package init() {}

    /// Adds a route.
    ///
    /// Two templates for the same paths must be spelt alike, and a method has one handler; anything
    /// else is a mistake in the program and stops it.
    ///
    /// - Parameters:
    ///   - method: The method in capitals.
    ///   - template: The path, with `{name}` for a segment to capture.
    ///   - handler: What the number of a match gives.
    package mutating func add(_ method: String, _ template: String, _ handler: Handler) {
        tree.add(method, RouteTemplate(template), number: handlers.count)
        handlers.append(handler)
    }

    /// Finds what there is for a method and a percent-encoded path without query.
    package func match(method: String, path: String) -> RouteMatch {
        tree.match(method: method, path: path)
    }

    /// The handler of a match.
    package subscript(number: Int) -> Handler { handlers[number] }
}
