/// The variables of a file of `packaging/patroni`, which describes the first of three machines.
///
/// On a machine, systemd and a shell read these files. So a value has only characters that both read alike, and
/// any other line is refused: skipped, it would give the trial another setting than an operator gets.
package struct MachineVariables {
    /// A line that is no variable, or one of a name that the file has already.
    package struct Malformed: Error, Hashable {
        package let line: String
    }

    /// The beginning of the machines' addresses in the files; their numbers follow.
    package static let addresses = "192.0.2."
    private static let name = "db"
    private let documented: [String: String]

    /// Reads the text of a file.
    package init(_ text: String) throws(Malformed) {
        var documented: [String: String] = [:]
        // "\r\n" is one character, and not this one.
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let match = line.wholeMatch(of: /([A-Z][A-Z0-9_]*)=([-A-Za-z0-9_.:,\/=]+)/),
                documented.updateValue(String(match.output.2), forKey: String(match.output.1))
                    == nil
            else { throw Malformed(line: String(line)) }
        }
        self.documented = documented
    }

    /// Returns the values for a machine: its name and its address, except in lists, which have all machines.
    package func values(of number: Int) -> [String: String] {
        documented.mapValues { value in
            value.contains(",")
                ? value
                : value.replacing(Self.addresses + "1", with: "\(Self.addresses)\(number)")
                    .replacing(Self.name + "1", with: "\(Self.name)\(number)")
        }
    }
}
