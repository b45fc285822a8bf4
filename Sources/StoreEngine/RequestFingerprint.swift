import Digests
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

extension MutationFingerprint {
    /// What an operation asks for: its root fields in order, each with its coerced arguments.
    ///
    /// Aliases, the selection, whether a value stands in the text or in a variable, the order of an input's
    /// fields and how a number is spelled don't count.
    init?(_ execution: inout Execution) {
        var bytes: [UInt8] = []
        for index in execution.rootFieldIndices {
            let name = execution.rootField(index).name
            if name.hasPrefix("__") { continue }
            bytes += CanonicalJSON.bytes(of: .string(name))
            do throws(ExecutionError) {
                bytes += CanonicalJSON.bytes(of: .object(try execution.rootArguments(index)))
            } catch {
                // It will be refused; what it is refused for tells it from others.
                bytes += CanonicalJSON.bytes(of: .string(error.message))
            }
        }
        let hasher = SHA256()
        hasher.update(bytes)
        self.init(hasher.finish().prefix(Self.size))
    }
}

/// JSON with one text for each value: members by name, whole numbers without a fraction.
private enum CanonicalJSON {
    static func bytes(of value: JSONValue) -> [UInt8] { canonical(value).bytes + [0x0A] }

    private static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            let members = object.members.sorted {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }
            return .object(JSONObject(members.map { ($0.key, canonical($0.value)) }))
        case .array(let values):
            return .array(values.map(canonical))
        case .double(let number):
            return Int64(exactly: number).map(JSONValue.int) ?? value
        case .null, .bool, .int, .string:
            return value
        }
    }
}
