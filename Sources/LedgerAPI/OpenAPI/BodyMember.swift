/// A member of a request's body: the one description that its reader and the document use.
protocol BodyMember: Sendable {
    var name: String { get }
    var about: String { get }
    var isRequired: Bool { get }
    var isInExample: Bool { get }
    var schema: Schema { get }
}

extension BodyMember {
    var isRequired: Bool { false }
    var isInExample: Bool { isRequired }
}

/// A string that is required and not empty.
struct RequiredText: BodyMember {
    let name: String
    /// The maximum length, in bytes of UTF-8.
    let bytesMax: Int
    let about: String
    let example: String

    var isRequired: Bool { true }

    var schema: Schema { .text(example, Schema.TextRules(lengths: 1...bytesMax)) }
}

/// A string that may be absent or null.
struct OptionalText: BodyMember {
    let name: String
    /// The maximum length, in bytes of UTF-8.
    let bytesMax: Int
    let about: String
    let example: String
    var isInExample = false

    var schema: Schema { .text(example, Schema.TextRules(lengths: 0...bytesMax)).orNull }
}

/// A Boolean that may be absent or null.
struct OptionalFlag: BodyMember {
    let name: String
    let about: String
    let example: Bool
    var isInExample = true

    var schema: Schema { .flag(example).orNull }
}

/// An object of strings that may be absent or null.
struct OptionalChoices: BodyMember {
    let name: String
    let about: String
    /// The permitted texts of each member.
    let values: [String]

    var schema: Schema { .map(.choice(values)).orNull }
}

/// Any object, which may be absent or null.
struct OptionalObject: BodyMember {
    let name: String
    let about: String

    var schema: Schema { Schema.anyObject.orNull }
}
