extension Character {
    /// How many columns of a terminal it takes: 0, 1 or 2.
    package var columnCount: Int { 1 }
}
