/// The identities by subject, including unlinked ones.
package struct SubjectDirectory: Sendable, Sequence {
    private var identities: [Subject: IdentityID] = [:]
    /// The providers of the subjects, of which there are few.
    private var providers: Set<ProviderName> = []

    /// The identity of a subject.
    package subscript(subject: Subject) -> IdentityID? {
        get { identities[subject] }
        set {
            providers.insert(subject.provider)
            identities[subject] = newValue
        }
    }

    /// Sets the identity of a subject, and returns the former one.
    package mutating func updateValue(
        _ identity: IdentityID, forKey subject: Subject
    ) -> IdentityID? {
        providers.insert(subject.provider)
        return identities.updateValue(identity, forKey: subject)
    }

    /// Returns the identities whose subject is an address, by a look-up for each provider: a batch may confirm the
    /// phone numbers of hundreds of accounts.
    func users(of address: AddressID) -> [IdentityID] {
        let id = address.description
        return providers.compactMap { provider in
            Subject(provider: provider, providerID: id).flatMap { identities[$0] }
        }
    }

    /// Returns the part with some of the identities.
    func keeping(_ isKept: (IdentityID) -> Bool) -> SubjectDirectory {
        var kept = self
        kept.identities = identities.filter { isKept($0.value) }
        return kept
    }

    /// Reserves capacity for a number of subjects.
    mutating func reserveCapacity(_ count: Int) {
        identities.reserveCapacity(count)
    }

    /// Iterates over the subjects and their identities.
    package func makeIterator() -> Dictionary<Subject, IdentityID>.Iterator {
        identities.makeIterator()
    }
}

/// The addresses that accounts have, by their names.
///
/// An address has one name: another one, such as that by a new key, replaces it. It is found by the address, since a
/// batch may name hundreds.
package struct NamedAddresses: Sendable, Sequence {
    private var addresses: [AddressName: AddressID] = [:]
    private var names: [AddressID: AddressName] = [:]

    /// The address with a name.
    package subscript(name: AddressName) -> AddressID? {
        get { addresses[name] }
        set {
            guard let newValue else {
                if let former = addresses.removeValue(forKey: name) { names[former] = nil }
                return
            }
            _ = updateValue(newValue, forKey: name)
        }
    }

    /// Names an address, and returns the one that had the name.
    package mutating func updateValue(
        _ address: AddressID, forKey name: AddressName
    ) -> AddressID? {
        let former = addresses.updateValue(address, forKey: name)
        if let former, former != address { names[former] = nil }
        if let other = names.updateValue(name, forKey: address), other != name {
            addresses[other] = nil
        }
        return former
    }

    /// Returns the part with some of the addresses.
    func keeping(_ isKept: (AddressID) -> Bool) -> NamedAddresses {
        var kept = self
        kept.addresses = addresses.filter { isKept($0.value) }
        kept.names = names.filter { isKept($0.key) }
        return kept
    }

    /// Iterates over the names and their addresses.
    package func makeIterator() -> Dictionary<AddressName, AddressID>.Iterator {
        addresses.makeIterator()
    }
}
