// WebSocketIO
