extension Range<Int> {
    /// The first index for which `isBefore` is false, or the upper bound; those for which it is true come first.
    func firstIndex(whereNot isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
