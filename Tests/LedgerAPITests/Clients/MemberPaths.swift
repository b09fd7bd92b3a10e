import JSON

/// The members of a type or a schema by their paths, such as `identities[].email`, and whether an object
/// must have them; none for a type that is no object.
struct MemberPaths: Equatable {
    var isRequired: [String: Bool] = [:]

    /// The members of an object with these ones.
    static func object(
        _ members: [(name: String, isRequired: Bool, value: MemberPaths)]
    ) -> MemberPaths {
        var paths = MemberPaths()
        for member in members {
            paths.isRequired[member.name] = member.isRequired
            for (path, isRequired) in member.value.isRequired {
                let separator = path.hasPrefix("[]") ? "" : "."
                paths.isRequired["\(member.name)\(separator)\(path)"] = isRequired
            }
        }
        return paths
    }

    /// The members of an array of these.
    var list: MemberPaths {
        var paths = MemberPaths()
        for (path, isRequired) in isRequired {
            paths.isRequired[path.hasPrefix("[]") ? "[]\(path)" : "[].\(path)"] = isRequired
        }
        return paths
    }

    /// The members of an object that is of both types.
    func and(_ other: MemberPaths) -> MemberPaths {
        MemberPaths(isRequired: isRequired.merging(other.isRequired) { $0 || $1 })
    }

    /// The members of an object that is of either type; null and the like have no members to miss.
    func or(_ other: MemberPaths) -> MemberPaths {
        guard !isRequired.isEmpty, !other.isRequired.isEmpty else { return and(other) }
        var paths = and(other)
        for path in paths.isRequired.keys {
            paths.isRequired[path] = isRequired[path] == true && other.isRequired[path] == true
        }
        return paths
    }

    /// The differences from what a document describes.
    func differences(from described: MemberPaths) -> [String] {
        Set(isRequired.keys).union(described.isRequired.keys).sorted().compactMap { path in
            switch (isRequired[path], described.isRequired[path]) {
            case (nil, _): "\(path) is missing"
            case (_, nil): "\(path) is surplus"
            case (let own, let other) where own != other:
                "\(path) is \(own == true ? "required" : "optional")"
            default: nil
            }
        }
    }
}

extension SchemaChecker {
    /// Returns the members that a schema describes.
    func members(of schema: JSONValue) -> MemberPaths {
        guard let schema = schema.members else { return MemberPaths() }
        if let reference = schema["$ref"]?.string {
            return self.schema(at: reference).map { members(of: .object($0)) } ?? MemberPaths()
        }
        if let choices = schema["oneOf"]?.array {
            return choices.reduce(MemberPaths()) { $0.or(members(of: $1)) }
        }
        if let element = schema["items"] { return members(of: element).list }
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        return .object(
            (schema["properties"]?.members ?? [:]).map { name, property in
                (
                    name: name, isRequired: required.contains(name), value: members(of: property)
                )
            })
    }
}
