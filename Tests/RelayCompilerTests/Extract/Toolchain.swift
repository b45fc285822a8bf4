import Foundation

/// The toolchain's own parser of Swift.
enum Toolchain {
    /// A literal as the parser has it.
    struct Literal: Hashable {
        /// A string's value, or a regular expression as it is written.
        let value: String
        /// The offset in the file; nil in a tree that was only parsed.
        let start: Int?
    }

    struct Literals {
        var strings: Set<Literal> = []
        /// The parts of strings between their interpolations.
        var segments: Set<String> = []
        var regexes: Set<Literal> = []
    }

    enum Depth: String {
        case parsed = "-dump-parse"
        /// Only of a file that compiles by itself, but with the places of expressions.
        case typeChecked = "-dump-ast"
    }

    /// The compiler, if it is in the search path.
    static let compiler: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":").map { URL(filePath: String($0)).appending(path: "swiftc") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// The literals of some files, in the order of the files; nil for a file that the compiler could not read.
    static func literals(of files: [URL], _ depth: Depth) throws -> [Literals?] {
        guard let compiler else { return files.map { _ in nil } }
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "relay-toolchain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outputs = files.indices.map { folder.appending(path: "\($0).json") }
        let process = Process()
        process.executableURL = compiler
        process.arguments =
            ["-frontend", depth.rawValue, "-dump-ast-format", "json", "-swift-version", "6"]
            + files.flatMap { ["-primary-file", $0.path] } + outputs.flatMap { ["-o", $0.path] }
        // What is wrong with a file by itself is not the question.
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return outputs.map { output in
            (try? Data(contentsOf: output)).flatMap { $0.isEmpty ? nil : literals(inTree: $0) }
        }
    }

    /// Trees have many megabytes and only the literals are asked for, so they are searched and not decoded.
    private static func literals(inTree json: Data) -> Literals {
        var found = Literals()
        var isSegment = false
        let text = json + [0]
        text.withUnsafeBytes { buffer in
            guard let start = buffer.bindMemory(to: CChar.self).baseAddress else { return }
            var position = start
            while let kind = next(#""_kind":""#, from: position) {
                position = kind
                if starts(kind, with: "string_literal_expr\""),
                    let value = string(named: "value", from: kind)
                {
                    if isSegment {
                        found.segments.insert(value)
                    } else {
                        found.strings.insert(Literal(value: value, start: offset(from: kind)))
                    }
                    isSegment = false
                } else if starts(kind, with: "regex_literal_expr\""),
                    let text = string(named: "text", from: kind)
                {
                    found.regexes.insert(Literal(value: text, start: offset(from: kind)))
                } else if starts(kind, with: "unresolved_dot_expr\"")
                    || starts(kind, with: "decl_ref\"")
                {
                    // A call of it has the next literal.
                    let end = next("}", from: kind) ?? kind
                    let name = next("\"append" + "Literal", from: kind)
                    isSegment = isSegment || name.map { $0 < end } ?? false
                }
            }
        }
        return found
    }

    private static func next(
        _ text: String, from start: UnsafePointer<CChar>
    ) -> UnsafePointer<CChar>? {
        strstr(start, text).map { UnsafePointer($0) + text.utf8.count }
    }

    private static func starts(_ start: UnsafePointer<CChar>, with text: String) -> Bool {
        strncmp(start, text, text.utf8.count) == 0
    }

    private static func string(named name: String, from start: UnsafePointer<CChar>) -> String? {
        guard let first = next("\"\(name)\":\"", from: start) else { return nil }
        var end = first
        while end.pointee != 0, end.pointee != 34 { end += end.pointee == 92 ? 2 : 1 }
        let quoted = Data(bytes: first - 1, count: end - first + 2)
        return
            (try? JSONSerialization.jsonObject(with: quoted, options: .fragmentsAllowed)
            as? String)?.withoutByteOrderMarks
    }

    private static func offset(from start: UnsafePointer<CChar>) -> Int? {
        guard let number = next(#""range":{"start":"#, from: start),
            let value = next(#""value":""#, from: start) ?? next(#""text":""#, from: start),
            number < value
        else { return nil }
        return Int(strtol(number, nil, 10))
    }
}

extension String {
    /// Foundation drops one at the beginning of a string of JSON.
    var withoutByteOrderMarks: String { replacing("\u{FEFF}", with: "") }
}
