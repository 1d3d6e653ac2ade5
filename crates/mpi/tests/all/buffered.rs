// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffered sends: how many messages the attached buffer holds.

use crate::world;

use corecast_mpi::handle::{CommId, TypeId};
use corecast_mpi::{Attached, BSEND_OVERHEAD, Buffer, Class, Holder, Process, Result, SendMode};

const BYTES: usize = 1000;

fn of(bytes: &mut [u8; BYTES]) -> Buffer {
    Buffer {
        address: bytes.as_mut_ptr(),
        count: BYTES,
        datatype: TypeId::BYTE,
    }
}

fn bsend(process: &mut Process, message: &mut [u8; BYTES]) -> Result<()> {
    // A buffered send has copied the message when the call returns.
    let buffer = of(message);
    let sent = process.begin_send(buffer, 1, 3, CommId::WORLD, SendMode::Buffered);
    sent.map(|_| ())
}

#[test]
fn messages_under_way_share_the_attached_buffer() {
    let mut transports = world::transports(2, 1).into_iter();
    let mut process = || Process::new(Box::new(transports.next().expect("one for each rank")));
    let (mut sender, mut receiver) = (process(), process());
    let attached = Attached {
        address: std::ptr::null_mut(),
        bytes: 2 * (BYTES + BSEND_OVERHEAD),
    };
    let attached = sender.attach_buffer(Holder::Process, attached);
    attached.expect("there is none");
    let mut message = [7; BYTES];
    bsend(&mut sender, &mut message).expect("there is room for two");
    bsend(&mut sender, &mut message).expect("there is room for two");
    let error = bsend(&mut sender, &mut message).expect_err("there is no room for three");
    assert_eq!(error.class, Class::Buffer);
    assert_eq!(
        error.what,
        "a buffered message of 1000 bytes and 96 more do not fit into the attached buffer of 2192, of \
         which messages under way take 2192"
    );
    let mut got = [0; BYTES];
    let request = receiver.begin_recv(of(&mut got), 0, 3, CommId::WORLD);
    let mut request = request.expect("all is well");
    while receiver.poll(&mut request).expect("all is well").is_none() {
        sender.progress().expect("all is well");
        receiver.progress().expect("all is well");
    }
    assert_eq!(got, [7; BYTES]);
    bsend(&mut sender, &mut message).expect("one has gone");
}
