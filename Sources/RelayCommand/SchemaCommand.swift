import ArgumentParser
import Console
import GraphQLLanguage

/// `relay schema`: a server's schema, as SDL.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the schema of a server, by introspection.")

    @ArgumentParser.Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let session = try await ServerSession.connect(server, url)
        let answer: Result<ServerSession.Introspection, any Error>
        do {
            answer = .success(try await session.introspection())
        } catch {
            answer = .failure(CommandFailure("\(url): \(error)"))
        }
        await session.close()
        print(try answer.get().schema.printed(), terminator: "")
    }
}
