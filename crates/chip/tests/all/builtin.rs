// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every built-in chip must satisfy, and what the two papers say about theirs.

use std::fs;
use std::path::Path;

use corecast_chip::{
    BUILTIN, Chip, Clock, EndpointSpec, NetworkSpec, NoBackground, Provenance, builtin_names, find,
    find_changed,
};
use corecast_core::{Rank, Routes as _};

fn chips() -> impl Iterator<Item = Chip> {
    assert!(!BUILTIN.is_empty());
    builtin_names().map(|name| Chip::builtin(name).expect("a listed chip exists"))
}

#[test]
fn every_file_in_the_folder_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.into_string().expect("UTF-8"))
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    files.sort();
    let listed: Vec<_> = builtin_names().collect();
    assert_eq!(
        files, listed,
        "add the missing files to `BUILTIN`, in this order"
    );
}

#[test]
fn names_in_list_and_file_agree() {
    for (chip, name) in chips().zip(builtin_names()) {
        assert_eq!(chip.name, name);
    }
    assert_eq!(Chip::builtin("none"), None);
}

#[test]
fn every_number_has_a_source_and_is_listed() {
    for (chip, (name, text)) in chips().zip(BUILTIN) {
        let mut seen = Vec::new();
        for parameter in chip.parameters() {
            assert!(
                !parameter.source.trim().is_empty(),
                "{name}: {}",
                parameter.key
            );
            let is_fitted = parameter.kind == Provenance::Fitted;
            assert_eq!(
                parameter.fitted_to.is_some(),
                is_fitted,
                "{name}: {}",
                parameter.key
            );
            seen.push(parameter.key);
        }
        // In file order: the n-th number of the file is the n-th parameter.
        let written: Vec<_> = text
            .lines()
            .filter_map(|line| Some(line.split_once(" = { value")?.0))
            .collect();
        if text.contains("\nbase = ") {
            continue; // it says only what differs
        }
        let keys: Vec<_> = seen.iter().map(|path| path.rsplit('.').next()).collect();
        assert_eq!(
            keys,
            written.into_iter().map(Some).collect::<Vec<_>>(),
            "{name}"
        );
        let counted: usize = Provenance::ALL.iter().map(|&kind| chip.count(kind)).sum();
        assert_eq!(counted, seen.len());
    }
}

#[test]
fn every_chip_can_be_used_in_a_request() {
    for chip in chips() {
        let mut request = corecast_core::Request::new(corecast_core::Collective::Bcast, 4, 64);
        request.platform = chip.platform(4);
        assert_eq!(request.check(), Ok(()));
        let routes = chip.routes(4);
        let mut links = Vec::new();
        routes.visit_links(Rank(1), Rank(2), &mut |link| {
            links.push(routes.describe(link))
        });
        let (first, last) = (&links[0], &links[links.len() - 1]);
        assert!(
            first.ends_with("of rank 1") && last.ends_with("of rank 2"),
            "{links:?}"
        );
    }
}

/// Command, order, request, ready, complete, notify, queue depth, combine.
fn mpe_numbers(chip: &Chip) -> [u64; 8] {
    let EndpointSpec::Mpe(mpe) = chip.endpoint() else {
        panic!("{} has an MPE", chip.name);
    };
    [
        mpe.command_cycles,
        mpe.order_cycles,
        mpe.request_cycles,
        mpe.ready_cycles,
        mpe.complete_cycles,
        mpe.notify_cycles,
        u64::from(mpe.queue_depth),
        mpe.combine_cycles_per_word,
    ]
}

#[test]
fn park_is_as_published() {
    let chip = find("park2019-bus").expect("is built in");
    let bus = Clock {
        name: "bus".into(),
        period_ps: 10_000,
    };
    assert_eq!((chip.reference_clock(), chip.cores_max()), (&bus, 32));
    assert_eq!(mpe_numbers(&chip), [1, 1, 1, 1, 1, 4, 16, 1]);
    let NetworkSpec::Crossbar(crossbar) = chip.network() else {
        panic!("a crossbar");
    };
    assert_eq!((&crossbar.clock, crossbar.width_bytes), (&bus, 4));
    let cost = chip.platform(1).link_cost;
    assert_eq!((cost.sync_cycles, cost.cycles_per_byte), (8.0, 0.25));
}

#[test]
fn chung_is_as_published() {
    let chip = find("chung2011-bus").expect("is built in");
    assert_eq!(
        (chip.reference_clock().period_ps, chip.cores_max()),
        (5_000, 16)
    );
    assert_eq!(mpe_numbers(&chip), [1, 1, 1, 1, 1, 7, 16, 1]);
    assert_eq!(chip.platform(1).link_cost.sync_cycles, 11.0);
}

#[test]
fn a_file_is_found_by_its_path() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../chips/park2019-bus.toml");
    let chip = find(path.to_str().expect("UTF-8")).expect("valid");
    assert_eq!(Some(chip), Chip::builtin("park2019-bus"));
}

/// Traffic of others needs a mesh, and a queue beside the two that messages take.
#[test]
fn chips_say_why_they_take_no_background_traffic() {
    let bus = find("park2019-bus").expect("is built in");
    assert_eq!(bus.takes_background(), Err(NoBackground::NoMesh));
    for (queues, taken) in [("3", Ok(())), ("2", Err(NoBackground::TwoQueues))] {
        let change = ("endpoint.queues".to_owned(), queues.to_owned());
        let chip = find_changed("tilepro64", &[change]).expect("is valid");
        assert_eq!(chip.takes_background(), taken, "{queues} queues");
    }
}

/// Each word of a long message takes as long as the slowest part of its way, not the fastest.
#[test]
fn a_byte_costs_what_the_slowest_part_of_its_way_takes() {
    let cost = |more: &str| {
        let text = format!(
            "name = \"slow\"\nbase = \"booksim-mesh\"\nsummary = \"a\"\nsource = \"a test\"\n{more}"
        );
        let chip = Chip::parse(&text, "slow.toml").expect("valid");
        chip.platform(2).link_cost.cycles_per_byte
    };
    let number = |key: &str, value: u32, unit: &str| {
        format!(
            "{key} = {{ value = {value}, unit = \"{unit}\", kind = \"assumed\", source = \"a test\" }}\n"
        )
    };
    // Flits of 16 bytes.
    assert_eq!(cost(""), 1.0 / 16.0);
    let links = format!(
        "[clocks.slow]\n{}[network]\nlink_clock = \"slow\"\n{}",
        number("period", 4, "ns"),
        number("buffer", 64, "flits")
    );
    assert_eq!(cost(&links), 4.0 / 16.0);
    for end in ["inject", "extract"] {
        let end = format!("[endpoint]\n{}", number(end, 3, "cycles/word"));
        assert_eq!(cost(&end), 3.0 / 16.0, "{end}");
    }
}
