/// `text` as a string literal in one pair of quotes; control characters escaped.
func printString(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\u{8}": result += "\\b"
        case "\t": result += "\\t"
        case "\n": result += "\\n"
        case "\u{C}": result += "\\f"
        case "\r": result += "\\r"
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
            let hex = String(scalar.value, radix: 16, uppercase: true)
            result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}

/// `text` as a block string, with line breaks at its ends if that reads better or is needed to
/// preserve its value.
func printBlockString(_ text: String) -> String {
    let lines = Array(text.utf8).split(
        omittingEmptySubsequences: false, whereSeparator: { $0 == UInt8(ascii: "\n") })
    let isSingleLine = lines.count == 1
    let startsWithSpace = text.utf8.first.map(isBlank) ?? false
    // If all lines but the first are indented, the first must be on a line of its own: otherwise
    // that indentation would count as common.
    let needsFirstLineBreak =
        !isSingleLine && lines.dropFirst().allSatisfy { $0.first.map(isBlank) ?? true }
    let endsWithTripleQuote = text.hasSuffix("\"\"\"")
    let needsLastLineBreak =
        (text.utf8.last == UInt8(ascii: "\"") && !endsWithTripleQuote)
        || text.utf8.last == UInt8(ascii: "\\")
    let isMultiline =
        !isSingleLine || text.utf16.count > 70 || needsLastLineBreak || endsWithTripleQuote

    var result = "\"\"\""
    if (isMultiline && !(isSingleLine && startsWithSpace)) || needsFirstLineBreak { result += "\n" }
    result += escapingTripleQuotes(text)
    if isMultiline || needsLastLineBreak { result += "\n" }
    return result + "\"\"\""
}

/// Whether a block string can express exactly this: no control characters, no blank lines at the
/// ends, no indentation common to all lines.
func isPrintableAsBlockString(_ text: String) -> Bool {
    if text.isEmpty { return true }
    var isBlankLine = true
    var isIndented = false
    var allIndented = true
    var hasEarlierLine = false
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\n"):
            if isBlankLine, !hasEarlierLine { return false }
            hasEarlierLine = true
            isBlankLine = true
            isIndented = false
        case UInt8(ascii: "\t"), UInt8(ascii: " "): isIndented = isIndented || isBlankLine
        case 0..<0x10: return false
        default:
            allIndented = allIndented && isIndented
            isBlankLine = false
        }
    }
    return !isBlankLine && !(allIndented && hasEarlierLine)
}

private func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
}

private func escapingTripleQuotes(_ text: String) -> String {
    var result: [UInt8] = []
    var quotes = 0
    for byte in text.utf8 {
        quotes = byte == UInt8(ascii: "\"") ? quotes + 1 : 0
        result.append(byte)
        if quotes == 3 {
            result.insert(UInt8(ascii: "\\"), at: result.count - 3)
            quotes = 0
        }
    }
    return String(decoding: result, as: UTF8.self)
}
