import Digests
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

extension MutationFingerprint {
    /// Identifies what an operation asks for: its root fields in order, each with its coerced arguments.
    ///
    /// Aliases, the selection, whether a value is in the text or in a variable, the order of an input's
    /// fields and the spelling of a number do not count.
    /// - Parameter identity: with the claims that rules look at.
    init?(_ execution: inout Execution, for identity: Identity) {
        var bytes: [UInt8] = []
        for index in execution.rootFieldIndices {
            let name = execution.rootField(index).name
            if name.hasPrefix("__") { continue }
            bytes += JSONValue.string(name).canonicalLine
            do throws(ExecutionError) {
                bytes += JSONValue.object(try execution.rootArguments(index)).canonicalLine
            } catch {
                // It will be refused; the reason distinguishes it from others.
                bytes += JSONValue.string(error.message).canonicalLine
            }
        }
        self.init(bytes.hashed, claims: identity.hashedClaims)
    }
}

extension Identity {
    /// Empty if there are none.
    fileprivate var hashedClaims: [UInt8] {
        guard let claims = viewer?.claimValues, !claims.isEmpty else { return [] }
        return JSONValue.object(claims).canonicalLine.hashed
    }
}

extension [UInt8] {
    fileprivate var hashed: [UInt8] {
        let hasher = SHA256()
        hasher.update(self)
        return Array(hasher.finish().prefix(MutationFingerprint.size))
    }
}

extension JSONValue {
    /// One line for each value.
    fileprivate var canonicalLine: [UInt8] { canonical.bytes + [0x0A] }
}
