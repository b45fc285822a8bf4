import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// How much one mutation may do. What is beyond is refused before anything of it is in the log.
package struct MutationBounds: Sendable {
    /// Bytes that an operation writes, with what its root fields were given.
    let writtenBytes: Int

    /// Bytes of an answer that is kept for a repeat. Far below what all answers together may take: no client that is
    /// active is forgotten for the answer of another.
    static let keptAnswerBytes = 1 << 20

    package init(writtenBytes: Int = .max) { self.writtenBytes = writtenBytes }

    var writesTooMuch: ExecutionError {
        .limitExceeded("The mutation writes more than \(writtenBytes) bytes. Nothing was changed.")
    }
}

extension Execution {
    /// Why the answer of a mutation is too much.
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
    /// Keeps the answer, unless it is too large: a repeat is told then that the mutation was applied.
    mutating func keep(_ answer: Response) {
        if answer.bytes.count <= MutationBounds.keptAnswerBytes { keep(answer: answer.bytes) }
    }
}

extension Execution {
    /// Whether what all root fields are given has at most so many bytes as JSON, about. A variable that stands in many
    /// places counts in each: it is written in each.
    mutating func areRootArguments(within limit: Int) -> Bool {
        var left = limit
        for index in rootFieldIndices {
            // What cannot be coerced is refused when its field's turn comes.
            guard let arguments = try? rootArguments(index) else { continue }
            guard JSONValue.object(arguments).fits(in: &left) else { return false }
        }
        return true
    }
}

extension JSONValue {
    /// Takes about as many bytes away as the text has; false as soon as there are not enough.
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
