import Foundation
import OpenCombine
import Relay
import RelayArtifacts
import Testing
import Threads
import TodoFixtures

/// Data is made of what was read where the program gets it, and nowhere else.
@Suite(.bounded, .serialized) struct DecodingTests {
    private let environment = MockEnvironment()
    private let list: CountedList

    /// A list that counts how often it is made.
    private struct CountedList: PaginationFragment {
        static let node = List_user.node
        static let metadata = List_user.metadata
        typealias Operation = ListPaginationQuery
        let fragmentPointer: FragmentPointer

        init(key: any List_user_Key) { fragmentPointer = key.fragment_List_user }

        struct Data: ReadableRecord {
            static let madeCount = Lock(0)

            init(_ record: inout RecordReader) throws { Self.madeCount.withLock { $0 += 1 } }
        }
    }

    init() throws {
        try environment.cachePayload(
            UserQuery(),
            Payloads.user(["a"]).replacingOccurrences(
                of: #""hasNextPage":false"#, with: #""hasNextPage":true"#))
        let read = environment.lookup(
            selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self)
        list = CountedList(key: try #require(read.data?.user))
    }

    private func made(_ body: () async throws -> Void) async rethrows -> Int {
        let before = CountedList.Data.madeCount.withLock { $0 }
        try await body()
        return CountedList.Data.madeCount.withLock { $0 } - before
    }

    @Test func pagingMakesNoData() async throws {
        let count = try await made {
            let pages = PaginationResource(list, environment: environment)
            for _ in 0..<10 { #expect(pages.hasNext && !pages.hasPrevious) }
            environment.answer { _ in
                Data(
                    #"{"data":{"node":{"__typename":"User","id":"U","todos":{"edges":[],"pageInfo":{"endCursor":"b","hasNextPage":true}}}}}"#
                        .utf8)
            }
            try await pages.loadNext(1)
            #expect(environment.mockNetwork.executionCount == 1)
        }
        #expect(count == 0)
    }

    @Test func aStateThatNobodySeesIsNotMadeToData() async throws {
        let snapshot = environment.lookup(list)
        var subscription: (any Subscription)?
        var received = 0
        environment.subscribe(snapshot: snapshot).subscribe(
            AnySubscriber<Snapshot<CountedList.Data>, Never>(
                receiveSubscription: { subscription = $0 },
                receiveValue: { _ in
                    received += 1
                    return .none
                }))
        let unseen = try await made {
            for number in 0..<10 {
                try environment.cachePayload(UserQuery(), Payloads.user(["a", "\(number)"]))
            }
        }
        let seen = await made { subscription?.request(.max(1)) }
        #expect(unseen == 0 && seen == 1 && received == 1)
        subscription?.cancel()
    }
}
