import HashTreeCollections

/// In which lists a record is, and where: the links of some fields in reverse.
///
/// With it a mutation finds a link without scanning the list. Most records are in one list, which takes
/// no extra memory.
struct LinkPlaces: Sendable {
    /// A field of a record that holds links.
    struct List: Hashable, Sendable {
        let owner: RecordIndex
        let key: NameIndex
    }

    private enum Entry: Sendable {
        case none
        case one(List, position: Int)
        /// Positions, in increasing order.
        case several(TreeDictionary<List, [Int]>)
    }

    private var entries = PersistentVector<Entry>()

    /// The first position of a record in a list.
    func position(of record: RecordIndex, in list: List) -> Int? {
        switch entry(record) {
        case .none: nil
        case .one(let only, let position): only == list ? position : nil
        case .several(let lists): lists[list]?.first
        }
    }

    /// Every list that contains a record, with the number of occurrences.
    func forEachList(of record: RecordIndex, _ body: (List, _ times: Int) -> Void) {
        switch entry(record) {
        case .none: return
        case .one(let list, _): body(list, 1)
        case .several(let lists): for (list, positions) in lists { body(list, positions.count) }
        }
    }

    mutating func insert(_ record: RecordIndex, in list: List, at position: Int) {
        let index = Int(record.rawValue)
        while entries.count <= index { entries.append(.none) }
        switch entries[index] {
        case .none:
            entries[index] = .one(list, position: position)
        case .one(let other, let place):
            var lists: TreeDictionary<List, [Int]> = [other: [place]]
            lists[list, default: []].insertInOrder(position)
            entries[index] = .several(lists)
        case .several(var lists):
            entries[index] = .none  // so that the dictionary is changed in place
            lists[list, default: []].insertInOrder(position)
            entries[index] = .several(lists)
        }
    }

    mutating func remove(_ record: RecordIndex, from list: List, at position: Int) {
        switch entry(record) {
        case .none:
            return
        case .one(let only, let place):
            if only == list, place == position { entries[Int(record.rawValue)] = .none }
        case .several(var lists):
            entries[Int(record.rawValue)] = .none
            lists[list]?.removeAll { $0 == position }
            if lists[list]?.isEmpty == true { lists[list] = nil }
            entries[Int(record.rawValue)] = lists.isEmpty ? .none : .several(lists)
        }
    }

    private func entry(_ record: RecordIndex) -> Entry {
        let index = Int(record.rawValue)
        return index < entries.count ? entries[index] : .none
    }
}

extension [Int] {
    fileprivate mutating func insertInOrder(_ number: Int) {
        var place = count
        while place > 0, self[place - 1] > number { place -= 1 }
        insert(number, at: place)
    }
}
