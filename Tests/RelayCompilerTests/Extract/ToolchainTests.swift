import BoundedTesting
import Foundation
import Testing

@testable import GraphQLLanguage
@testable import RelayCompiler

/// What the lexer takes for a literal is what swiftc does.
@Suite(.bounded, .enabled(if: Toolchain.compiler != nil, "there is no swiftc in the search path"))
struct ToolchainTests {
    /// Whole strings without interpolations, and regular expressions, as the lexer finds them.
    private static func literals(
        in file: URL
    ) throws -> (strings: Set<Toolchain.Literal>, regexes: Set<Toolchain.Literal>) {
        let bytes = [UInt8](try Data(contentsOf: file))
        return bytes.withUnsafeBufferPointer { buffer in
            var strings: Set<Toolchain.Literal> = []
            var regexes: Set<Toolchain.Literal> = []
            var lexer = SwiftLexer(buffer)
            while true {
                let token = lexer.next()
                switch token.kind {
                case .endOfFile:
                    return (strings, regexes)
                case .string where !lexer.literal.hasInterpolation && lexer.literal.isTerminated:
                    let text = SwiftLiteralText(lexer.literal, in: buffer)
                    let value = String(decoding: text.bytes, as: UTF8.self).withoutByteOrderMarks
                    strings.insert(Toolchain.Literal(value: value, start: token.start))
                case .regex:
                    let text = String(decoding: bytes[token.start..<token.end], as: UTF8.self)
                    regexes.insert(Toolchain.Literal(value: text, start: token.start))
                default: break
                }
            }
        }
    }

    @Test func literalsOfTheTortureFileAreThoseOfTheCompilerAtTheirPlaces() throws {
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "Torture-\(UUID().uuidString).swift")
        try FileManager.default.copyItem(at: SwiftFiles.torture, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let compiler = try #require(try Toolchain.literals(of: [copy], .typeChecked).first ?? nil)
        let ours = try Self.literals(in: copy)
        let uncompiled = "only us: in a branch that is not compiled"
        #expect(compiler.strings.count > 40)
        #expect(compiler.strings == ours.strings.filter { $0.value != uncompiled })
        #expect(compiler.regexes.count > 8)
        #expect(compiler.regexes == ours.regexes)

        let source = Source(utf8: [UInt8](try Data(contentsOf: copy)), name: "Torture.swift")
        let (documents, errors) = SwiftScanner.scan(source)
        #expect(errors.map(\.description) == [])
        let found = documents.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(found.filter { $0.hasPrefix("no") } == [])
        let expected = compiler.strings.filter { $0.value.hasPrefix("yes") }
            .sorted { $0.start ?? 0 < $1.start ?? 0 }.map(\.value)
        #expect(expected.count == 25)
        #expect(found.filter { $0.hasPrefix("yes") } == expected)
    }

    /// All but the literals that the compiler's tree leaves out: in branches that are not compiled, in attributes, raw
    /// values of enums.
    @Test(.timeLimit(.minutes(10))) func literalsOfOurFilesAreThoseOfTheCompiler() throws {
        let files = try SwiftFiles.ours()
        #expect(files.count > 1_000)
        var compared = 0
        for start in stride(from: 0, to: files.count, by: 50) {
            let batch = Array(files[start..<min(start + 50, files.count)])
            for (file, compiler) in zip(batch, try Toolchain.literals(of: batch, .parsed)) {
                guard let compiler else { continue }
                compared += 1
                let ours = try Self.literals(in: file)
                let theirs = Set(compiler.strings.map(\.value))
                #expect(theirs.subtracting(ours.strings.map(\.value)) == [], "\(file.path)")
                let regexes = Set(compiler.regexes.map(\.value))
                #expect(Set(ours.regexes.map(\.value)) == regexes, "\(file.path)")

                let bytes = [UInt8](try Data(contentsOf: file))
                let source = Source(utf8: bytes, name: file.path)
                let hasBranches = String(decoding: bytes, as: UTF8.self).contains("#if ")
                for literal in ours.strings where !theirs.contains(literal.value) && !hasBranches {
                    let place = source.place(of: literal.start ?? 0)
                    let line = place.line
                    let isLeftOut = line.contains("case ") || line.contains("@")
                    #expect(isLeftOut, "\(place.file):\(place.location.line): \(line)")
                }
            }
        }
        // Some toolchains cannot print the tree of every file.
        #expect(compared > files.count * 9 / 10)
    }
}
