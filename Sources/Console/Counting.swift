extension BinaryInteger {
    /// With what is counted: "1 segment", "2 segments".
    package func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
