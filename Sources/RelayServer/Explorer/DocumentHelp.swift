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

    /// - Parameter question: `text`, and perhaps `offset` (UTF-16 code units) and `format`.
    /// - Returns: nil if the question is not understood.
    func answer(_ question: JSONValue) -> JSONObject? {
        guard let text = question["text"]?.string else { return nil }
        var answer: JSONObject = ["errors": .array(errors(in: text))]
        switch question["offset"] {
        case nil: break
        case .int(let offset)?: complete(text, at: offset, &answer)
        default: return nil
        }
        switch question["format"] {
        case nil, .bool(false)?: break
        case .bool(true)?:
            if let document = try? Document(parsing: text, limits: limits.parsing) {
                answer["formatted"] = .string(document.printed())
            }
        default: return nil
        }
        return answer
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
