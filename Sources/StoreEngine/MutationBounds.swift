import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// How much one mutation may do. Anything beyond this is refused before any of it reaches the log.
package struct MutationBounds: Sendable {
    /// Bytes that an operation writes, including the arguments of its root fields.
    let writtenBytes: Int

    /// Limit on the bytes of an answer kept for a repeat. Far below the limit on all kept answers together,
    /// so that one client's answer never evicts an active client.
    static let keptAnswerBytes = 1 << 20

    package init(writtenBytes: Int = .max) { self.writtenBytes = writtenBytes }

    var writesTooMuch: ExecutionError {
        .limitExceeded("The mutation writes more than \(writtenBytes) bytes. Nothing was changed.")
    }
}

extension Execution {
    /// Why the answer to a mutation is too large.
    var answerExcess: ExecutionError? {
        guard isTooLarge else { return nil }
        return .limitExceeded(
            visitsTooMuch
                ? """
                More than \(plan.visitLimit) elements of lists are looked at for the answer; ask for less. Nothing was \
                changed.
                """
                : "The answer has more than \(plan.resultBytes) bytes; ask for less. Nothing was changed."
        )
    }
}

extension MutationCommit {
    /// Keeps the answer, unless it is too large; a repeat then only learns that the mutation was applied.
    mutating func keep(_ answer: Response) {
        if answer.bytes.count <= MutationBounds.keptAnswerBytes { keep(answer: answer.bytes) }
    }
}

extension Execution {
    /// Whether the arguments of all root fields together take at most about this many bytes as JSON. A
    /// variable used in several places counts each time, because it is written each time.
    mutating func areRootArguments(within limit: Int) -> Bool {
        var left = limit
        for index in rootFieldIndices {
            // Arguments that cannot be coerced are refused when their field is executed.
            guard let arguments = try? rootArguments(index) else { continue }
            guard JSONValue.object(arguments).fits(in: &left) else { return false }
        }
        return true
    }
}

extension JSONValue {
    /// Subtracts the approximate length as JSON; false as soon as not enough is left.
    fileprivate func fits(in bytes: inout Int) -> Bool {
        switch self {
        case .null, .bool, .int, .double: bytes -= 8
        case .string(let text): bytes -= text.utf8.count + 3
        case .array(let elements):
            bytes -= 3
            for element in elements {
                guard element.fits(in: &bytes) else { return false }
            }
        case .object(let object):
            bytes -= 3
            for member in object {
                bytes -= member.key.utf8.count + 3
                guard member.value.fits(in: &bytes) else { return false }
            }
        }
        return bytes >= 0
    }
}
