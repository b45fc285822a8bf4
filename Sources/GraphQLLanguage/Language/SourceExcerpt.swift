/// One line of a text with carets under locations in it, as compilers show errors:
///
///       3 |   user: Usr
///         |         ^
///
/// Tabs stay tabs in both lines, so that the carets are aligned. For a long line, the part around the first
/// location is shown; control characters become U+FFFD, so that a file cannot write to a terminal.
package struct SourceExcerpt: Hashable, Sendable {
    /// From 1.
    package let line: Int
    /// The first location in characters, from 1, as an editor counts them.
    package let column: Int
    private let text: String
    private let marks: String

    /// The most characters shown of a line, and how many of those are before the first location.
    private static let width = 100
    private static let lead = 60

    /// - Parameters:
    ///   - number: the line's, from 1.
    ///   - text: the line, without its terminator.
    ///   - places: the characters before each place that gets a caret; at least one.
    package init(line number: Int, _ text: String, places: [Int]) {
        precondition(!places.isEmpty, "An excerpt shows at least one place.")
        let characters = Array(text)
        let first = min(places[0], characters.count)
        line = number
        column = first + 1

        let start = max(0, min(first - Self.lead, characters.count - Self.width))
        let end = min(start + Self.width, characters.count)
        let marked = Set(places.map { min($0, characters.count) }).filter { start...end ~= $0 }
        var shown = start > 0 ? "…" : ""
        var marks = start > 0 ? " " : ""
        let last = marked.max() ?? first
        for (index, character) in zip(start..., characters[start..<end]) {
            shown.append(character.isUnprintable ? "\u{FFFD}" : character)
            if index > last { continue }
            let mark: Character = marked.contains(index) ? "^" : character == "\t" ? "\t" : " "
            marks.append(mark)
            if character.isWide { marks.append(" ") }
        }
        if last == end { marks.append("^") }
        self.text = end < characters.count ? shown + "…" : shown
        self.marks = marks
    }

    /// The line and the carets, each after a margin wide enough for the line's number.
    /// - Parameter digits: the margin's width; nil for that of this line's number.
    func lines(digits: Int? = nil) -> String {
        let number = String(line)
        let digits = max(digits ?? 0, number.count)
        let margin = String(repeating: " ", count: digits + 2)
        let numbered = String(margin.dropLast(number.count)) + number
        return (text.isEmpty ? "\(numbered) |" : "\(numbered) | \(text)") + "\n\(margin) | \(marks)"
    }
}

extension SourceExcerpt {
    /// Each line that has some of the places, in order, with one margin for all.
    package static func excerpts(of places: [SourcePlace]) -> [String] {
        var rest = places[...]
        var excerpts: [SourceExcerpt] = []
        while let first = rest.first {
            let isHere = { (place: SourcePlace) in
                place.source.file === first.source.file
                    && place.location.line == first.location.line
            }
            excerpts.append(first.source.file.excerpt(at: rest.filter(isHere).map(\.location)))
            rest.removeAll(where: isHere)
        }
        let digits = excerpts.map { String($0.line).count }.max()
        return excerpts.map { $0.lines(digits: digits) }
    }
}

extension SourcePlace {
    /// The line of the file that the place is in, without its terminator.
    package var line: String { source.file.line(location.line) }
}

extension Source {
    /// The line of some places, with carets under them.
    /// - Parameter locations: locations in one line; at least one.
    fileprivate func excerpt(at locations: [SourceLocation]) -> SourceExcerpt {
        let number = locations.first?.line ?? 1
        let text = line(number)
        return SourceExcerpt(
            line: number, text,
            places: locations.map { location in
                let end = text.utf16.index(
                    text.startIndex, offsetBy: location.column - 1, limitedBy: text.endIndex)
                return text[..<(end ?? text.endIndex)].count
            })
    }

    /// One line, from 1, without its terminator; empty past the last.
    fileprivate func line(_ number: Int) -> String {
        var rest = bytes[...]
        for _ in 1..<max(number, 1) {
            guard let end = rest.firstIndex(where: Self.endsLine) else { return "" }
            let isPair = rest[end...].starts(with: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        return String(decoding: rest.prefix { !Self.endsLine($0) }, as: UTF8.self)
    }

    private static func endsLine(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

extension Character {
    /// Terminals act on it, or reorder the text around it.
    fileprivate var isUnprintable: Bool {
        if self == "\t" { return false }
        guard let scalar = unicodeScalars.first else { return false }
        let category = scalar.properties.generalCategory
        return category == .control || category == .format
    }

    /// Occupies two terminal columns: East Asian wide and emoji, by the blocks that contain them.
    fileprivate var isWide: Bool {
        guard let scalar = unicodeScalars.first else { return false }
        if unicodeScalars.contains("\u{FE0F}") || scalar.properties.isEmojiPresentation {
            return true
        }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
