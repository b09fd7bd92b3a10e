/// Quotes a name so that it stands for exactly itself in SQL.
///
/// A name with U+0000 cannot be sent at all: `execute` refuses the script that holds it.
package func quoteIdentifier(_ name: String) -> String {
    "\"" + doubling("\"", in: name) + "\""
}

/// Quotes a text as a string constant, right whatever `standard_conforming_strings` says.
///
/// For scripts that take no parameters, such as DDL; everything else passes a `Parameter`.
package func quoteLiteral(_ text: String) -> String {
    let quoted = "'" + doubling("'", in: text) + "'"
    guard text.unicodeScalars.contains("\\") else { return quoted }
    return " E" + doubling("\\", in: quoted)
}

/// Works on scalars: a quote that is followed by a combining mark is a quote to the server too.
private func doubling(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}
