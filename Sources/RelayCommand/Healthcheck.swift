import ArgumentParser
import Console
import HTTPMessages
import WebSocketIO

/// `relay healthcheck`: does a server answer?
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exit with 0 when a server answers that it is alive.")

    @Argument(help: "The server.")
    var url = "http://127.0.0.1:8080/healthz"

    @OptionGroup var server: ServerOptions

    func run() async throws {
        var address = try ServerAddress(argument: url)
        address.path = "/healthz"
        let loop = try IOLoop.start()
        var options = HTTPClient.Options(authorityFile: server.ca)
        options.timeout = .seconds(5)
        let response: HTTPResponse
        do {
            response = try await HTTPClient.send(to: address, options, on: loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
        guard response.status == 200 else {
            throw CommandFailure("\(address) answered with status \(response.status).")
        }
    }
}
