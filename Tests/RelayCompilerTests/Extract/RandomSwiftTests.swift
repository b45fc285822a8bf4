import BoundedTesting
import Foundation
import Testing

@testable import GraphQLLanguage
@testable import RelayCompiler

/// `RELAY_SCANNER_SEED` repeats the round that a failure prints; `RELAY_SCANNER_ROUNDS` says how many.
@Suite struct RandomSwiftTests {
    private static let variables = ProcessInfo.processInfo.environment
    private static let rounds = variables["RELAY_SCANNER_ROUNDS"].flatMap(Int.init) ?? 1_500
    private static let seed = variables["RELAY_SCANNER_SEED"].flatMap(UInt64.init)

    /// Until one fails.
    private static func run(_ round: (UInt64) throws -> String?) throws {
        for _ in 0..<(seed == nil ? rounds : 1) {
            let seed = seed ?? .random(in: 0 ... .max)
            if let problem = try round(seed) {
                Issue.record("RELAY_SCANNER_SEED=\(seed): \(problem)")
                return
            }
        }
    }

    @Test func exactlyTheKnownDocumentsAreFoundAtTheirPlaces() throws {
        try Self.run { seed in
            let swift = RandomSwift(seed: seed)
            let (found, errors) = SwiftScanner.scan(Source(swift.text, name: "A.swift"))
            let problem = "in\n\(swift.text)"
            if let error = errors.first { return "\(error) \(problem)" }
            let values = found.map { String(decoding: $0.bytes, as: UTF8.self) }
            let expected = swift.documents.map(\.value)
            if values != expected { return "\(values), not \(expected) \(problem)" }
            for (source, document) in zip(found, swift.documents) {
                let offset = Array("query ".utf8).count
                let place = source.location(at: offset)
                let expected = try #require(Self.location(of: document.name, in: swift.text))
                if place != expected {
                    return "\(document.name): \(place), not \(expected) \(problem)"
                }
            }
            return nil
        }
    }

    /// Counted in another way than ``Source`` does: by characters, of which CRLF is one.
    private static func location(of name: String, in text: String) -> GraphQLLanguage
        .SourceLocation?
    {
        guard let range = text.range(of: name) else { return nil }
        let lines = text[..<range.lowerBound].split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return SourceLocation(line: lines.count, column: (lines.last?.utf16.count ?? 0) + 1)
    }

    /// Pieces that begin something, and bytes that are nothing.
    private static let pieces: [[UInt8]] =
        [
            "\"", "\"\"\"", "#", "##", "\\(", "\\", ")", "(", "/", "/*", "*/", "//", "\n", "\r",
            "\r\n",
            " ", "\t", "`", "graphql(", "graphql", "Relay.", "Relay::", "\"\"\"\n", "\n\"\"\")",
            "\\u{",
            "}", "{", "41", "\\n", "é", "😀", ".", ",", "a", "return", "func", "#/", "/#", "#if",
            "\\\n",
            "\u{FEFF}", "≠", "'",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F], [0x80], [0]]

    @Test func noBytesAreATrap() throws {
        try Self.run { seed in
            var random = SeededGenerator(seed: seed)
            var bytes: [UInt8] = []
            for _ in 0..<random.below(60) { bytes += random.pick(Self.pieces) }
            for _ in 0..<3 {
                if let problem = Self.problem(in: bytes) { return "\(problem) in \(bytes)" }
                // Often there is more to read with the name in it.
                bytes = Array("graphql(".utf8) + bytes + [UInt8(ascii: ")")]
            }
            return nil
        }
    }

    /// Some of each of our own files: an editor saves while we read, a disk is full.
    @Test func noPrefixOfAFileIsATrap() throws {
        var random = SeededGenerator(seed: Self.seed ?? .random(in: 0 ... .max))
        let seed = random
        for file in try SwiftFiles.ours() {
            let bytes = [UInt8](try Data(contentsOf: file))
            for _ in 0..<3 {
                let prefix = Array(bytes.prefix(random.below(min(bytes.count, 12_000) + 1)))
                if let problem = Self.problem(in: prefix) {
                    Issue.record("\(seed): \(problem) in the first \(prefix.count) of \(file.path)")
                    return
                }
            }
        }
    }

    @Test func noPrefixOfWhatIsHardIsATrap() throws {
        let bytes = [UInt8](try Data(contentsOf: SwiftFiles.torture))
        for count in 0...bytes.count {
            let problem = Self.problem(in: Array(bytes.prefix(count)))
            if let problem { Issue.record("\(problem) in the first \(count)") }
        }
    }

    /// What is wrong with how some bytes are read: tokens that overlap or do not advance, places that are not there.
    private static func problem(in bytes: [UInt8]) -> String? {
        let source = Source(utf8: bytes, name: "A.swift")
        let problem = source.bytes.withUnsafeBufferPointer { buffer -> String? in
            var lexer = SwiftLexer(buffer)
            var end = 0
            var count = 0
            while true {
                let token = lexer.next()
                if token.kind == .endOfFile { return nil }
                count += 1
                // A literal that is given up where its line ends takes no byte.
                let isGivenUp = token.kind == .string && !lexer.literal.isTerminated
                if token.end < end || token.end == end && !isGivenUp || token.end > buffer.count {
                    return "\(token) after \(end)"
                }
                if count > 2 * buffer.count + 2 { return "more tokens than bytes" }
                end = token.end
            }
        }
        if let problem { return problem }
        var extraction = Extraction()
        extraction.add(bytes, file: "A.swift")
        let (documents, errors) = extraction.parse()
        let names = DocumentNames.check(documents)
        let printed = Diagnostic.text(of: errors + names)
        return printed.isEmpty == (errors + names).isEmpty ? nil : "errors without text"
    }
}
