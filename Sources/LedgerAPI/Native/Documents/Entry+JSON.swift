internal import HTTP
internal import JSON
internal import LedgerWire

extension APIDocument.Entry {
    private static let bodyBytesMax = HTTPServerLimits().bodyBytesMax

    /// Writes the operation.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operationId", operation.id)
            writer.name("tags")
            writer.texts([operation.tag.rawValue])
            writer.member("summary", operation.summary)
            writer.member("description", description)
            writer.name("security")
            writer.array { writer in
                switch operation.access {
                case .anyone: break
                case .anyoneOrAccountHolder:
                    writer.object { _ in }
                    writer.requirement(.accessToken)
                case .accountHolder: writer.requirement(.accessToken)
                case .principal: writer.requirement(.apiKey)
                }
            }
            writer.name("parameters")
            writer.array { writer in
                for parameter in parameters { parameter.write(to: &writer) }
            }
            if let body = operation.body { write(body, to: &writer) }
            writer.name("responses")
            writer.object { writeResponses(to: &$0) }
        }
    }

    /// The callers, and what there is to know about the operation.
    var description: String {
        let refused = operation.parameters.filter(\.isRefused).map(\.about)
        return (["For \(operation.callers).", operation.about].compactMap(\.self) + refused)
            .joined(separator: " ")
    }

    private func write(_ body: any BodyForm.Type, to writer: inout JSONWriter) {
        writer.name("requestBody")
        writer.object { writer in
            writer.member(
                "description", "At most \(Self.bodyBytesMax) bytes; other members are ignored")
            writer.name("required")
            writer.flag(!body.mayBeEmpty)
            writer.name("content")
            writer.object { $0.content("application/json", body.schema) }
        }
    }

    private func writeResponses(to writer: inout JSONWriter) {
        writer.name("200")
        writer.object { writer in
            writer.member("description", "Success")
            writer.fields(usualFields + operation.headers)
            writer.name("content")
            writer.object { writer in
                for answer in operation.answers { writer.content(answer.mediaType, answer.schema) }
            }
        }
        for (status, schema) in operation.otherAnswers.sorted(by: { $0.key < $1.key })
        where status < 300 {
            writer.name(String(status))
            writer.object { writer in
                writer.member("description", "Not done yet")
                writer.fields(usualFields)
                writer.name("content")
                writer.object { $0.content("application/json", schema) }
            }
        }
        for (status, errors) in errorsByStatus {
            if let schema = operation.otherAnswers[status] {
                write(status, errors, or: schema, to: &writer)
            } else {
                write(status, errors, to: &writer)
            }
        }
    }

    /// Writes the errors of one status, with an example of each.
    private func write(_ status: Int, _ errors: [ErrorAnswer], to writer: inout JSONWriter) {
        writer.name(String(status))
        writer.object { writer in
            writer.member("description", errors.map(\.message).joined(separator: "; "))
            writer.fields(usualFields + (errors.first?.headers.map(\.name) ?? []))
            writer.name("content")
            writer.object { writer in
                writer.name("application/json")
                writer.object { writer in
                    writer.name("schema")
                    ErrorBody.schema.write(to: &writer)
                    writer.name("examples")
                    writer.object { writer in
                        var counts: [String: Int] = [:]
                        for error in errors {
                            let code = error.code.rawValue
                            counts[code, default: 0] += 1
                            let count = counts[code] ?? 1
                            writer.name(count == 1 ? code : "\(code)_\(count)")
                            writer.object { writer in
                                writer.name("value")
                                writer.json(error.response.body)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Writes a status that is no error here, or one of these errors.
    private func write(
        _ status: Int, _ errors: [ErrorAnswer], or schema: Schema, to writer: inout JSONWriter
    ) {
        writer.name(String(status))
        writer.object { writer in
            writer.member("description", "Not ready")
            writer.fields(usualFields + (errors.first?.headers.map(\.name) ?? []))
            writer.name("content")
            writer.object { writer in
                writer.name("application/json")
                writer.object { writer in
                    writer.name("schema")
                    writer.object { writer in
                        writer.name("anyOf")
                        writer.array { writer in
                            schema.write(to: &writer)
                            ErrorBody.schema.write(to: &writer)
                        }
                    }
                }
            }
        }
    }

    private var usualFields: [String] {
        let caching = ResponseField.caching.rawValue
        return isOnAdminListener ? [caching] : [ResponseField.requestID.rawValue, caching]
    }
}

extension Parameter {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("in", location.rawValue)
            writer.member("description", about)
            writer.name("required")
            writer.flag(isRequired)
            writer.name("schema")
            schema.write(to: &writer)
            guard isInExample else { return }
            writer.name("example")
            schema.writeExample(to: &writer)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func requirement(_ scheme: SecurityScheme) {
        object { writer in
            writer.name(scheme.rawValue)
            writer.array { _ in }
        }
    }

    fileprivate mutating func content(_ mediaType: String, _ schema: Schema) {
        name(mediaType)
        object { writer in
            writer.name("schema")
            schema.write(to: &writer)
            writer.name("example")
            schema.writeExample(to: &writer)
        }
    }

    fileprivate mutating func fields(_ names: [String]) {
        name("headers")
        object { writer in
            for name in names {
                writer.name(name)
                writer.object { $0.member("$ref", "#/components/headers/\(name)") }
            }
        }
    }
}
