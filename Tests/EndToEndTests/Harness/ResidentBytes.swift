import Foundation
import Testing

/// What a process holds in memory; 0 where the system does not tell.
func residentBytes(of process: Int32) throws -> Int {
    #if os(Linux)
        let text = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return try #require(pages) * sysconf(Int32(_SC_PAGESIZE))
    #else
        return 0
    #endif
}
