import CLibwebsockets

/// Something the library calls back for: a listener, a served connection, a client's connection.
///
/// The library's handle points here; `LoopCore.endpoints` keeps it alive until the handle is gone.
class Endpoint {
    unowned let core: LoopCore
    let id: UInt64
    /// The library's handle, nil before there is one and after it is gone.
    final var wsi: OpaquePointer?

    init(core: LoopCore) {
        self.core = core
        id = core.nextEndpointID()
    }

    /// What goes into the library's handle.
    final var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Does what a callback asks for. A nonzero answer closes the connection.
    func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 { 0 }

    /// The library's handle is gone, for whatever reason; called once.
    func libraryDestroyed() {}

    /// Called about once a second with the monotonic milliseconds.
    func sweep(now: Int64) {}

    /// Ends the connection at the next turn of the loop, without a goodbye.
    final func abort() {
        guard let wsi else { return }
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
    }
}

// Everything the library has to say comes through here. A top-level function: a closure could
// inherit an actor's isolation, and the library's thread would then trap on entering it.
func libwebsocketsCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    data: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard
        let wsi, let context = lws_get_context(wsi),
        let core = LoopCore.owner(of: lws_context_user(context))
    else { return 0 }
    if reason == LWS_CALLBACK_EVENT_WAIT_CANCELLED {
        // Comes once for every protocol of every vhost; only the first finds mail.
        core.enter { core.runMail() }
        return 0
    }
    guard let opaque = lws_get_opaque_user_data(wsi) else { return 0 }
    let endpoint = Unmanaged<Endpoint>.fromOpaque(opaque).takeUnretainedValue()
    if reason == LWS_CALLBACK_WSI_DESTROY {
        lws_set_opaque_user_data(wsi, nil)
        core.enter {
            endpoint.wsi = nil
            endpoint.libraryDestroyed()
            core.remove(endpoint)
        }
        return 0
    }
    return core.enter { endpoint.handle(reason, wsi: wsi, data: data, count: count) }
}
