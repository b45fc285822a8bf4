import RelayJSON
import RelayRecords

/// A line about an event, with placeholders.
///
///     {sequence:8}{time}  {operation} {variables.input.text}
///
/// `{FIELD}` is a field of ``EventField``; `{FIELD:20}` pads it with spaces to 20 characters, and
/// `{FIELD:>20}` puts them in front. A field that the event does not have is `-`. `{{` and `}}` are braces;
/// `\t` and `\n` are a tab and a newline.
package struct EventTemplate: Sendable {
    private enum Part: Sendable {
        case text(String)
        case field(EventField, Width)
    }

    private struct Width: Sendable {
        var count = 0
        var isRight = false

        func fill(_ text: String) -> String {
            let spaces = String(repeating: " ", count: max(0, count - text.count))
            return isRight ? spaces + text : text + spaces
        }
    }

    private var parts: [Part] = []

    /// - Throws: what is wrong, and where.
    package init(parsing text: String) throws(EventTextError) {
        let characters = Array(text)
        var place = 0
        var plain = ""
        while place < characters.count {
            let character = characters[place]
            let next = place + 1 < characters.count ? characters[place + 1] : nil
            switch (character, next) {
            case ("{", "{"), ("}", "}"), ("\\", "\\"):
                plain.append(character)
                place += 2
            case ("\\", "t"), ("\\", "n"):
                plain.append(next == "t" ? "\t" : "\n")
                place += 2
            case ("{", _):
                guard let end = characters[place...].firstIndex(of: "}") else {
                    throw EventTextError("this brace is not closed; {{ is a brace", at: place + 1)
                }
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                do throws(EventTextError) {
                    parts.append(try Self.field(String(characters[place + 1..<end])))
                } catch {
                    throw error.moved(to: place + 2)
                }
                place = end + 1
            case ("}", _):
                throw EventTextError("this brace closes nothing; }} is a brace", at: place + 1)
            default:
                plain.append(character)
                place += 1
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
    }

    private static func field(_ text: String) throws(EventTextError) -> Part {
        guard let colon = text.lastIndex(of: ":") else {
            return .field(try EventField(text), Width())
        }
        let name = String(text[..<colon])
        var rest = text[text.index(after: colon)...]
        let isRight = rest.first == ">"
        if isRight { rest.removeFirst() }
        guard let count = Int(rest), 1...1_000 ~= count else {
            throw EventTextError(
                "after the colon a width from 1 to 1000 was expected, not \"\(rest)\"",
                at: name.count + 2)
        }
        return .field(try EventField(name), Width(count: count, isRight: isRight))
    }

    /// The line for one event.
    package func text(for event: EventSummary) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field, let width): width.fill(Self.text(of: field, in: event))
            }
        }.joined()
    }

    private static func text(of field: EventField, in event: EventSummary) -> String {
        if field.name == .time { return RFC3339.text(microseconds: event.timeMicroseconds) }
        return switch field.value(in: event) {
        case .null: "-"
        case .string(let text): text
        case .array(let ids) where field.name == .records:
            ids.isEmpty ? "-" : ids.compactMap(\.string).joined(separator: " ")
        case let value: value.text
        }
    }
}
