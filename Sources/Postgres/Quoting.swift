/// Quotes a name so that SQL reads it exactly as given.
///
/// A name with U+0000 cannot be sent: `execute` refuses the script that contains it.
package func quoteIdentifier(_ name: String) -> String {
    "\"" + doubling("\"", in: name) + "\""
}

/// Quotes a text as a string constant, correct for any `standard_conforming_strings`.
///
/// For scripts that take no parameters, such as DDL; everything else passes a `Parameter`.
package func quoteLiteral(_ text: String) -> String {
    let quoted = "'" + doubling("'", in: text) + "'"
    guard text.unicodeScalars.contains("\\") else { return quoted }
    return " E" + doubling("\\", in: quoted)
}

/// Works on scalars: a quote followed by a combining mark is still a quote to the server.
private func doubling(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}
