// GraphQL data in terminal views. A file that imports this room also sees Relay and TerminalUI; it imports neither
// itself, or names that this room gives another meaning (`Fragment`) would be ambiguous.

@_exported public import Relay
@_exported public import TerminalUI
