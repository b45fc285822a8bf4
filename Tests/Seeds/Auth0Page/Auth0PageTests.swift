import Auth0
import Foundation
import Relay
import Testing
import TodoFixtures
import TodoService

/// `Network.swift` beside this file is the page's second example, to the letter.
@Suite(.serialized, .bounded, .timeLimit(.minutes(10)))
struct Auth0PageTests {
    @Test func promise17ATokenMayComeBeforeTheRequest() async throws {
        try await TodoService.run(token: "secret") { service in
            Redirect.host("example.org", to: service)
            let manager = CredentialsManager(.success(Credentials(accessToken: "secret")))
            let environment = Environment(
                network: Network(credentialsManager: manager), store: Store())
            let user = try await environment.fetch(UserQuery()).data?.user
            #expect(user?.userId == "me")
        }
    }

    @Test func promise17ErrorsOfTheTokenFlowThroughThePublisher() async throws {
        let manager = CredentialsManager(.failure(URLError(.userAuthenticationRequired)))
        let environment = Environment(
            network: Network(credentialsManager: manager), store: Store())
        await #expect(throws: URLError.self) { _ = try await environment.fetch(UserQuery()) }
    }
}
