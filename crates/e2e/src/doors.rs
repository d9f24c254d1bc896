//! What listens behind a relay and behind a server that answers as it is told.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A listener with a thread for each of its connections. Dropping it closes the listener; connections end with the
/// processes at their ends.
#[derive(Debug)]
pub(crate) struct Doors {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
}

impl Doors {
    /// Listens on a free port of this machine.
    pub(crate) fn open(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let closing = Arc::new(AtomicBool::new(false));
        let (stop, serve) = (Arc::clone(&closing), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address, closing })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}
