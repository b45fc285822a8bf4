// In every file of these tests: `.bounded`.
@_exported import BoundedTesting
