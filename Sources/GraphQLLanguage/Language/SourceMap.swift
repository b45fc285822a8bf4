/// Several documents that are read together: which of them has a location.
package struct SourceMap: Sendable {
    /// By their first locations, which overlap nowhere.
    package private(set) var sources: [Source] = []
    /// Where the next one may start.
    private var end = 0

    package init() {}

    /// Adds a document behind all others.
    /// - Returns: the same document with the locations that it has here.
    package mutating func add(_ source: Source) -> Source {
        let source = source.starting(at: end)
        end = source.locations.upperBound + 1
        sources.append(source)
        return source
    }

    /// Documents that were parsed with locations of their own.
    /// - Returns: nil if some have locations in common.
    package init?(_ sources: [Source]) {
        self.sources = sources.sorted { $0.base < $1.base }
        for (source, next) in zip(self.sources, self.sources.dropFirst())
        where source.locations.contains(next.base) {
            return nil
        }
        end = (self.sources.last?.locations.upperBound ?? -1) + 1
    }

    /// The document that has a location.
    package func source(of location: Int) -> Source? {
        var (low, high) = (0, sources.count)
        while low < high {
            let middle = (low + high) / 2
            if sources[middle].locations.upperBound < location {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < sources.count, sources[low].locations.contains(location) else { return nil }
        return sources[low]
    }

    package func place(of location: Int) -> SourcePlace? {
        guard let source = source(of: location) else { return nil }
        return SourcePlace(source: source, location: source.location(at: location))
    }
}
