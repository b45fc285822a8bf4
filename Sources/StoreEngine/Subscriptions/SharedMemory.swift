import GraphQLExecution
import GraphQLLanguage
import RelayJSON

/// Approximate memory of several owners; what they share counts once.
struct SharedMemory {
    /// What one owner has.
    struct Share: Sendable {
        /// What other owners may have as well: documents, plans and normalizations. The owner retains them.
        let parts: [(id: ObjectIdentifier, byteCount: Int)]
        let ownByteCount: Int
    }

    private(set) var byteCount = 0
    private var parts: [ObjectIdentifier: (owners: Int, byteCount: Int)] = [:]

    /// - Parameter share: counts as it is now, also what others have counted as smaller.
    mutating func add(_ share: Share) {
        byteCount += share.ownByteCount
        for (id, bytes) in share.parts {
            let known = parts[id] ?? (0, 0)
            byteCount += bytes - known.byteCount
            parts[id] = (known.owners + 1, bytes)
        }
    }

    /// - Parameter old: nil if the owner is new.
    mutating func replace(_ old: Share?, by new: Share) {
        add(new)
        if let old { remove(old) }
    }

    /// - Parameter share: was added with the same parts and the same bytes of its own.
    mutating func remove(_ share: Share) {
        byteCount -= share.ownByteCount
        for (id, _) in share.parts {
            guard let part = parts[id] else { continue }
            parts[id] = part.owners > 1 ? (part.owners - 1, part.byteCount) : nil
            if part.owners == 1 { byteCount -= part.byteCount }
        }
        assert(byteCount >= 0, "what is taken out was counted")
    }
}

extension PreparedOperation {
    /// Its document, as a part that may be shared.
    var documentPart: (id: ObjectIdentifier, byteCount: Int) {
        (ObjectIdentifier(self), document.approximateByteCount)
    }
}

extension Plan {
    /// As a part that may be shared: a few hundred bytes per selection.
    var part: (id: ObjectIdentifier, byteCount: Int) {
        (ObjectIdentifier(self), 512 * currentSelectionCount)
    }
}

extension Normalization {
    /// As a part that may be shared.
    var part: (id: ObjectIdentifier, byteCount: Int) { (id, byteCount) }
}

extension CoercedVariables {
    /// Approximate memory of a subscription with these variables, excluding what may be shared.
    var subscriptionByteCount: Int { 1_024 + JSONValue.object(values).approximateByteCount }
}
