@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@testable import Relay

@Suite(.bounded) struct FragmentPointerTests {
    /// An app may keep a pointer for each row of a list that grows row by row.
    @Test func aPointerKeepsNothingOfWhatWasReadWithIt() throws {
        let environment = MockEnvironment()
        environment.mockResponse(UserQuery(), Payloads.user((0..<50).map { "t\($0)" }))
        let result = Collected(environment.fetchQuery(UserQuery()))
        let user = try #require(result.values.first??.user)
        var list: Relay.Snapshot<List_user.Data>? = environment.lookup(List_user(key: user))
        weak let source = list?.read.source
        let edge = try #require(list?.data?.todos?.edges?[7])
        let row = try #require(edge.node)
        #expect(source != nil)
        list = nil
        #expect(source == nil)
        #expect(row.fragment_Item_todo.dataID == "t7")
        #expect(environment.lookup(Item_todo(key: row)).data?.text == "tt7")
    }

    @Test func pointersAreEqualWhereTheyLeadToTheSameForTheSameRequest() throws {
        let environment = MockEnvironment()
        environment.mockResponse(UserQuery(), Payloads.user(["a", "b"]))
        let result = Collected(environment.fetchQuery(UserQuery()))
        let user = try #require(result.values.first??.user)
        func rows() throws -> [FragmentPointer] {
            let list = environment.lookup(List_user(key: user)).data
            return try #require(list?.todos?.edges).compactMap { $0?.node?.fragment_Item_todo }
        }
        #expect(try rows() == rows())
        #expect(try Set(rows() + rows()).count == 2)
    }
}
