// libFuzzer's entry to everything that takes GraphQL from outside. script/fuzz builds and runs it; an ordinary
// build knows nothing of it.

import GraphQLLanguage
import RelayServer
import RelayStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// In libFuzzer's library, which `-sanitize=fuzzer` links.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

@main
struct GraphQLFuzz {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        // libFuzzer's own options begin with "-" and the name of the target stands in the environment.
        let isExecutor = getenv("RELAY_FUZZ_TARGET").map { String(cString: $0) } == "executor"
        // A C function captures nothing, `self` of these static functions included.
        let body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt =
            if isExecutor {
                { GraphQLFuzz.execute(GraphQLFuzz.text($0, $1)) }
            } else {
                { GraphQLFuzz.parse(GraphQLFuzz.text($0, $1)) }
            }
        exit(runFuzzer(&count, &arguments, body))
    }

    private static func text(_ start: UnsafePointer<UInt8>, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// What can be parsed can be printed, and the printed form means the same. A schema can be built or has
    /// mistakes; either way nothing traps.
    private static func parse(_ text: String) -> CInt {
        do throws(GraphQLError) {
            let printed = try Document(parsing: text).printed()
            let again = try Document(parsing: printed).printed()
            precondition(printed == again, "printing is no fixed point:\n\(printed)\n\(again)")
        } catch {
            return 0
        }
        _ = try? ServiceSchema(text)
        return 0
    }

    /// A query of the tracker example: validated, planned and executed, or refused.
    private static func execute(_ text: String) -> CInt {
        _ = service.answer(GraphQLRequest(query: text))
        return 0
    }

    private static let service: PastService = {
        do {
            var snapshot = Snapshot()
            var changes = ChangeSet()
            let schema = try ServiceSchema(reading: schemaText)
            let seed = try SeedFile.read(Array(seedText.utf8), for: schema, timeMicroseconds: 0)
            let genesis = EventBody.genesis(schema: schemaText, seed: seed.writes)
            try snapshot.fold(
                Event(sequence: 1, timeMicroseconds: 0, body: genesis), changes: &changes)
            return try PastService(snapshot)
        } catch {
            preconditionFailure("the example cannot be served: \(error)")
        }
    }()

    /// docs/examples/tracker.graphql, which script/fuzz names.
    private static let schemaText: String = {
        guard let path = getenv("RELAY_FUZZ_SCHEMA"), let file = fopen(path, "r") else {
            preconditionFailure("RELAY_FUZZ_SCHEMA names no file")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }()

    private static let seedText = """
        {"id":"p1","type":"Person","fields":{"login":"ada","name":"Ada","assigned":{"refs":["i2","i1"]}}}
        {"id":"j1","type":"Project","fields":{"key":"relay","title":"Relay","owner":{"ref":"p1"},"issues":{"refs":["i1","i2"]}}}
        {"id":"i1","type":"Issue","fields":{"title":"One","open":true,"priority":"HIGH","author":{"ref":"p1"},"watchers":{"refs":["p1"]}}}
        {"id":"i2","type":"Issue","fields":{"title":"Two","open":false,"priority":"LOW","estimate":2.5,"labels":{"value":["x","y"]}}}
        """
}
