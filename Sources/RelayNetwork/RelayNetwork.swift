// HTTPNetwork and WebSocketNetwork. Their errors, retries, tokens and mutation names are in the room below; a file that
// imports RelayNetwork also sees what is public in it.

@_exported public import RelayLink
