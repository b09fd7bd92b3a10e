internal import JSON

/// A configuration object whose members must all be known, with its location in the file.
struct StrictObject {
    /// The members of a provider's section that do not depend on its type.
    static let commonMembers: Set<String> = [
        "name", "type", "display_name", "new_device_notices",
    ]

    let members: JSONMembers
    /// The location, such as `tenants.acme`; empty for the whole file.
    let location: String

    init(_ value: JSONValue, at location: String) throws(ProvidersFileFault) {
        guard let members = value.members else {
            throw ProvidersFileFault(location.isEmpty ? "the file" : location, "must be an object")
        }
        self.members = members
        self.location = location
    }

    func has(_ name: String) -> Bool {
        members[name] != nil
    }

    /// Returns the location of a member.
    func location(of name: String) -> String {
        location.isEmpty ? name : "\(location).\(name)"
    }

    /// Refuses unknown members.
    func allow(_ names: Set<String>) throws(ProvidersFileFault) {
        let surplus = members.keys.filter { !names.contains($0) }.min()
        guard let surplus else { return }
        throw ProvidersFileFault(location(of: surplus), "is an unknown member")
    }

    func required(
        _ name: String
    ) throws(ProvidersFileFault) -> (value: JSONValue, location: String) {
        guard let value = members[name] else {
            throw ProvidersFileFault(location(of: name), "is missing")
        }
        return (value, location(of: name))
    }

    func object(_ name: String) throws(ProvidersFileFault) -> StrictObject {
        let (value, location) = try required(name)
        return try StrictObject(value, at: location)
    }

    func requiredText(_ name: String) throws(ProvidersFileFault) -> String {
        let (value, location) = try required(name)
        return try Self.text(value, at: location)
    }

    func optionalText(_ name: String) throws(ProvidersFileFault) -> String? {
        try members[name].map { value throws(ProvidersFileFault) in
            try Self.text(value, at: location(of: name))
        }
    }

    /// Returns the case that a string names.
    func optionalCase<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(ProvidersFileFault) -> Value? {
        guard let text = try optionalText(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map { "\"\($0.rawValue)\"" }
            throw ProvidersFileFault(
                location(of: name), "must be \(known.joined(separator: " or "))")
        }
        return value
    }

    func optionalFlag(_ name: String) throws(ProvidersFileFault) -> Bool? {
        guard let value = members[name] else { return nil }
        guard case .bool(let flag) = value else {
            throw ProvidersFileFault(location(of: name), "must be true or false")
        }
        return flag
    }

    /// Returns a whole number of a range.
    func optionalNumber(
        _ name: String, _ range: ClosedRange<Int64>
    ) throws(ProvidersFileFault) -> Int64? {
        guard let value = members[name] else { return nil }
        guard let number = value.number.flatMap(Int64.init(exactly:)), range.contains(number) else {
            throw ProvidersFileFault(
                location(of: name),
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a list of at least one string, without duplicates.
    func texts(_ name: String) throws(ProvidersFileFault) -> [String] {
        let (value, location) = try required(name)
        guard let elements = value.array else {
            throw ProvidersFileFault(location, "must be a list of strings")
        }
        guard !elements.isEmpty else { throw ProvidersFileFault(location, "must not be empty") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            let text = try Self.text(element, at: "\(location)[\(index)]")
            guard !texts.contains(text) else {
                throw ProvidersFileFault("\(location)[\(index)]", "is a duplicate")
            }
            texts.append(text)
        }
        return texts
    }

    static let textBytesMax = 2048

    private static func text(
        _ value: JSONValue, at location: String
    ) throws(ProvidersFileFault) -> String {
        guard let text = value.string else {
            throw ProvidersFileFault(location, "must be a string")
        }
        guard !text.isEmpty else { throw ProvidersFileFault(location, "must not be empty") }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard text.utf8.count <= textBytesMax, isPlain else {
            throw ProvidersFileFault(location, "is too long or contains control characters")
        }
        return text
    }
}
