// The code of the article AStoreOnDisk.md.

import Combine
import EventStore
import Foundation
import Logging
import Relay
import RelayNetwork

enum StoreOnDiskExample {
    static let query = ListQuery()

    static func open(_ directory: String, _ url: String) throws -> (FileJournal, Environment) {
        let journal = try FileJournal(directory: directory)
        let environment = Environment(
            network: try WebSocketNetwork(url: url),
            store: try Store(journal: journal))
        return (journal, environment)
    }

    static func start(
        _ environment: Environment, _ ended: @escaping @Sendable (ResumedMutation) -> Void
    ) throws -> [String] {
        try environment.keep(query)
        let unknown = try environment.resumeMutations([
            ResumableMutation(AddTodoMutation.self)
        ]) { mutation in ended(mutation) }
        return unknown
    }

    static func kept(_ environment: Environment) -> [KeptQuery.Content] {
        for kept in environment.keptQueries {
            print(kept.name, kept.content, kept.fetchedAt?.description ?? "never fetched")
        }
        return environment.keptQueries.map(\.content)
    }

    /// - Returns: the messages of the errors.
    static func fetch(_ environment: Environment) async throws -> [String] {
        let result = try await environment.fetch(query)
        for error in result.errors { print(error.message) }
        return result.errors.map(\.message)
    }

    static func listen(
        _ environment: Environment, _ note: @escaping @Sendable (ExecutionEvent) -> Void
    ) -> Task<Void, Never> {
        let events = environment.events
        let listening = Task {
            for await event in events { note(event) }
        }
        let logging = environment.log(to: Logger(label: "todo"))
        logging.cancel()
        return listening
    }

    static func close(_ journal: FileJournal, _ environment: Environment) async throws {
        try await environment.store.synchronize()
        journal.close()
    }

    static func policy(_ environment: Environment) {
        environment.unkeptMutations = .fail
    }
}
