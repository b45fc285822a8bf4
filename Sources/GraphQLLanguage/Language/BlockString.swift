/// The value of the text between `"""`: BlockStringValue of GraphQL §2.9.4.
///
/// Removes the indentation common to all lines but the first, then blank lines at both ends; joins
/// lines with LF.
func blockStringValue(raw: [UInt8]) -> String {
    let lines = splitLines(raw)
    let commonIndent = lines.dropFirst().compactMap(indentation).min() ?? 0
    guard let first = lines.firstIndex(where: { indentation(of: $0) != nil }),
        let last = lines.lastIndex(where: { indentation(of: $0) != nil })
    else { return "" }
    var value: [UInt8] = []
    value.reserveCapacity(raw.count)
    for index in first...last {
        if index > first { value.append(UInt8(ascii: "\n")) }
        value.append(contentsOf: lines[index].dropFirst(index == 0 ? 0 : commonIndent))
    }
    return String(decoding: value, as: UTF8.self)
}

/// The number of spaces and tabs a line starts with; nil if there is nothing else on it.
private func indentation(of line: ArraySlice<UInt8>) -> Int? {
    line.firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        .map { $0 - line.startIndex }
}

/// Lines without their terminators (LF, CR, CRLF); there is always one.
private func splitLines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    var position = 0
    while position < bytes.count {
        let byte = bytes[position]
        position += 1
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
        lines.append(bytes[start..<position - 1])
        if byte == UInt8(ascii: "\r"), position < bytes.count,
            bytes[position] == UInt8(ascii: "\n")
        {
            position += 1
        }
        start = position
    }
    lines.append(bytes[start...])
    return lines
}
