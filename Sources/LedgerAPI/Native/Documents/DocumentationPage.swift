internal import Cryptography
internal import Encodings
internal import JSON
internal import LedgerWire

/// The page of the API's description: complete in itself, without scripts.
enum DocumentationPage {
    /// Documents are the same for everyone until the next release.
    static let caching = (name: "Cache-Control", value: "public, max-age=300")

    /// The header fields of the page; the browser may apply the page's own style and nothing else.
    static let headers: [(name: String, value: String)] = [
        (
            name: ResponseField.contentPolicy.rawValue,
            value: "default-src 'none'; style-src 'sha256-\(styleDigest)'; base-uri 'none';"
                + " form-action 'none'; frame-ancestors 'none'"
        ),
        (name: ResponseField.contentTypeOptions.rawValue, value: "nosniff"),
        (name: ResponseField.referrerPolicy.rawValue, value: "no-referrer"), caching,
    ]

    /// The page of the routes that apps call.
    static let ofApps = Array(page(of: .ofApps).utf8)

    private static let styleDigest = Base64.encode(SHA256.hash(style))

    private static let style = """
        body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
        h3{margin-top:3rem}code,pre{font-family:ui-monospace,monospace;font-size:.9em}
        pre{background:#f4f4f4;padding:.7rem;overflow-x:auto}
        table{border-collapse:collapse;width:100%}
        th,td{border-bottom:1px solid #ccc;padding:.3rem .5rem;text-align:left;vertical-align:top}
        @media(prefers-color-scheme:dark){body{background:#111;color:#eee}pre{background:#222}a{color:#8cf}}
        """

    private static func page(of document: APIDocument) -> String {
        let sections = Operation.Tag.allCases.compactMap { tag -> String? in
            let entries = document.entries.filter { $0.operation.tag == tag }
            guard !entries.isEmpty else { return nil }
            return "<h2 id=\"\(tag.rawValue)\">\(HTMLText.escape(tag.about))</h2>"
                + entries.map { section(of: $0) }.joined()
        }
        let contents = document.entries.map { entry in
            "<li><a href=\"#\(entry.operation.id)\"><code>\(heading(of: entry))</code></a> "
                + "\(prose(entry.operation.summary))</li>"
        }
        return """
            <!doctype html><html lang="en"><head><meta charset="utf-8">\
            <meta name="viewport" content="width=device-width">\
            <title>\(HTMLText.escape(document.title))</title><style>\(style)</style></head><body>\
            <h1>\(HTMLText.escape(document.title))</h1><p>\(prose(document.about)) The same for programs: \
            <a href="\(DocumentRoute.path)">\(DocumentRoute.path)</a>.</p>\
            <p>Every path also exists behind <code>/t/TENANT</code>, unless it is about the service \
            itself.</p><ul>\(contents.joined())</ul>\(sections.joined())</body></html>

            """
    }

    private static func section(of entry: APIDocument.Entry) -> String {
        let operation = entry.operation
        var text = "<h3 id=\"\(operation.id)\"><code>\(heading(of: entry))</code></h3>"
        text += "<p>\(prose(operation.summary)). \(prose(entry.description))</p>"
        text += table(
            ["Parameter", "In", "Meaning"],
            entry.parameters.map { parameter in
                [
                    code(parameter.name) + (parameter.isRequired ? ", required" : ""),
                    parameter.location.rawValue,
                    prose(parameter.about) + rules(of: parameter.schema),
                ]
            })
        if let body = operation.body {
            text += table(
                ["Member of the body", "Meaning"],
                body.members.map { member in
                    [
                        code(member.name) + (member.isRequired ? ", required" : ""),
                        prose(member.about) + rules(of: member.schema),
                    ]
                })
            text += example(of: body.schema)
        }
        for answer in operation.answers {
            text += "<p>200, \(code(answer.mediaType)):</p>" + example(of: answer.schema)
        }
        text += table(
            ["Status", "Code", "Message"],
            entry.errorsByStatus.flatMap { status, errors in
                errors.map {
                    [String(status), code($0.code.rawValue), HTMLText.escape($0.message)]
                }
            })
        return text
    }

    private static func heading(of entry: APIDocument.Entry) -> String {
        HTMLText.escape("\(entry.method) \(entry.path)")
    }

    private static func rules(of schema: Schema) -> String {
        guard case .text(let rules) = schema.kind else { return "" }
        var texts: [String] = []
        if let lengths = rules.lengths {
            texts.append("\(lengths.lowerBound) to \(lengths.upperBound) characters")
        }
        if let format = rules.format { texts.append("format \(code(format))") }
        if !rules.values.isEmpty { texts.append(rules.values.map(code).joined(separator: ", ")) }
        return texts.isEmpty ? "" : " (" + texts.joined(separator: "; ") + ")"
    }

    private static func example(of schema: Schema) -> String {
        if case .text(let text) = schema.example { return "<pre>\(HTMLText.escape(text))</pre>" }
        var writer = JSONWriter()
        schema.writeExample(to: &writer)
        return "<pre>\(HTMLText.escape(String(decoding: writer.bytes, as: UTF8.self)))</pre>"
    }

    private static func table(_ heads: [String], _ rows: [[String]]) -> String {
        guard !rows.isEmpty else { return "" }
        let head = heads.map { "<th>\($0)</th>" }.joined()
        let body = rows.map { "<tr>" + $0.map { "<td>\($0)</td>" }.joined() + "</tr>" }
        return "<table><tr>\(head)</tr>\(body.joined())</table>"
    }

    private static func code(_ text: String) -> String { "<code>\(HTMLText.escape(text))</code>" }

    /// Writes the words between backticks as code.
    private static func prose(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            index % 2 == 1 ? code(String(part)) : HTMLText.escape(String(part))
        }.joined()
    }
}
