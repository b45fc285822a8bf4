package import GraphQLExecution
import RelayJSON
import RelayStore

/// The bytes of one response, complete: `{"data":…,"errors":…,"extensions":…}`. Shared by all who get it.
package final class Response: Sendable {
    package let bytes: [UInt8]
    /// There is an `errors` entry.
    package let hasErrors: Bool

    package init(bytes: [UInt8], hasErrors: Bool) {
        self.bytes = bytes
        self.hasErrors = hasErrors
    }
}

extension Response {
    /// Adds what the server says about a response to one that is still open.
    convenience init(
        open bytes: [UInt8], hasErrors: Bool, cursor: StreamCursor?, mutationID: MutationID? = nil
    ) {
        var writer = JSONWriter(continuing: bytes)
        if cursor != nil || mutationID != nil {
            var relay = JSONObject()
            if let cursor { relay["cursor"] = .string(cursor.text) }
            if let mutationID { relay["mutationId"] = .string(mutationID.description) }
            writer.raw(",\"extensions\":{\"relay\":")
            writer.write(relay)
            writer.raw(UInt8(ascii: "}"))
        }
        writer.raw(UInt8(ascii: "}"))
        self.init(bytes: writer.bytes, hasErrors: hasErrors)
    }

    /// The response to a request that was not executed.
    package convenience init(refused errors: [ExecutionError]) {
        var writer = JSONWriter()
        writer.raw("{\"errors\":")
        writer.write(errors)
        writer.raw(UInt8(ascii: "}"))
        self.init(bytes: writer.bytes, hasErrors: true)
    }
}

/// What became of a request for one result.
package enum Outcome: Sendable {
    /// It was executed; the response may still have errors in it.
    case executed(Response)
    /// It was not executed, and nothing happened (GraphQL §7.1: a request error).
    case refused([ExecutionError])
}
