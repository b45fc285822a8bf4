/// The header fields of a request or an answer, in order. Names compare without regard to case.
package struct HTTPHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    package private(set) var fields: [Field]

    package struct Field: Equatable, Sendable {
        /// In lower case.
        package let name: String
        package let value: String
    }

    package init() {
        fields = []
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = []
        for (name, value) in elements { append(name, value) }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name.lowercased(), value: value))
    }

    /// The value of the first field of that name.
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name == name }?.value
    }

    /// The values of all fields of that name, which is in lower case.
    package func values(of name: String) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether a field that holds a list, such as `Connection`, names `token`, which is ASCII in lower case.
    package func lists(_ token: StaticString, in name: String) -> Bool {
        members(of: name).contains { $0.isEqualWithoutCase(to: token) }
    }

    /// The members of a field that holds a list, separated by commas. RFC 9110 §5.6.1.
    package func list(in name: String) -> [String] {
        members(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// By bytes: a comma separates also where Unicode makes one character of it and what follows.
    private func members(of name: String) -> [ArraySlice<UInt8>] {
        let name = name.lowercased()
        return fields.filter { $0.name == name }.flatMap { field in
            Array(field.value.utf8).split(separator: UInt8(ascii: ",")).map(\.withoutOuterBlanks)
                .filter { !$0.isEmpty }
        }
    }

    /// Appends the fields as they travel. A line break in a name or value, which would let a caller
    /// write a field or a body of its own, becomes a blank.
    package func encode(into bytes: inout [UInt8]) {
        for field in fields {
            bytes.append(contentsOf: field.name.utf8.map(Self.withoutLineBreak))
            bytes.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")])
            bytes.append(contentsOf: field.value.utf8.map(Self.withoutLineBreak))
            bytes.append(contentsOf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
        }
    }

    private static func withoutLineBreak(_ byte: UInt8) -> UInt8 {
        byte == 0 || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
            ? UInt8(ascii: " ") : byte
    }
}

extension Substring {
    /// Without blanks and tabs at both ends.
    var trimmingBlanks: Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
