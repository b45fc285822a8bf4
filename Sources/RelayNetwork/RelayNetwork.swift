// HTTPNetwork and WebSocketNetwork. Their errors, retries, tokens and names of mutations are of the room below; a file that
// imports RelayNetwork sees what is public of it too.

@_exported public import RelayLink
