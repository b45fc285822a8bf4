extension Array {
    /// The names that occur more than once, each with all its locations, in order of first occurrence.
    func repeatedNames(_ name: (Element) -> Name) -> [(name: String, locations: [Int])] {
        // Nearly always there are few names and no repetition, which needs no table.
        if count <= 8, !hasRepeatedName(name) { return [] }
        var places: [String: [Int]] = [:]
        for element in self {
            let name = name(element)
            places[name.value, default: []].append(name.location)
        }
        guard places.count < count else { return [] }
        return compactMap { element in
            let name = name(element).value
            guard let locations = places.removeValue(forKey: name), locations.count > 1 else {
                return nil
            }
            return (name, locations)
        }
    }

    private func hasRepeatedName(_ name: (Element) -> Name) -> Bool {
        for (index, element) in enumerated() where index > 0 {
            let value = name(element).value
            if self[..<index].contains(where: { name($0).value == value }) { return true }
        }
        return false
    }
}
