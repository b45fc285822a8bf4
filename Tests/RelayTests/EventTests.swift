import Foundation
import Logging
import OpenCombine
import Testing
import Threads
import TodoFixtures

@testable import Relay
@_spi(Rooms) @testable import RelayStore

/// What happens is told, under Relay's names.
@Suite(.bounded, .timeLimit(.minutes(10))) struct EventTests {
    private let environment = MockEnvironment()

    @Test func aQuerysEventsAreReportedFromStartToEnd() throws {
        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        let told = Collected(environment.eventPublisher)
        let snapshot = environment.lookup(
            selector: TodoQuery(id: "a").createDescriptor().fragment, as: TodoQuery.Data.self)
        let following = Collected(environment.subscribe(snapshot: snapshot))
        let result = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(result.isFinished && following.values.count == 1)
        #expect(
            told.values.map(\.name.rawValue) == [
                "execute.start", "network.start", "network.next", "store.publish",
                "store.notify.start", "store.notify.complete", "execute.next", "network.complete",
                "execute.complete",
            ])
        let execution = told.values.filter { $0.transactionID != nil }
        #expect(Set(execution.map(\.transactionID)).count == 1)
        #expect(execution.allSatisfy { $0.operation == "TodoQuery" })
        let notified = told.values.first { $0.name == .storeNotifyComplete }
        #expect(notified?.count == 1)
        told.cancel()
        _ = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(told.values.count == 9)
    }

    @Test func failuresAndCancelsAreToldToo() throws {
        let told = Collected(environment.eventPublisher)
        let failed = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        environment.mostRecent?.reject(URLError(.timedOut))
        #expect(failed.error is URLError)
        let cancelled = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        cancelled.cancel()
        let names = told.values.map(\.name.rawValue).filter { !$0.hasPrefix("store.") }
        #expect(
            names == [
                "execute.start", "execute.optimistic", "network.start", "network.error",
                "execute.error", "execute.start", "network.start", "network.unsubscribe",
            ])
        #expect(told.values.contains { $0.error is URLError })
    }

    @Test func theStoreAndTheResourcesReportEvents() async throws {
        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        let told = Collected(environment.eventPublisher)
        let resource = QueryResource(environment: environment)
        let operation = TodoQuery(id: "a").createDescriptor()
        let prepared = Collected(
            resource.prepare(operation: operation, fetchPolicy: .networkOnly))
        let result = try #require(try prepared.values.last??.get())
        let retained = resource.retain(result)
        environment.store.collectGarbage()
        let names = told.values.map(\.name.rawValue)
        for name in [
            "queryresource.fetch", "queryresource.retain", "store.gc.start", "store.gc.end",
        ] {
            #expect(names.contains(name), "\(name)")
        }
        retained.cancel()
    }

    @Test func eventsAreASequenceToo() async throws {
        let events = environment.events
        _ = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        for await event in events {
            #expect(event.name == .executeStart)
            break
        }
    }

    /// A store makes no events for nobody.
    @Test func theStoreIsObservedAsLongAsSomebodyListens() {
        let observers = environment.store.observers
        let listeners = (0..<2).map { _ in environment.log.listen { _ in } }
        listeners[0].cancel()
        #expect(!observers.isEmpty)
        listeners[1].cancel()
        #expect(observers.isEmpty)
        let told = Lock<[ExecutionEvent.Name]>([])
        let again = environment.log.listen { event in told.withLock { $0.append(event.name) } }
        try? environment.commitUpdate { $0.root["touched"] = true }
        #expect(told.withLock { $0.contains(.storePublish) })
        again.cancel()
    }

    /// What a listener does is told behind what it was told of.
    @Test func eventsOfListenersComeBehind() throws {
        let told = Lock<[String]>([])
        let environment = environment
        let first = environment.log.listen { event in
            told.withLock { $0.append(event.name.rawValue) }
            if event.name == .executeStart {
                try? environment.commitUpdate { $0.root["touched"] = true }
            }
        }
        _ = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(
            told.withLock { Array($0.prefix(4)) } == [
                "execute.start", "store.publish", "store.notify.start", "store.notify.complete",
            ])
        first.cancel()
    }

    /// A listener is at work; what others note meanwhile waits, and is bounded.
    @Test func beyondTheLimitTheOldestWaitingEventsAreDroppedAndCounted() throws {
        let log = environment.log
        let told = Lock<[ExecutionEvent]>([])
        let extra = 10
        let listening = log.listen { event in
            told.withLock { $0.append(event) }
            guard event.operation == "first" else { return }
            // As if from other threads: whoever notes finds a listener at work.
            for number in 0..<ExecutionLog.waitingLimit + extra {
                log.note(ExecutionEvent(.executeNext, count: number))
                #expect(log.waitingCount <= ExecutionLog.waitingLimit)
            }
        }
        log.note(ExecutionEvent(.executeStart, operation: "first"))
        let events = told.withLock { $0 }
        #expect(events.count == 2 + ExecutionLog.waitingLimit)
        #expect(events[1].name == .logOverflow && events[1].count == extra)
        #expect(events[2].count == extra && log.waitingCount == 0)
        listening.cancel()
    }

    @Test func eventsThatASlowReaderMissesAreCounted() async {
        let events = environment.events
        let extra = 10
        for number in 0..<ExecutionLog.waitingLimit + extra {
            environment.log.note(ExecutionEvent(.executeNext, count: number))
        }
        var reader = events.makeAsyncIterator()
        let first = await reader.next()
        #expect(first?.name == .logOverflow && first?.count == extra)
        for number in extra..<ExecutionLog.waitingLimit + extra {
            #expect(await reader.next()?.count == number)
        }
        let waiting = Task { await events.first { _ in true } }
        environment.log.note(ExecutionEvent(.executeNext, count: 7))
        #expect(await waiting.value?.count == 7)
    }

    @Test func aReaderOfEventsEndsWithItsTask() async {
        let events = environment.events
        let reading = Task { await events.first { _ in true } }
        reading.cancel()
        #expect(await reading.value == nil)
    }

    @Test func withoutListenersNoEventsWait() throws {
        for _ in 0..<100 {
            let done = Collected(environment.commitMutation(change("a", true)))
            environment.mostRecent?.resolve(Payloads.status("a", complete: true))
            #expect(done.isFinished)
        }
        #expect(environment.log.waitingCount == 0)
    }

    // MARK: The logger

    private final class Lines: LogHandler, @unchecked Sendable {
        private let lines = Lock<[String]>([])
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]
        var all: [String] { lines.withLock { $0 } }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).filter { $0.key != "transaction" }
                .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.withLock {
                $0.append(
                    ([event.level.rawValue, event.message.description] + details)
                        .joined(separator: " "))
            }
        }
    }

    @Test func eventsGoToALogger() throws {
        struct Broken: Error {}
        let lines = Lines()
        let logging = environment.log(to: Logger(label: "test") { _ in lines })
        _ = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        let waiting = Collected(environment.fetchQuery(TodoQuery(id: "b")))
        environment.mostRecent?.reject(Broken())
        #expect(waiting.error is Broken)
        #expect(
            lines.all.prefix(2) == [
                "debug execute.start operation=TodoQuery",
                "debug network.start operation=TodoQuery",
            ])
        #expect(lines.all.contains("error network.error error=Broken() operation=TodoQuery"))
        logging.cancel()
        let count = lines.all.count
        _ = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(lines.all.count == count)
    }

    @Test func anUpdaterThatFailsLaterIsReported() throws {
        struct Gone: Error {}
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        let told = Collected(environment.eventPublisher)
        let shown = Collected(
            environment.commitMutation(
                change("a", true),
                optimisticUpdater: { store, _ in
                    guard let todo = store["a"] else { throw Gone() }
                    todo["text"] = "shown"
                }))
        try environment.commitUpdate { $0.delete(dataID: "a") }
        let failure = try #require(told.values.first { $0.name == .executeOptimisticError })
        #expect(failure.error is Gone)
        #expect(failure.operation == "ChangeTodoStatusMutation")
        let begun = told.values.first { $0.name == .executeStart }
        #expect(failure.transactionID == begun?.transactionID)
        withExtendedLifetime(shown) {}
    }
}
