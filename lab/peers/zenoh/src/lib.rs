//! zenoh behind the few C functions that the C++ laboratory calls. The same code therefore starts,
//! times and counts this peer and all others. A process has one session, with at most one publisher
//! and one subscriber.
//!
//! The callback runs in zenoh's receiving threads. C++ admits one thread at a time.

use std::error::Error;
use std::ffi::{c_char, c_void, CStr};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::shm::{
    BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder,
};
use zenoh::{Config, Session, Wait};

type Fill = extern "C" fn(context: *mut c_void, data: *mut u8);
type OnMessage =
    extern "C" fn(context: *mut c_void, message: *const ZBytes, data: *const u8, size: usize);
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Memory = ShmProvider<PosixShmProviderBackend>;

pub struct Link {
    publisher: Option<Publisher<'static>>,
    subscriber: Option<Subscriber<()>>,
    memory: Option<Memory>,
    session: Session,
}

/// A C++ pointer. The C++ comments document the threads that may use it.
#[derive(Clone, Copy)]
struct Context(*mut c_void);
unsafe impl Send for Context {}
unsafe impl Sync for Context {}
impl Context {
    fn get(self) -> *mut c_void {
        self.0
    }
}

unsafe fn text(name: *const c_char) -> Outcome<String> {
    Ok(CStr::from_ptr(name).to_str()?.to_owned())
}

fn good(result: Outcome<()>) -> bool {
    if let Err(error) = &result {
        eprintln!("zenoh: {error}");
    }
    result.is_ok()
}

/// Returns null on failure. `config` is JSON5. With `shared_bytes`, messages are written into
/// shared memory of that size.
///
/// # Safety
/// `config` is a text that ends with 0.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_open(config: *const c_char, shared_bytes: usize) -> *mut Link {
    let open = || -> Outcome<Link> {
        let session = zenoh::open(Config::from_json5(&text(config)?)?).wait()?;
        let memory = match shared_bytes {
            0 => None,
            size => Some(ShmProviderBuilder::default_backend(size).wait()?),
        };
        Ok(Link { publisher: None, subscriber: None, memory, session })
    };
    match open() {
        Ok(link) => Box::into_raw(Box::new(link)),
        Err(error) => {
            eprintln!("zenoh: {error}");
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// `link` came from `lab_zenoh_open`, and `key` is a text that ends with 0.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_advertise(link: *mut Link, key: *const c_char, block: bool) -> bool {
    let link = &mut *link;
    let mut open = || -> Outcome<()> {
        let control = match block {
            true => CongestionControl::Block,
            false => CongestionControl::Drop,
        };
        let publisher = link.session.declare_publisher(text(key)?).congestion_control(control);
        link.publisher = Some(publisher.wait()?);
        Ok(())
    };
    good(open())
}

/// `on_message` gets the message, for `lab_zenoh_forward`, and its contiguous bytes.
///
/// # Safety
/// `link` came from `lab_zenoh_open`, and `context` outlives it.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_subscribe(
    link: *mut Link, key: *const c_char, on_message: OnMessage, context: *mut c_void,
) -> bool {
    let link = &mut *link;
    let context = Context(context);
    let mut open = || -> Outcome<()> {
        let subscriber = link.session.declare_subscriber(text(key)?).callback(move |sample| {
            let bytes = sample.payload().to_bytes();
            on_message(context.get(), sample.payload(), bytes.as_ptr(), bytes.len());
        });
        link.subscriber = Some(subscriber.wait()?);
        Ok(())
    };
    good(open())
}

/// Sends `size` bytes at `data`, which `fill` may write first. With shared memory, `fill` writes
/// into the shared memory.
///
/// # Safety
/// `link` came from `lab_zenoh_open` and has advertised.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_publish(
    link: *const Link, data: *mut u8, size: usize, fill: Fill, context: *mut c_void,
) -> bool {
    let link = &*link;
    let publisher = link.publisher.as_ref().expect("advertised");
    let send = || -> Outcome<()> {
        if let Some(memory) = &link.memory {
            let mut piece = memory.alloc(size).with_policy::<BlockOn<GarbageCollect>>().wait()?;
            fill(context, piece.as_mut_ptr());
            return publisher.put(piece).wait();
        }
        fill(context, data);
        publisher.put(std::slice::from_raw_parts(data, size)).wait()
    };
    good(send())
}

/// Forwards a received message within its callback, without a copy.
///
/// # Safety
/// `link` came from `lab_zenoh_open` and has advertised, and `message` is that of the callback.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_forward(link: *const Link, message: *const ZBytes) -> bool {
    let publisher = (*link).publisher.as_ref().expect("advertised");
    good(publisher.put((*message).clone()).wait())
}

/// # Safety
/// `link` came from `lab_zenoh_open` or is null. The function consumes it.
#[no_mangle]
pub unsafe extern "C" fn lab_zenoh_close(link: *mut Link) {
    if !link.is_null() {
        let link = *Box::from_raw(link);
        drop((link.publisher, link.subscriber));
        good(link.session.close().wait());
    }
}

/// Removes the segments of zenoh's shared memory that no living process has mapped. Some segments
/// outlive the process that created them.
#[no_mangle]
pub extern "C" fn lab_zenoh_sweep() {
    zenoh::shm::cleanup_orphaned_shm_segments();
}
