extension RecordedEvent {
    /// The number of disclosures that the entry commits to and the number required; nil when they
    /// suffice.
    ///
    /// Requires no key, so it also works for erased accounts.
    package var shortfall: (count: Int, required: Int)? {
        let required = event.fact.requiredDisclosures.count
        return disclosureDigests.count < required
            ? (count: disclosureDigests.count, required: required) : nil
    }

    /// Returns the names of the required disclosures that are missing from these values.
    package func missingDisclosures(among disclosed: DisclosedValues) -> [Disclosure.Name] {
        event.fact.requiredDisclosures.filter { disclosed[$0] == nil }
    }
}
