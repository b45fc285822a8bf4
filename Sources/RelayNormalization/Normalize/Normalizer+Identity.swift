import RelayJSON
@_spi(Rooms) import RelayRecords

extension Normalizer {
    /// What must be known about an object before its members are read.
    struct Identity {
        /// The record named by its `id`.
        var id: RecordIndex?
        var type: NameIndex?
        /// The id of the node, if the object is an edge without an id of its own.
        var node: UnsafeBufferPointer<UInt8>?

        static var none: Identity { Identity() }
    }

    /// Looks ahead into the next object without consuming it.
    ///
    /// Usually `__typename` and `id` come first, so this ends early. If there are two `id`s, the first counts.
    func identify(_ plan: NormalizationPlan) throws(JSONError) -> Identity {
        var identity = Identity.none
        var needsID = plan.selectsID
        var needsType = plan.needsType
        var needsNode = plan.edgeNode != nil
        guard needsID || needsType || needsNode else { return identity }
        var object = reader
        try object.beginObject()
        while needsID || needsType || needsNode, let key = try object.nextKey() {
            if needsID, key == "id" {
                identity.id = try id(&object)
                needsID = false
                needsNode = needsNode && identity.id == nil
            } else if needsType, key == "__typename" {
                identity.type = try type(&object)
                needsType = false
            } else if needsNode, let node = plan.edgeNode, key.hasName(node.name) {
                identity.node = try nodeID(object)
                needsNode = false
                if needsID || needsType { try object.skipValue() }
            } else {
                try object.skipValue()
            }
        }
        return identity
    }

    private func id(_ object: inout JSONReader) throws(JSONError) -> RecordIndex? {
        switch try object.peek() {
        case .string:
            let id = try object.readString()
            return id.withContent { $0.isEmpty ? nil : symbols.record($0) }
        case .number:
            // Some servers send numbers where the schema says ID.
            let digits = try object.skipValue()
            return symbols.record(digits.bindMemory(to: UInt8.self))
        default:
            try object.skipValue()
            return nil
        }
    }

    private func type(_ object: inout JSONReader) throws(JSONError) -> NameIndex? {
        guard try object.peek() == .string else {
            try object.skipValue()
            return nil
        }
        return try object.readString().withContent { symbols.name($0) }
    }

    /// The `id` of the node of the edge that comes next.
    private func nodeID(_ edge: JSONReader) throws(JSONError) -> UnsafeBufferPointer<UInt8>? {
        var node = edge
        guard try node.peek() == .object else { return nil }
        try node.beginObject()
        while let key = try node.nextKey() {
            guard key == "id" else {
                try node.skipValue()
                continue
            }
            switch try node.peek() {
            case .string:
                let id = try node.readString()
                // An id with escapes also names its edge, by its text as sent.
                return id.escaped.isEmpty ? nil : id.escaped
            case .number: return try node.skipValue().bindMemory(to: UInt8.self)
            default: return nil
            }
        }
        return nil
    }
}

extension JSONString {
    fileprivate func hasName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        !hasEscapes && escaped.count == name.count && escaped.elementsEqual(name)
    }
}
