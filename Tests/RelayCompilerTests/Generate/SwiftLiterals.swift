/// Reads the raw string literals over several lines in Swift code by Swift's own rules, as far as generated code needs.
enum SwiftLiterals {
    /// The values, in order.
    static func values(in code: String) -> [String] {
        var values: [String] = []
        var lines = code.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            guard line.hasSuffix("\"\"\"") else { continue }
            let marks = String(line.dropLast(3).reversed().prefix { $0 == "#" })
            guard !marks.isEmpty else { continue }
            let end = "\"\"\"" + marks
            let content = lines.prefix { !$0.drop { $0 == " " }.hasPrefix(end) }
            lines = lines.dropFirst(content.count)
            // How far the end is indented is no part of the lines.
            let indent = lines.first?.prefix { $0 == " " }.count ?? 0
            values.append(value(content.map { String($0.dropFirst(indent)) }, marks))
        }
        return values
    }

    private static func value(_ lines: [String], _ marks: String) -> String {
        var value = ""
        for (place, line) in lines.enumerated() {
            // `\#` at the end of a line joins it with the next.
            let joins = line.hasSuffix("\\" + marks)
            value += joins ? String(line.dropLast(1 + marks.count)) : line
            if !joins, place + 1 < lines.count { value += "\n" }
        }
        return value
    }
}
