//! iceoryx2 behind the four C functions that the C++ laboratory calls. The same code therefore
//! starts, times and counts this peer and all others. Publish-subscribe carries loaned slices, and
//! a separate event service wakes the subscriber. Nothing polls.
//!
//! Threads: use a handle from one thread at a time.

use iceoryx2::prelude::*;
use std::error::Error;
use std::ffi::{c_char, c_void, CStr};

type Fill = extern "C" fn(context: *mut c_void, data: *mut u8);
type OnMessage = extern "C" fn(context: *mut c_void, data: *const u8, size: usize);
type Data = iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u8], ()>;
type Wake = iceoryx2::service::port_factory::event::PortFactory<ipc::Service>;

/// The services of one edge. Both sides must request the same settings.
struct Edge {
    data: Data,
    wake: Wake,
    _node: Node<ipc::Service>,
}

impl Edge {
    fn open(name: *const c_char, depth: usize, publishers: usize, subscribers: usize, block: bool) -> Result<Self, Box<dyn Error>> {
        set_log_level(LogLevel::Error);
        let name = unsafe { CStr::from_ptr(name) }.to_str()?;
        let node = NodeBuilder::new()
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<ipc::Service>()?;
        let data = node
            .service_builder(&name.try_into()?)
            .publish_subscribe::<[u8]>()
            .enable_safe_overflow(!block)
            .subscriber_max_buffer_size(depth)
            .max_subscribers(subscribers)
            .max_publishers(publishers)
            .open_or_create()?;
        let wake = node
            .service_builder(&name.try_into()?)
            .event()
            .max_notifiers(publishers)
            .max_listeners(subscribers)
            .open_or_create()?;
        Ok(Self { data, wake, _node: node })
    }
}

pub struct Publisher {
    port: iceoryx2::port::publisher::Publisher<ipc::Service, [u8], ()>,
    notifier: iceoryx2::port::notifier::Notifier<ipc::Service>,
    _edge: Edge,
}

pub struct Subscriber {
    port: iceoryx2::port::subscriber::Subscriber<ipc::Service, [u8], ()>,
    listener: iceoryx2::port::listener::Listener<ipc::Service>,
    _edge: Edge,
}

fn boxed<T>(made: Result<T, Box<dyn Error>>) -> *mut T {
    match made {
        Ok(value) => Box::into_raw(Box::new(value)),
        Err(error) => {
            eprintln!("iceoryx2: {error}");
            std::ptr::null_mut()
        }
    }
}

/// Returns null on failure. `size` is the largest message, in bytes.
#[no_mangle]
pub extern "C" fn lab_iox2_open_publisher(
    name: *const c_char, size: usize, depth: usize, publishers: usize, subscribers: usize, block: bool,
) -> *mut Publisher {
    let open = || -> Result<Publisher, Box<dyn Error>> {
        let edge = Edge::open(name, depth, publishers, subscribers, block)?;
        let strategy = match block {
            true => BackpressureStrategy::RetryUntilDelivered,
            false => BackpressureStrategy::DiscardData,
        };
        let port = edge
            .data
            .publisher_builder()
            .initial_max_slice_len(size)
            .backpressure_strategy(strategy)
            .create()?;
        let notifier = edge.wake.notifier_builder().create()?;
        Ok(Publisher { port, notifier, _edge: edge })
    };
    boxed(open())
}

/// Returns null on failure.
#[no_mangle]
pub extern "C" fn lab_iox2_open_subscriber(
    name: *const c_char, depth: usize, publishers: usize, subscribers: usize, block: bool,
) -> *mut Subscriber {
    let open = || -> Result<Subscriber, Box<dyn Error>> {
        let edge = Edge::open(name, depth, publishers, subscribers, block)?;
        let port = edge.data.subscriber_builder().create()?;
        let listener = edge.wake.listener_builder().create()?;
        Ok(Subscriber { port, listener, _edge: edge })
    };
    boxed(open())
}

/// Loans a slice, lets `fill` write into it, sends it and wakes the subscribers.
///
/// # Safety
/// `publisher` came from `lab_iox2_open_publisher`.
#[no_mangle]
pub unsafe extern "C" fn lab_iox2_publish(
    publisher: *mut Publisher, size: usize, fill: Fill, context: *mut c_void,
) -> bool {
    let publisher = &*publisher;
    let send = || -> Result<(), Box<dyn Error>> {
        let mut sample = publisher.port.loan_slice_uninit(size)?;
        fill(context, sample.payload_mut().as_mut_ptr().cast());
        // Bytes of any value are valid, and the segment is zeroed by the kernel.
        sample.assume_init().send()?;
        publisher.notifier.notify()?;
        Ok(())
    };
    match send() {
        Ok(()) => true,
        Err(error) => {
            eprintln!("iceoryx2: {error}");
            false
        }
    }
}

/// Blocks until woken, then delivers every available sample. Returns false if the wait was
/// interrupted.
///
/// # Safety
/// `subscriber` came from `lab_iox2_open_subscriber`.
#[no_mangle]
pub unsafe extern "C" fn lab_iox2_receive(
    subscriber: *mut Subscriber, on_message: OnMessage, context: *mut c_void,
) -> bool {
    let subscriber = &*subscriber;
    if subscriber.listener.blocking_wait(|_| ()).is_err() {
        return false;
    }
    while let Ok(Some(sample)) = subscriber.port.receive() {
        let bytes = sample.payload();
        on_message(context, bytes.as_ptr(), bytes.len());
    }
    true
}

/// # Safety
/// `publisher` came from `lab_iox2_open_publisher` or is null. The function consumes it.
#[no_mangle]
pub unsafe extern "C" fn lab_iox2_close_publisher(publisher: *mut Publisher) {
    if !publisher.is_null() {
        drop(Box::from_raw(publisher));
    }
}

/// # Safety
/// `subscriber` came from `lab_iox2_open_subscriber` or is null. The function consumes it.
#[no_mangle]
pub unsafe extern "C" fn lab_iox2_close_subscriber(subscriber: *mut Subscriber) {
    if !subscriber.is_null() {
        drop(Box::from_raw(subscriber));
    }
}
