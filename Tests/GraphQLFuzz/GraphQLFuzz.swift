// libFuzzer's entry to everything that comes from outside: documents, requests, the bytes of logs and
// checkpoints; and to what the compiler is given. script/fuzz builds and runs it; an ordinary build knows nothing of it.

import GraphQLExecution
import GraphQLLanguage
@_spi(Rooms) import RelayRecords
import RelayServer
import SchemaService
import StoreEngine

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
        let target = getenv("RELAY_FUZZ_TARGET").map { String(cString: $0) }
        // A C function captures nothing, `self` of these static functions included.
        let body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt =
            switch target {
            case "compiler": { CompilerFuzz.run(UnsafeBufferPointer(start: $0, count: $1)) }
            case "executor": { GraphQLFuzz.execute(GraphQLFuzz.text($0, $1)) }
            case "request": { RequestFuzz.run(UnsafeBufferPointer(start: $0, count: $1)) }
            case "state": { StateFuzz.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
            default: { GraphQLFuzz.parse(GraphQLFuzz.text($0, $1)) }
            }
        exit(runFuzzer(&count, &arguments, body))
    }

    private static func text(_ start: UnsafePointer<UInt8>, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// What can be parsed can be printed, and the printed form means the same. A schema can be built or has
    /// mistakes; either way nothing traps.
    private static func parse(_ text: String) -> CInt {
        do throws(DocumentError) {
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
            return try PastService(ExampleState.snapshot)
        } catch {
            preconditionFailure("the example cannot be served: \(error)")
        }
    }()
}
