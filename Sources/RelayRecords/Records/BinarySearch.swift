extension Range<Int> {
    /// The first index of which this is not so, the upper bound if there is none; those of which it is so come first.
    package func firstIndex(whereNot isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
