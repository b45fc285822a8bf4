@_spi(Rooms) package import RelayRecords

/// What a query gives in states that follow each other.
///
/// To read a schema and to look through all records for its look-ups takes longer than most queries, so that is done where
/// another schema comes into force, and not for each state.
package struct PastAnswers {
    private let request: GraphQLRequest
    private var service: PastService?
    /// How often a schema was read.
    private(set) var schemaCount = 0

    package init(_ request: GraphQLRequest) { self.request = request }

    /// - Parameter state: keeps the look-ups that the query needs; the next is best folded from it.
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
