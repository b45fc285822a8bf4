import RelayJSON
import StoreEngine

/// A file of persisted operations: one JSON object, from ids to the texts of documents.
package enum PersistedFile {
    /// Reads such a file.
    /// - Throws: what is wrong with it, in one sentence.
    package static func read(_ bytes: [UInt8]) throws(PersistedFileError) -> [String: String] {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw PersistedFileError("\(error)")
        }
        guard case .object(let object) = value else {
            throw PersistedFileError(
                "It must hold a JSON object from ids to documents, not \(value.kindName).")
        }
        var documents: [String: String] = [:]
        for (id, value) in object {
            guard case .string(let text) = value else {
                throw PersistedFileError(
                    "The document \"\(id)\" must be a string, not \(value.kindName).")
            }
            documents[id] = text
        }
        return documents
    }
}

package struct PersistedFileError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
