/// Finds the handler for a method and a path.
///
/// Literal segments compare byte by byte, without decoding, and win over captures. A captured
/// segment is percent-decoded once; one that is empty, badly encoded, not UTF-8, or that holds a
/// NUL or an encoded slash matches nothing. HEAD is served by the handler for GET. OPTIONS is left
/// to the owner.
package struct Router<Handler: Sendable>: Sendable {
    private struct Route: Sendable {
        let template: RouteTemplate
        var handlers: [String: Handler]
    }

    private struct Node: Sendable {
        var literals: [Substring: Int] = [:]
        var capture: Int?
        var route: Int?
    }

    private var nodes = [Node()]
    private var routes: [Route] = []

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
    ///   - handler: What `match` gives back.
    package mutating func add(_ method: String, _ template: String, _ handler: Handler) {
        let template = RouteTemplate(template)
        var node = 0
        for segment in template.segments { node = child(of: node, for: segment) }
        guard let route = nodes[node].route else {
            nodes[node].route = routes.count
            routes.append(Route(template: template, handlers: [method: handler]))
            return
        }
        precondition(
            routes[route].template.text == template.text,
            "\(template.text) and \(routes[route].template.text) are the same paths")
        let previous = routes[route].handlers.updateValue(handler, forKey: method)
        precondition(previous == nil, "\(method) \(template.text) has two handlers")
    }

    /// Finds what there is for a method and a percent-encoded path without query.
    package func match(method: String, path: String) -> RouteMatch<Handler> {
        let candidates = candidates(for: path)
        guard let first = candidates.first else { return .notFound }
        for (route, captures) in candidates {
            let handler = route.handlers[method] ?? (method == "HEAD" ? route.handlers["GET"] : nil)
            guard let handler else { continue }
            return .found(handler: handler, template: route.template.text, captures: captures)
        }
        return .methodNotAllowed(
            allowed: Self.methods(of: candidates.map(\.route)),
            template: first.route.template.text, captures: first.captures)
    }

    /// The methods that a path has, sorted, HEAD included where GET is; empty when no route has the
    /// path.
    package func allowedMethods(path: String) -> [String] {
        Self.methods(of: candidates(for: path).map(\.route))
    }

    private static func methods(of routes: [Route]) -> [String] {
        var methods = Set(routes.flatMap(\.handlers.keys))
        if methods.contains("GET") { methods.insert("HEAD") }
        return methods.sorted()
    }

    private mutating func child(of node: Int, for segment: RouteTemplate.Segment) -> Int {
        let next = nodes.count
        switch segment {
        case .literal(let text):
            if let child = nodes[node].literals[text[...]] { return child }
            nodes[node].literals[text[...]] = next
        case .capture:
            if let child = nodes[node].capture { return child }
            nodes[node].capture = next
        }
        nodes.append(Node())
        return next
    }

    /// Every route that has the path, those with literals further left first.
    private func candidates(for path: String) -> [(route: Route, captures: [String: String])] {
        guard path.utf8.first == ASCII.slash else { return [] }
        let segments = RouteTemplate.split(path)
        var found: [(route: Route, captures: [String: String])] = []
        collect(segments, depth: 0, node: 0, into: &found)
        return found
    }

    /// Goes as deep as the longest template and, at each capture, two ways: bounded by the routes.
    private func collect(
        _ segments: [Substring], depth: Int, node: Int,
        into found: inout [(route: Route, captures: [String: String])]
    ) {
        guard depth < segments.count else {
            guard let route = nodes[node].route.map({ routes[$0] }) else { return }
            guard let captures = route.template.captures(of: segments) else { return }
            found.append((route, captures))
            return
        }
        if let child = nodes[node].literals[segments[depth]] {
            collect(segments, depth: depth + 1, node: child, into: &found)
        }
        if let child = nodes[node].capture {
            collect(segments, depth: depth + 1, node: child, into: &found)
        }
    }
}
