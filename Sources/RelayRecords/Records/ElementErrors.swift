// The errors of single elements of a list are kept next to the list, in a field of the same record whose key is
// the list's with a suffix. To the record it is a field like any other; readers of the list see its errors and
// are notified when they change, and a response with a new list replaces its errors too.

extension Symbols {
    /// Suffix of a storage key: the errors of elements of that field's list.
    package static let elementErrorsSuffix = ":errors"

    /// The key of the errors of a list's elements; nil when no list of this name ever had any.
    package func elementErrorsKey(of list: NameIndex) -> NameIndex? {
        guard mayHaveElementErrors else { return nil }
        return findName(nameString(list) + Self.elementErrorsSuffix)
    }

    /// The list whose errors a key holds; nil for any other field.
    package func list(withElementErrors key: NameIndex) -> NameIndex? {
        guard mayHaveElementErrors, Self.isOfElementErrors(nameText(key)) else { return nil }
        return findName(String(nameString(key).dropLast(Self.elementErrorsSuffix.utf8.count)))
    }

    static func isOfElementErrors(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.count > elementErrorsSuffix.utf8.count
            && name.suffix(elementErrorsSuffix.utf8.count).elementsEqual(elementErrorsSuffix.utf8)
    }
}
