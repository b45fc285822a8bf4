import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import StoreEngine

/// Says what is wrong with a document that somebody is writing, and what could be written next (docs/http.md).
struct DocumentHelp: Sendable {
    private let schema: Schema
    private let limits: DocumentLimits

    /// So long may a document be, in bytes.
    static let lengthLimit = 64 << 10

    /// - Parameter limits: on what is parsed and validated.
    init(_ schema: Schema, limits: DocumentLimits = DocumentLimits()) {
        self.schema = schema
        self.limits = limits
    }

    /// - Parameter question: `text`, and perhaps `offset` (UTF-16 code units), `operations` and `format`.
    /// - Returns: nil if the question is not understood.
    func answer(_ question: JSONValue) -> JSONObject? {
        guard let text = question["text"]?.string else { return nil }
        var answer: JSONObject = ["errors": .array(errors(in: text))]
        switch question["offset"] {
        case nil: break
        case .int(let offset)?: complete(text, at: offset, &answer)
        default: return nil
        }
        var wanted: [String: Bool] = [:]
        for name in ["operations", "format"] {
            switch question[name] {
            case nil: break
            case .bool(let isWanted)?: wanted[name] = isWanted
            default: return nil
            }
        }
        guard wanted.values.contains(true),
            let document = try? Document(parsing: text, limits: limits.parsing)
        else { return answer }
        if wanted["operations"] == true { answer["operations"] = .array(operations(of: document)) }
        if wanted["format"] == true { format(document, &answer) }
        return answer
    }

    /// So long may a formatted document be, in bytes: what is deep grows by its indentation.
    private static let formattedLimit = 4 * lengthLimit

    private func format(_ document: Document, _ answer: inout JSONObject) {
        guard !document.hasComments else {
            answer["notFormatted"] = .string("It has comments, which would be lost.")
            return
        }
        let text = document.printed()
        if text.utf8.count <= Self.formattedLimit {
            answer["formatted"] = .string(text)
        } else {
            answer["notFormatted"] = .string(
                "It would have more than \(Self.formattedLimit) bytes.")
        }
    }

    /// What can be carried out: of which kind it is, what it is called, where it begins.
    private func operations(of document: Document) -> [JSONValue] {
        document.definitions.compactMap { definition in
            guard case .operation(let operation) = definition else { return nil }
            let place = document.source.location(at: operation.location)
            var object: JSONObject = [
                "kind": .string(operation.operation.rawValue),
                "line": .int(Int64(place.line)), "column": .int(Int64(place.column)),
            ]
            if let name = operation.name { object["name"] = .string(name.value) }
            if case .field(let field)? = operation.selectionSet.selections.first {
                object["field"] = .string(field.name.value)
            }
            if operation.directives.contains(where: { $0.name.value == "live" }) {
                object["live"] = true
            }
            return .object(object)
        }
    }

    private func errors(in text: String) -> [JSONValue] {
        let errors: [ExecutionError]
        do throws(ExecutionErrors) {
            _ = try limits.document(text, validFor: schema)
            errors = []
        } catch {
            errors = error.errors
        }
        return errors.map { error in
            var object: JSONObject = ["message": .string(error.message)]
            if let place = error.locations.first {
                object["line"] = .int(Int64(place.line))
                object["column"] = .int(Int64(place.column))
            }
            return .object(object)
        }
    }

    private func complete(_ text: String, at offset: Int64, _ answer: inout JSONObject) {
        let units = text.utf16
        let count = Int(clamping: offset).clamped(to: 0...units.count)
        let place = units.index(units.startIndex, offsetBy: count)
        let completion = DocumentCompletion(
            of: text, at: text.utf8.distance(from: text.startIndex, to: place), in: schema)
        answer["replaced"] = .array(
            [completion.replaced.lowerBound, completion.replaced.upperBound].map { byte in
                let index = text.utf8.index(text.startIndex, offsetBy: byte)
                return .int(Int64(units.distance(from: text.startIndex, to: index)))
            })
        answer["suggestions"] = .array(
            completion.suggestions.map { suggestion in
                var object: JSONObject = [
                    "text": .string(suggestion.text), "detail": .string(suggestion.detail),
                ]
                if let description = suggestion.description {
                    object["description"] = .string(description)
                }
                if suggestion.isDeprecated { object["deprecated"] = true }
                return .object(object)
            })
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
