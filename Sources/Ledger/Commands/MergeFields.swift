/// A merge or its undoing in the text format of stored idempotency answers: fields separated by
/// `|`, list elements by `,`, and the parts of an element by `/`.
struct MergeFields: CustomStringConvertible {
    // One more with factors, and two more for a merge.
    private static let mergedCount = 9
    private static let unmergedCount = 6

    private let fields: [Substring]

    /// Splits a text into fields.
    init(_ text: Substring) {
        fields = text.split(separator: "|", omittingEmptySubsequences: false)
    }

    /// Encodes a merge; before it is recorded it has no event.
    init(_ plan: MergePlan, _ event: EventID?) {
        let choices = plan.choices.map { "\($0.provider)/\($0.keepsAbsorbed)" }
        let kept = plan.keptFactors.map(\.description).joined(separator: ",")
        fields =
            [
                Self.text(event), plan.survivor.description[...], plan.absorbed.description[...],
                plan.absorbedSequence.description[...], Self.text(plan.moved),
                Self.text(plan.dropped), Self.text(plan.replaced), Self.text(plan.links),
                choices.joined(separator: ",")[...],
            ]
            + (plan.secondFactors.isEmpty
                ? [] : [kept[...], (plan.factors.fieldText ?? "")[...]])
    }

    /// Encodes an undone merge; before it is recorded it has no event.
    init(_ plan: UnmergeAccounts.Plan, _ event: EventID?) {
        fields =
            [
                Self.text(event), plan.survivor.description[...], plan.absorbed.description[...],
                Self.text(plan.returned), Self.text(plan.restored), Self.text(plan.links),
            ] + (plan.factors.fieldText.map { [$0[...]] } ?? [])
    }

    var description: String { fields.joined(separator: "|") }

    /// Returns the merge; nil when the fields are malformed.
    func merged() -> Reply? {
        guard [Self.mergedCount, Self.mergedCount + 2].contains(fields.count),
            let event = EventID(fields[0]), let survivor = AccountID(fields[1]),
            let absorbed = AccountID(fields[2]),
            let sequence = Int64(fields[3]), let moved = links(4), let dropped = links(5),
            let replaced = links(6), let links = links(7), let choices = choices(8),
            let kept = ids(Self.mergedCount), let factors = factors(Self.mergedCount + 1)
        else { return nil }
        let plan = MergePlan(
            survivor: survivor, absorbed: absorbed, moved: moved, dropped: dropped,
            replaced: replaced, choices: choices, links: links, keptFactors: kept,
            factors: factors, absorbedSequence: sequence)
        return .merged(plan, event)
    }

    /// Returns the undone merge; nil when the fields are malformed.
    func unmerged() -> Reply? {
        guard (Self.unmergedCount...Self.unmergedCount + 1).contains(fields.count),
            let event = EventID(fields[0]), let survivor = AccountID(fields[1]),
            let absorbed = AccountID(fields[2]),
            let returned = links(3), let restored = links(4), let links = links(5),
            let factors = factors(Self.unmergedCount)
        else { return nil }
        let plan = UnmergeAccounts.Plan(
            survivor: survivor, absorbed: absorbed, returned: returned, restored: restored,
            links: links, factors: factors)
        return .unmerged(plan, event)
    }

    private static func text(_ event: EventID?) -> Substring {
        event.map(\.description)?[...] ?? ""
    }

    private static func text(_ links: [Account.Link]) -> Substring {
        links.map {
            "\($0.identity)/\($0.provider)/\($0.linkedAt.microseconds)/\($0.position.value)"
        }.joined(separator: ",")[...]
    }

    private func links(_ index: Int) -> [Account.Link]? {
        elements(index) { parts in
            guard parts.count == 4, let identity = IdentityID(parts[0]),
                let provider = ProviderName(String(parts[1])), let linkedAt = Int64(parts[2]),
                let position = Int64(parts[3]), position >= 0
            else { return nil }
            return Account.Link(
                identity: identity, provider: provider,
                linkedAt: Timestamp(microseconds: linkedAt), position: LogPosition(position))
        }
    }

    private func choices(_ index: Int) -> [MergePlan.Choice]? {
        elements(index) { parts in
            guard parts.count == 2, let provider = ProviderName(String(parts[0])),
                let keepsAbsorbed = Bool(String(parts[1]))
            else { return nil }
            return MergePlan.Choice(provider: provider, keepsAbsorbed: keepsAbsorbed)
        }
    }

    /// Returns the ids of a field; none without the field.
    private func ids(_ index: Int) -> [FactorID]? {
        guard index < fields.count else { return [] }
        let texts = fields[index].split(separator: ",")
        let ids = texts.compactMap { FactorID($0) }
        return ids.count == texts.count ? ids : nil
    }

    /// Returns the factors of a field; none without the field.
    private func factors(_ index: Int) -> [MergedFactor]? {
        guard index < fields.count, !fields[index].isEmpty else { return [] }
        return [MergedFactor](fieldText: fields[index])
    }

    /// Returns a list's elements; nil when one is malformed.
    private func elements<Element>(
        _ index: Int, _ read: ([Substring]) -> Element?
    ) -> [Element]? {
        let texts = fields[index].split(separator: ",")
        let elements = texts.compactMap {
            read($0.split(separator: "/", omittingEmptySubsequences: false))
        }
        return elements.count == texts.count ? elements : nil
    }
}
