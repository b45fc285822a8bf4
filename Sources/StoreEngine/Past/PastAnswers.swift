@_spi(Rooms) package import RelayRecords

/// The results of a query in successive states.
///
/// Reading a schema and indexing all records takes longer than most queries, so this is done only when the
/// schema changes, not for each state.
package struct PastAnswers {
    private let request: GraphQLRequest
    private var service: PastService?
    /// How many times a schema was read.
    private(set) var schemaCount = 0

    package init(_ request: GraphQLRequest) { self.request = request }

    /// - Parameter state: gets the indexes that the query needs; the next state should be folded from it.
    /// - Throws: what is wrong with the schema.
    package mutating func next(_ state: inout Snapshot) throws -> Response {
        if let moved = service?.on(state) {
            service = moved
            return moved.answer(request)
        }
        let service = try PastService(state)
        schemaCount += 1
        state = service.state
        self.service = service
        return service.answer(request)
    }
}
