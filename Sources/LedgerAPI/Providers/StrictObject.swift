internal import Cryptography

/// An object of a configuration file whose every member must be known; remembers where it stands.
struct StrictObject {
    let members: JSONMembers
    /// Where it stands, such as `tenants.acme`; empty for the whole file.
    let place: String

    init(_ value: JSONValue, at place: String) throws(ProvidersFileFault) {
        guard let members = value.members else {
            throw ProvidersFileFault(place.isEmpty ? "the file" : place, "must be an object")
        }
        self.members = members
        self.place = place
    }

    func has(_ name: String) -> Bool {
        members[name] != nil
    }

    /// Where a member stands.
    func place(of name: String) -> String {
        place.isEmpty ? name : "\(place).\(name)"
    }

    /// Refuses members that are not among the known ones.
    func allow(_ names: Set<String>) throws(ProvidersFileFault) {
        let surplus = members.keys.filter { !names.contains($0) }.min()
        guard let surplus else { return }
        throw ProvidersFileFault(place(of: surplus), "is not a known member")
    }

    func required(
        _ name: String
    ) throws(ProvidersFileFault) -> (value: JSONValue, place: String) {
        guard let value = members[name] else {
            throw ProvidersFileFault(place(of: name), "is missing")
        }
        return (value, place(of: name))
    }

    func requiredText(_ name: String) throws(ProvidersFileFault) -> String {
        let (value, place) = try required(name)
        return try Self.text(value, at: place)
    }

    func optionalText(_ name: String) throws(ProvidersFileFault) -> String? {
        try members[name].map { value throws(ProvidersFileFault) in
            try Self.text(value, at: place(of: name))
        }
    }

    func optionalFlag(_ name: String) throws(ProvidersFileFault) -> Bool? {
        guard let value = members[name] else { return nil }
        guard case .bool(let flag) = value else {
            throw ProvidersFileFault(place(of: name), "must be true or false")
        }
        return flag
    }

    /// A list of at least one text, none twice.
    func texts(_ name: String) throws(ProvidersFileFault) -> [String] {
        let (value, place) = try required(name)
        guard let elements = value.array else {
            throw ProvidersFileFault(place, "must be a list of strings")
        }
        guard !elements.isEmpty else { throw ProvidersFileFault(place, "must not be empty") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            let text = try Self.text(element, at: "\(place)[\(index)]")
            guard !texts.contains(text) else {
                throw ProvidersFileFault("\(place)[\(index)]", "is there twice")
            }
            texts.append(text)
        }
        return texts
    }

    static let textBytesMax = 2048

    private static func text(
        _ value: JSONValue, at place: String
    ) throws(ProvidersFileFault) -> String {
        guard let text = value.string else { throw ProvidersFileFault(place, "must be a string") }
        guard !text.isEmpty else { throw ProvidersFileFault(place, "must not be empty") }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard text.utf8.count <= textBytesMax, isPlain else {
            throw ProvidersFileFault(place, "is too long or holds control characters")
        }
        return text
    }
}
