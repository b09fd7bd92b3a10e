internal import Cryptography
internal import JSON

/// A configuration object whose members must all be known, with its location in the file.
struct StrictObject {
    let members: JSONMembers
    /// The location, such as `tenants.acme`; empty for the whole file.
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

    /// Returns the location of a member.
    func place(of name: String) -> String {
        place.isEmpty ? name : "\(place).\(name)"
    }

    /// Refuses unknown members.
    func allow(_ names: Set<String>) throws(ProvidersFileFault) {
        let surplus = members.keys.filter { !names.contains($0) }.min()
        guard let surplus else { return }
        throw ProvidersFileFault(place(of: surplus), "is an unknown member")
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

    /// Returns a list of at least one string, without duplicates.
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
                throw ProvidersFileFault("\(place)[\(index)]", "is a duplicate")
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
            throw ProvidersFileFault(place, "is too long or contains control characters")
        }
        return text
    }
}
