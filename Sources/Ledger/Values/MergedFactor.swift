/// A second factor, or a set of recovery codes, that a merge gives to the survivor or its undoing gives back.
///
/// Its row and its key stay those of the account that enrolled it.
package struct MergedFactor: Hashable, Sendable {
    /// The maximum number of factors of a merged account, without recovery codes.
    package static let countMax = 20

    package let id: FactorID
    package let kind: FactorKind
    /// The account that enrolled it.
    package let account: AccountID
    /// The position of the `SecondFactorEnrolled`.
    package let position: LogPosition

    /// Describes a factor.
    package init(id: FactorID, kind: FactorKind, account: AccountID, position: LogPosition) {
        self.id = id
        self.kind = kind
        self.account = account
        self.position = position
    }

    /// Describes a factor of the state.
    init(_ held: HeldFactor) {
        self.init(id: held.id, kind: held.kind, account: held.account, position: held.position)
    }

    /// The factor of the state, held by an account.
    func held(by holder: AccountID) -> HeldFactor {
        HeldFactor(id: id, kind: kind, account: account, holder: holder, position: position)
    }
}

extension [MergedFactor] {
    /// The ids of those that are second factors, without recovery codes, in the same order.
    package var required: [FactorID] { filter(\.kind.isRequired).map(\.id) }

    /// Whether a survivor gets its first second factor with these: its sessions began without a factor, and end.
    ///
    /// - Parameter former: The second factors that it had.
    /// - Returns: Whether they include its first one.
    package func bringFirst(to former: [FactorID]) -> Bool {
        former.isEmpty && !required.isEmpty
    }

    /// The factors in the text of a field: separated by commas, each with its parts separated by `/`; nil for none.
    var fieldText: String? {
        isEmpty
            ? nil
            : map { "\($0.id)/\($0.kind.rawValue)/\($0.account)/\($0.position)" }
                .joined(separator: ",")
    }

    /// Reads the text of a field; nil for one that ``fieldText`` does not write.
    init?(fieldText text: some StringProtocol) {
        self = text.split(separator: ",", omittingEmptySubsequences: false).compactMap {
            let parts = $0.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 4, let id = FactorID(parts[0]),
                let kind = FactorKind(rawValue: String(parts[1])),
                let account = AccountID(parts[2]), let position = Int64(parts[3]), position >= 0
            else { return nil }
            return MergedFactor(
                id: id, kind: kind, account: account, position: LogPosition(position))
        }
        guard fieldText.map({ $0 == text }) == true else { return nil }
    }
}
