package import RelayJSON
@_spi(Rooms) import RelayRecords

/// A field of an event, as named in conditions and templates.
package struct EventField: Sendable, Hashable {
    package enum Name: String, Sendable, CaseIterable {
        case sequence
        /// When the event happened.
        case time
        /// `genesis`, `schema`, `mutation`, `response`, `revocation`, `update`.
        case kind
        /// As in a list of events; for a response, that of its mutation.
        case operation
        /// The root field of the mutation.
        case field
        case mutationId
        case viewer
        /// The ids of the records that the event writes.
        case records
        /// The arguments of the mutation: `variables.input.text`.
        case variables
        /// The sequence of the mutation that a response or revocation ends.
        case ends
        /// Why a mutation was revoked.
        case reason
    }

    /// Its value is a number or missing.
    var isNumber: Bool { name == .sequence || name == .ends }

    package let name: Name
    /// The path inside the variables: keys of objects, and indexes of lists from 0.
    package let path: [Substring]

    /// Parses a name such as `kind` or `variables.input.text`.
    /// - Throws: which names there are; the position is the start of the text.
    init(_ text: String) throws(EventTextError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        // The variables are the arguments of the mutation's field; the list of events also uses that name.
        let first = parts.first == "arguments" ? "variables" : parts.first ?? ""
        guard let name = Name(rawValue: String(first)) else {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw EventTextError("\"\(text)\" is not a field of an event; there are \(known)")
        }
        guard parts.count == 1 || name == .variables else {
            throw EventTextError("\"\(name.rawValue)\" has no parts; only \"variables\" has")
        }
        self.name = name
        path = Array(parts.dropFirst())
    }

    /// The value in an event, times in microseconds since 1970; null if the event has none.
    package func value(in event: EventSummary) -> JSONValue {
        switch name {
        case .sequence: .int(Int64(clamping: event.sequence))
        case .time: .int(event.timeMicroseconds)
        case .kind: .string(event.kind)
        case .operation: event.operation.map(JSONValue.string) ?? .null
        case .field: event.intent.map { .string($0.field) } ?? .null
        case .mutationId: event.mutationID.map { .string($0.description) } ?? .null
        case .viewer: event.viewer.map(JSONValue.string) ?? .null
        case .records: .array(event.records.map(JSONValue.string))
        case .variables: event.intent.map { find(path[...], in: $0.arguments) } ?? .null
        case .ends: event.ends.map { .int(Int64(clamping: $0)) } ?? .null
        case .reason: event.reason.map(JSONValue.string) ?? .null
        }
    }

    private func find(_ path: ArraySlice<Substring>, in value: JSONValue) -> JSONValue {
        guard let step = path.first else { return value }
        if let list = value.array {
            guard let place = Int(step), list.indices.contains(place) else { return .null }
            return find(path.dropFirst(), in: list[place])
        }
        return value[String(step)].map { find(path.dropFirst(), in: $0) } ?? .null
    }
}

/// Why a text is not a condition or not a template.
package struct EventTextError: Error, Hashable, CustomStringConvertible {
    package let message: String
    /// The position of the character where it goes wrong, from 1.
    package let position: Int

    init(_ message: String, at position: Int = 1) {
        self.message = message
        self.position = position
    }

    /// The same error, for a text that starts at a position of a longer one.
    func moved(to start: Int) -> EventTextError {
        EventTextError(message, at: start + position - 1)
    }

    package var description: String { "At character \(position): \(message)." }
}
