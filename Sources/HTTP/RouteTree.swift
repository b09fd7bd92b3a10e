/// The templates of a router as a tree of segments, with a number per template and method.
///
/// Separate from the generic `Router`, so that the compiler makes a single specialized version.
struct RouteTree: Sendable {
    private struct Route: Sendable {
        let template: RouteTemplate
        // At most a few: a linear search is cheaper than a dictionary.
        var methods: [(name: String, number: Int)]

        func number(_ method: String) -> Int? {
            methods.first { $0.name == method }?.number
        }
    }

    typealias Candidate = (route: Int, captures: RouteCaptures)

    private struct Node: Sendable {
        var literals: [(text: String, child: Int)] = []
        var capture: Int?
        var route: Int?

        func child(_ text: Substring) -> Int? {
            for (literal, child) in literals where literal.utf8.count == text.utf8.count {
                if text.utf8.elementsEqual(literal.utf8) { return child }
            }
            return nil
        }
    }

    private var nodes = [Node()]
    private var routes: [Route] = []

    /// Adds a method of a template under a number.
    mutating func add(_ method: String, _ template: RouteTemplate, number: Int) {
        var node = 0
        for segment in template.segments { node = child(of: node, for: segment) }
        guard let route = nodes[node].route else {
            nodes[node].route = routes.count
            routes.append(Route(template: template, methods: [(method, number)]))
            return
        }
        precondition(
            routes[route].template.text == template.text,
            "\(template.text) and \(routes[route].template.text) are the same paths")
        precondition(
            routes[route].number(method) == nil, "\(method) \(template.text) has two handlers")
        routes[route].methods.append((method, number))
    }

    /// Finds the route for a method and a percent-encoded path without query.
    func match(method: String, path: String) -> RouteMatch {
        // RFC 9110 section 9.3.7: the methods of the server.
        if method == "OPTIONS", path == "*" {
            return .methodNotAllowed(allowed: methods(of: routes), template: path, captures: [:])
        }
        let candidates = candidates(for: path)
        guard let first = candidates.first else { return .notFound }
        for (index, captures) in candidates {
            let route = routes[index]
            let number = route.number(method) ?? (method == "HEAD" ? route.number("GET") : nil)
            guard let number else { continue }
            return .found(number: number, template: route.template.text, captures: captures)
        }
        return .methodNotAllowed(
            allowed: methods(of: candidates.map { routes[$0.route] }),
            template: routes[first.route].template.text, captures: first.captures)
    }

    /// Returns every route for the path, those with literals further left first.
    func candidates(for path: String) -> [Candidate] {
        guard path.utf8.first == ASCII.slash else { return [] }
        let segments = RouteTemplate.split(path)
        var found: [Candidate] = []
        collect(segments, depth: 0, node: 0, into: &found)
        return found
    }

    /// Returns the sorted methods of several routes, including HEAD for GET.
    private func methods(of routes: [Route]) -> [String] {
        var methods = Set(routes.flatMap { $0.methods.map(\.name) })
        if methods.contains("GET") { methods.insert("HEAD") }
        return methods.sorted()
    }

    private mutating func child(of node: Int, for segment: RouteTemplate.Segment) -> Int {
        let next = nodes.count
        switch segment {
        case .literal(let text):
            if let child = nodes[node].child(text[...]) { return child }
            nodes[node].literals.append((text, next))
        case .capture:
            if let child = nodes[node].capture { return child }
            nodes[node].capture = next
        }
        nodes.append(Node())
        return next
    }

    /// Searches the literal and the capture branch of each segment; the depth is bounded by the templates.
    private func collect(
        _ segments: [Substring], depth: Int, node: Int, into found: inout [Candidate]
    ) {
        guard depth < segments.count else {
            guard let route = nodes[node].route else { return }
            guard let captures = routes[route].template.captures(of: segments) else { return }
            found.append((route, captures))
            return
        }
        if let child = nodes[node].child(segments[depth]) {
            collect(segments, depth: depth + 1, node: child, into: &found)
        }
        if let child = nodes[node].capture {
            collect(segments, depth: depth + 1, node: child, into: &found)
        }
    }
}
