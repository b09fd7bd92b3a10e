/// The disclosures of one event that have not been destroyed.
package struct DisclosedValues: Hashable, Sendable {
    package private(set) var caseReference: String?
    package private(set) var clientIP: String?
    package private(set) var externalID: String?
    package private(set) var phone: String?
    package private(set) var providerID: String?
    package private(set) var reason: String?
    package private(set) var userAgent: String?
    private var address: String?
    private var emailVerified: String?

    /// Creates an empty set.
    package init() {}

    /// Collects disclosures.
    ///
    /// - Precondition: no name occurs twice.
    package init(_ disclosures: [Disclosure]) {
        for disclosure in disclosures {
            let isNew = add(disclosure)
            assert(isNew, "an event discloses each name once")
        }
    }

    /// The value of a name; nil when it was not disclosed or has been destroyed.
    package subscript(name: Disclosure.Name) -> String? {
        switch name {
        case .caseReference: caseReference
        case .clientIP: clientIP
        case .email: address
        case .emailVerified: emailVerified
        case .externalID: externalID
        case .phone: phone
        case .providerID: providerID
        case .reason: reason
        case .userAgent: userAgent
        }
    }

    /// The e-mail; whether it is verified is nil when the flag was not disclosed or is malformed.
    package var email: Email? {
        address.map { Email($0, isVerified: emailVerified.flatMap(Bool.init)) }
    }

    /// The values, sorted by name.
    package var values: [(name: Disclosure.Name, value: String)] {
        Disclosure.Name.allCases.compactMap { name in self[name].map { (name: name, value: $0) } }
    }

    /// The number of values.
    package var count: Int {
        values.count
    }

    /// Returns the values with another e-mail.
    package func replacing(email: Email) -> DisclosedValues {
        var values = self
        values.address = email.address
        values.emailVerified = email.isVerified.map(String.init)
        return values
    }

    /// Adds a disclosure; false when its name is a duplicate.
    package mutating func add(_ disclosure: Disclosure) -> Bool {
        guard self[disclosure.name] == nil else { return false }
        switch disclosure.name {
        case .caseReference: caseReference = disclosure.value
        case .clientIP: clientIP = disclosure.value
        case .email: address = disclosure.value
        case .emailVerified: emailVerified = disclosure.value
        case .externalID: externalID = disclosure.value
        case .phone: phone = disclosure.value
        case .providerID: providerID = disclosure.value
        case .reason: reason = disclosure.value
        case .userAgent: userAgent = disclosure.value
        }
        return true
    }
}
