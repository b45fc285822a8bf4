extension LinkList {
    /// Calls the bodies with the links that one list has and the other has not, link by link and position
    /// by position.
    ///
    /// The cost is the difference plus one step for each 8,192 links, if one list was made from the
    /// other; after packing or a splice it is the length of the list.
    func forEachDifference(
        from old: LinkList, removed: (_ position: Int, RecordIndex) -> Void,
        added: (_ position: Int, RecordIndex) -> Void
    ) {
        forEachChange(from: old) { position, record in
            if let record { removed(position, record) }
        } added: { position, record in
            if let record { added(position, record) }
        }
    }

    /// Calls the body with every link that this list has and an older one has not, including null elements; after
    /// packing or a splice perhaps with some that both have.
    ///
    /// The cost is that of ``forEachDifference(from:removed:added:)``, and after a prepend that found room, the
    /// difference.
    package func forEachLinkAdded(since old: LinkList, _ body: (RecordIndex?) -> Void) {
        if self === old { return }
        guard positions == nil && old.positions == nil || sharesPositions(with: old) else {
            walkDifference(from: old) { _, _ in
            } added: { _, record in
                body(record)
            }
            return
        }
        places.forEachDifference(from: old.places) { _, _, after in
            if let after, case .link(let record) = Self.content(after) { body(record) }
        }
    }

    private func forEachChange(
        from old: LinkList, removed: (_ position: Int, RecordIndex?) -> Void,
        added: (_ position: Int, RecordIndex?) -> Void
    ) {
        if self === old { return }
        let arePlacesAlike = positions == nil && old.positions == nil && room == old.room
        if !arePlacesAlike, !sharesPositions(with: old) {
            walkDifference(from: old, removed: removed, added: added)
            return
        }
        places.forEachDifference(from: old.places) { place, before, after in
            if let before, case .link(let record) = Self.content(before) {
                removed(old.position(ofPlace: place), record)
            }
            if let after, case .link(let record) = Self.content(after) {
                added(position(ofPlace: place), record)
            }
        }
    }

    /// Both are packed, and each place that both have has the same position.
    private func sharesPositions(with old: LinkList) -> Bool {
        guard let positions, let before = old.positions else { return false }
        var isSame = true
        positions.forEachDifference(from: before) { _, before, after in
            if before != nil, after != nil { isSame = false }
        }
        return isSame
    }

    private func walkDifference(
        from old: LinkList, removed: (_ position: Int, RecordIndex?) -> Void,
        added: (_ position: Int, RecordIndex?) -> Void
    ) {
        var before = old.next(from: 0)
        forEachLink { position, record in
            while let link = before, link.position < position {
                removed(link.position, link.record)
                before = old.next(from: link.position + 1)
            }
            if let link = before, link.position == position {
                before = old.next(from: position + 1)
                if link.record == record { return }
                removed(position, link.record)
            }
            added(position, record)
        }
        while let link = before {
            removed(link.position, link.record)
            before = old.next(from: link.position + 1)
        }
    }
}
