// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chakra traces in and out: every schedule of the registry keeps its messages, their sizes and its
//! slots; and, where `CORECAST_REFERENCE` names a folder with files of others, these.

use std::path::Path;

use corecast_core::{Collective, FlowControl, FullCrossbar, Request, algorithm, verify};
use corecast_exchange::{find_format, read};

#[test]
fn every_algorithm_keeps_its_messages() {
    let chakra = find_format("chakra").expect("in the list");
    let mut checked = 0;
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 4, 8] {
            let mut request = Request::new(algorithm.collective(), ranks, 64);
            request.tuning.flow_control = FlowControl::On;
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let files = chakra.write(&schedule).expect("it can be said").files;
            assert_eq!(files.len(), ranks as usize);
            let back = match read("it.0.et", files.concat(), None) {
                Ok(back) => back.schedule,
                Err(error) => panic!("{algorithm:?} {ranks}: {error}"),
            };
            let of = |schedule| {
                let certificate = verify(schedule, &FullCrossbar);
                assert_eq!(certificate.violations, [], "{algorithm:?} {ranks}");
                (
                    certificate.messages,
                    certificate.payload_bytes,
                    certificate.slots_needed,
                )
            };
            assert_eq!(of(&schedule), of(&back), "{algorithm:?} {ranks}");
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} schedules");
}

/// Any byte other: an error, another exchange, or something that changes nothing; never a panic.
#[test]
fn damage_is_no_panic() {
    let ring = algorithm::find(Collective::Allgather, "ring").expect("registered");
    let schedule = ring.schedule(&Request::new(Collective::Allgather, 3, 8));
    let chakra = find_format("chakra").expect("in the list");
    let whole = chakra
        .write(&schedule)
        .expect("it can be said")
        .files
        .concat();
    let mut refused = 0;
    for at in 0..whole.len() {
        for other in [0, 1, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = other;
            refused += u32::from(read("it.0.et", &damaged, Some(chakra)).is_err());
        }
        refused += u32::from(read("it.0.et", &whole[..at], Some(chakra)).is_err());
    }
    assert!(refused > 500, "{refused}");
}

/// A trace of one collective per rank.
#[test]
fn collectives_are_requests() {
    // Metadata with one attribute, then a node of type 7 with comm_type and comm_size.
    let attribute = |name: &str, number: u8| {
        let mut out = vec![
            10 << 3 | 2,
            name.len() as u8 + 4,
            1 << 3 | 2,
            name.len() as u8,
        ];
        out.extend(name.bytes());
        out.extend([9 << 3, number]);
        out
    };
    let mut node = vec![3 << 3, 7];
    node.extend(attribute("comm_type", 2));
    node.extend(attribute("comm_size", 64));
    let mut file = vec![4, 2 << 3 | 2, 2, 1 << 3 | 2, 0, node.len() as u8];
    file.extend(&node);
    let imported = read("coll.0.et", file.repeat(4), None).expect("a request");
    let certificate = verify(&imported.schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!(
        (certificate.collective, certificate.ranks),
        (Collective::Allgather, 4)
    );
    assert_eq!(imported.schedule.spec().bytes(), 64);
    assert!(
        imported.notes[0].contains("ring is taken"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn files_of_others_are_read() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let folder = Path::new(&reference).join("chakra");
    let mut all = Vec::new();
    for rank in 0..8 {
        let path = folder.join(format!("custom_allreduce.{rank}.et"));
        all.extend(std::fs::read(path).expect("readable"));
    }
    let imported = read("custom_allreduce.0.et", &all, None).expect("a trace");
    let certificate = verify(&imported.schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!((certificate.ranks, certificate.messages), (8, 112));
    assert_eq!(certificate.collective, Collective::Allreduce);
    assert!(imported.notes[0].contains("MSCCL"), "{:?}", imported.notes);
}
