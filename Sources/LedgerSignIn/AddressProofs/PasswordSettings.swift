internal import Ledger
package import Passwords

/// The settings of passwords.
package struct PasswordSettings: Sendable {
    /// The rule for new ones.
    package let rule: PasswordRule

    /// Describes passwords.
    package init(rule: PasswordRule) {
        self.rule = rule
    }

    /// Reads a provider's section of the providers file.
    init(_ object: StrictObject) throws(ProvidersFileFault) {
        try object.allow(StrictObject.commonMembers.union(["length_min", "blocklist"]))
        let range = PasswordRule.lengthMinRange
        let length = try object.optionalNumber(
            "length_min", Int64(range.lowerBound)...Int64(range.upperBound))
        var blocklist = PasswordBlocklist.empty
        if let path = try object.optionalText("blocklist") {
            do {
                blocklist = try PasswordBlocklist(contentsOf: path)
            } catch {
                throw ProvidersFileFault(
                    object.location(of: "blocklist"), "names a file that can't be read")
            }
        }
        guard
            let rule = PasswordRule(
                lengthMin: length.map { Int($0) } ?? PasswordRule.lengthMinAlone,
                blocklist: blocklist)
        else { throw ProvidersFileFault(object.location(of: "length_min"), "is out of range") }
        self.rule = rule
    }
}
