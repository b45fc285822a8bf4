import RelayCompiler

/// Relay's compiler: a file that may be a Swift source or a document, against the tracker example. It has errors, whose
/// places are in the file, or Swift is generated for it: always the same, and with every literal ended.
enum CompilerFuzz {
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        let bytes = Array(bytes)
        compile(Compilation.InputFile(name: "Fuzz.swift", bytes: bytes))
        compile(Compilation.InputFile(name: "Fuzz.graphql", bytes: bytes))
        return 0
    }

    private static let schema = [
        Compilation.InputFile(name: "schema.graphql", bytes: Array(ExampleState.schemaText.utf8))
    ]

    private static func compile(_ file: Compilation.InputFile) {
        do throws(Compilation.Failure) {
            let compiled = try Compilation([file], schema: schema)
            let again = try Compilation([file], schema: schema)
            precondition(compiled.files == again.files, "the same document has other code")
            for file in compiled.files { checkIsRead(file.text) }
        } catch {
            precondition(!error.diagnostics.isEmpty)
            // What prints them finds lines, columns and excerpts.
            _ = error.description
        }
    }

    /// A document behind the code is found only if no literal and no comment runs on.
    private static func checkIsRead(_ code: String) {
        let text = code + "\nlet last = graphql(\"query LastQuery { __typename }\")\n"
        let file = Compilation.InputFile(name: "Last.swift", bytes: Array(text.utf8))
        do throws(Compilation.Failure) {
            let compiled = try Compilation([file], schema: schema)
            let found = compiled.operationCount
            precondition(found == 1, "there are \(found) documents in generated code:\n\(code)")
        } catch {
            preconditionFailure("generated code cannot be read: \(error)\n\(code)")
        }
    }
}
