/// What can be written at a place of an executable document that is not finished.
package struct DocumentCompletion: Sendable {
    /// A text that fits.
    package struct Suggestion: Hashable, Sendable {
        /// What is to be written; `name: ` for an argument.
        package let text: String
        /// The type that it has, or what kind of thing it is.
        package let detail: String
        package let description: String?
        package let isDeprecated: Bool

        init(
            _ text: String, _ detail: String, _ description: String? = nil,
            isDeprecated: Bool = false
        ) {
            self.text = text
            self.detail = detail
            self.description = description
            self.isDeprecated = isDeprecated
        }

        var withoutColon: Suggestion {
            guard text.hasSuffix(": ") else { return self }
            return Suggestion(
                String(text.dropLast(2)), detail, description, isDeprecated: isDeprecated)
        }
    }

    /// What a suggestion replaces: the name around the place, in UTF-8 offsets. Empty if there is none.
    package let replaced: Range<Int>
    /// Those that begin with what is written come first, then those that contain it; otherwise in the schema's order.
    package let suggestions: [Suggestion]

    /// More suggestions than anybody reads are left out.
    package static let suggestionLimit = 100

    /// - Parameters:
    ///   - text: the document, of which only what stands before the place has to make sense.
    ///   - offset: the place, in UTF-8 bytes from the beginning; nearest one if there is none.
    package init(of text: String, at offset: Int, in schema: Schema) {
        let source = Source(text)
        let bytes = source.bytes
        let offset = min(max(offset, 0), bytes.count)
        var start = offset
        while start > 0, bytes[start - 1].isNameContinue { start -= 1 }
        var end = offset
        while end < bytes.count, bytes[end].isNameContinue { end += 1 }
        let written = String(decoding: bytes[start..<offset], as: UTF8.self).lowercased()

        var scanner = CompletionScanner(schema, source)
        // A number is no name.
        let isName = start == end || bytes[start].isNameStart
        replaced = isName ? start..<end : offset..<offset
        guard isName, scanner.scan(to: start) else {
            suggestions = []
            return
        }
        // A colon that is there is not written again.
        let rest = bytes[end...].drop { " \t\r\n".utf8.contains($0) }
        let hasColon = rest.first == UInt8(ascii: ":")
        let all = scanner.suggestions().map { hasColon ? $0.withoutColon : $0 }
        let fitting = all.filter { $0.text.lowercased().contains(written) }
        let first = fitting.filter { $0.text.lowercased().hasPrefix(written) }
        let others = fitting.filter { !$0.text.lowercased().hasPrefix(written) }
        suggestions = Array((first + others).prefix(Self.suggestionLimit))
    }
}
