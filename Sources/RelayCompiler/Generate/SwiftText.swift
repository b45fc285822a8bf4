/// Swift source while it is written: lines, indented by four spaces a level, of 100 columns if possible.
struct SwiftText {
    private static let width = 100
    private(set) var lines: [String] = []
    private var level = 0

    var text: String { lines.joined(separator: "\n") + "\n" }

    private var indent: String { String(repeating: "    ", count: level) }

    mutating func line(_ text: String) { lines.append(text.isEmpty ? "" : indent + text) }

    /// An empty line, except where a block begins.
    mutating func space() {
        if let last = lines.last, !last.isEmpty, !last.hasSuffix("{") { lines.append("") }
    }

    mutating func indented(_ body: (inout SwiftText) -> Void) {
        level += 1
        body(&self)
        level -= 1
    }

    /// `head { … }` over several lines; a head that is too long is wrapped at its commas.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        if indent.count + head.count + 2 <= Self.width {
            line(head + " {")
        } else {
            let parts = head.split(separator: ", ").map(String.init)
            for (number, part) in filled(parts, first: level, then: level + 1).enumerated() {
                level += number == 0 ? 0 : 1
                line(part)
                level -= number == 0 ? 0 : 1
            }
            line("{")
        }
        indented(body)
        line("}")
    }

    /// `head { body }` on one line if it fits.
    mutating func short(_ head: String, _ body: String) {
        let whole = body.isEmpty ? "\(head) {}" : "\(head) { \(body) }"
        if indent.count + whole.count <= Self.width {
            line(whole)
        } else {
            block(head) { text in text.line(body) }
        }
    }

    /// `head(items) tail`, the items on lines of their own if they don't fit.
    mutating func list(
        _ head: String, _ open: String = "(", _ items: [String], _ close: String = ")",
        _ tail: String = ""
    ) {
        let whole = head + open + items.joined(separator: ", ") + close + tail
        if indent.count + whole.count <= Self.width || items.isEmpty {
            line(whole)
            return
        }
        line(head + open)
        indented { text in
            for part in text.filled(items, first: text.level, then: text.level) { text.line(part) }
        }
        line(close + tail)
    }

    /// `head[items] tail`, or the bracket and its items on lines of their own.
    mutating func wrapped(
        _ head: String, _ open: String, _ items: [String], _ close: String, _ tail: String
    ) {
        let whole = head + open + items.joined(separator: ", ") + close + tail
        if indent.count + whole.count <= Self.width { return line(whole) }
        line(head)
        indented { text in text.list("", open, items, close, String(tail)) }
    }

    /// Items with commas, as many on each line as fit.
    private func filled(_ items: [String], first: Int, then: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        for (place, item) in items.enumerated() {
            let item = place + 1 < items.count ? item + "," : item
            let room = Self.width - 4 * (lines.isEmpty ? first : then)
            if !current.isEmpty, current.count + 1 + item.count > room {
                lines.append(current)
                current = ""
            }
            current += current.isEmpty ? item : " " + item
        }
        return current.isEmpty ? lines : lines + [current]
    }

    // MARK: Comments and attributes

    /// A description as a documentation comment.
    mutating func document(_ description: String?) {
        guard let description else { return }
        var lines = description.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).map { line in
            String(line.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\t" })
        }
        while lines.first?.allSatisfy(\.isWhitespace) == true { lines.removeFirst() }
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        for line in lines {
            let line = String(line.reversed().drop(while: \.isWhitespace).reversed())
            self.line(line.isEmpty ? "///" : "/// " + line)
        }
    }

    /// `@deprecated`
    mutating func deprecate(_ reason: String?) {
        guard let reason else { return }
        line("@available(*, deprecated, message: \(Self.literal(reason)))")
    }

    /// A string literal on one line.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
