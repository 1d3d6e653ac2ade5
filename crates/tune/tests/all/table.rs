// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as values: what is written is read again, merging keeps what was there, and any request
//! finds its cell.

use corecast_core::{Algorithm, Collective, ElementType, FlowControl, Request, algorithm};
use corecast_tune::{Cell, NUMBER_MAX, SIM, Setting, Table, Undecided};
use proptest::prelude::*;

fn setting(collective: Collective) -> Setting {
    Setting {
        corecast: "0.1.0".to_owned(),
        machine: SIM.to_owned(),
        chip: "test-bus".to_owned(),
        fingerprint: "0123456789abcdef".to_owned(),
        collective,
        root: collective.is_rooted().then_some(0),
        dtype: collective.is_reduction().then_some(ElementType::F32),
        fidelity: None,
        flow_control: FlowControl::Auto,
        status_bits: 2,
        arity: 3,
        algorithms: algorithm::of(collective).map(Algorithm::name).collect(),
    }
}

fn cell(ranks: u32, bytes: u64, algorithm: &'static str) -> Cell {
    Cell {
        ranks,
        bytes,
        algorithm,
        part_bytes: None,
        piece_bytes: None,
        cycles: Some(36.0),
        ns: 360.0,
    }
}

fn table(collective: Collective, cells: &[(u32, u64, &'static str)]) -> Table {
    let mut table = Table::new(setting(collective));
    for &(ranks, bytes, algorithm) in cells {
        table.insert(cell(ranks, bytes, algorithm));
    }
    table
}

fn any_setting() -> impl Strategy<Value = Setting> {
    let words = (
        "[ -~é\u{1}\n\"\\\\]{0,12}x",
        "[a-z0-9-]{1,20}",
        "[0-9a-f]{16}",
    );
    let choices = (
        0..Collective::ALL.len(),
        0..ElementType::ALL.len(),
        0..FlowControl::ALL.len(),
    );
    let numbers = (0..1_u32 << 20, 1..=10_u32, 2..u32::MAX);
    let fidelity = prop::option::of("flit|packet");
    (words, choices, numbers, fidelity).prop_map(|(words, choices, numbers, fidelity)| {
        let collective = Collective::ALL[choices.0];
        Setting {
            corecast: words.0,
            chip: words.1,
            fingerprint: words.2,
            root: collective.is_rooted().then_some(numbers.0),
            dtype: collective
                .is_reduction()
                .then_some(ElementType::ALL[choices.1]),
            fidelity,
            flow_control: FlowControl::ALL[choices.2].1,
            status_bits: numbers.1,
            arity: numbers.2,
            ..setting(collective)
        }
    })
}

fn any_table() -> impl Strategy<Value = Table> {
    let size = || prop::option::of(1..=NUMBER_MAX);
    let time = || prop_oneof![(0..NUMBER_MAX).prop_map(|ps| ps as f64 / 1e3), 0.0..1e15];
    let cell = (
        1..=1_u32 << 20,
        0..=NUMBER_MAX,
        any::<usize>(),
        size(),
        size(),
        prop::option::of(time()),
        time(),
    );
    (any_setting(), prop::collection::vec(cell, 0..20)).prop_map(|(setting, cells)| {
        let algorithms = setting.algorithms.clone();
        let mut table = Table::new(setting);
        for (ranks, bytes, algorithm, part_bytes, piece_bytes, cycles, ns) in cells {
            table.insert(Cell {
                ranks,
                bytes,
                algorithm: algorithms[algorithm % algorithms.len()],
                part_bytes,
                piece_bytes,
                cycles,
                ns,
            });
        }
        table
    })
}

/// Reads anything; a refusal must render to short clean text, an acceptance must be usable.
fn read(text: &str) {
    match Table::parse(text, "any.toml") {
        Ok(table) => {
            let again = Table::parse(&table.to_string(), "again.toml");
            assert_eq!(again.as_ref(), Ok(&table), "{text}");
            let request = Request::new(table.setting().collective, 8, 64);
            let _ = table.decide(&request);
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("any.toml"), "{message:?}");
            let is_clean = !message.chars().any(|c| c.is_control() && c != '\n');
            assert!(is_clean && message.len() < 4096, "{message:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(1000)
    })]

    #[test]
    fn what_is_written_is_read_again(table in any_table()) {
        let text = table.to_string();
        let again = Table::parse(&text, "table.toml");
        prop_assert_eq!(again, Ok(table), "{}", text);
    }

    #[test]
    fn the_parts_of_a_table_make_it_again(whole in any_table(), split in any::<u64>()) {
        let mut parts = [0, 1].map(|_| Table::new(whole.setting().clone()));
        for (index, cell) in whole.cells().enumerate() {
            parts[(split >> (index % 64) & 1) as usize].insert(cell.clone());
        }
        let [mut one, other] = parts;
        prop_assert_eq!(one.merge(other), Ok(()));
        prop_assert_eq!(one, whole);
    }

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn text_that_looks_like_toml(text in "([a-z]{0,3}[.=\\[\\]{}\"' \n0-9,#-]{0,4}){0,20}") {
        read(&text);
    }

    #[test]
    fn damaged_tables(
        table in any_table(),
        at in any::<prop::sample::Index>(),
        delete in 0..20_usize,
        insert in "[-0-9.einfa\"{}\\[\\]=,\n_ é]{0,8}",
    ) {
        let mut chars: Vec<char> = table.to_string().chars().collect();
        let start = at.index(chars.len());
        let end = (start + delete).min(chars.len());
        chars.splice(start..end, insert.chars());
        read(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn any_request_finds_its_nearest_cell(table in any_table(), ranks in 1..99_u32, bytes in 0..1_u64 << 40) {
        let nearest = table.nearest(ranks, bytes);
        prop_assert_eq!(nearest.len(), table.cells().count());
        let far = |cell: &Cell| {
            let log = |a: f64, b: f64| (a.max(1.0).log2() - b.max(1.0).log2()).abs();
            log(f64::from(cell.ranks), f64::from(ranks))
        };
        for pair in nearest.windows(2) {
            prop_assert!(far(pair[0]) <= far(pair[1]) + 1e-9);
        }
        if let Some(cell) = table.cells().next() {
            prop_assert_eq!(table.nearest(cell.ranks, cell.bytes)[0], cell);
        }
    }
}

#[test]
fn the_cell_itself_decides_where_there_is_one() {
    let table = table(
        Collective::Bcast,
        &[(8, 64, "linear"), (8, 128, "binomial"), (16, 64, "chain")],
    );
    let decide = |ranks, bytes| {
        let request = Request::new(Collective::Bcast, ranks, bytes);
        let decision = table.decide(&request).expect("decided");
        assert_eq!(decision.schedule.algorithm(), decision.cell.algorithm);
        decision.cell.algorithm
    };
    assert_eq!(decide(8, 64), "linear");
    assert_eq!(decide(8, 90), "linear");
    assert_eq!(decide(8, 91), "binomial");
    assert_eq!(decide(11, 1 << 20), "binomial");
    assert_eq!(decide(12, 1 << 20), "chain", "the rank count comes first");
}

/// On a logarithmic scale 12 is as near to 6 as to 24, and 64 bytes to 32 as to 128: the smaller
/// decides, of rank counts as of sizes.
#[test]
fn of_two_that_are_as_near_the_smaller_decides() {
    let names = ["linear", "binomial", "chain", "binary"];
    let cells = [(6, 32), (6, 128), (24, 32), (24, 128)];
    let cells = cells.into_iter().zip(names);
    let cells: Vec<_> = cells
        .map(|((ranks, bytes), name)| (ranks, bytes, name))
        .collect();
    let table = table(Collective::Bcast, &cells);
    let decide = |ranks, bytes| {
        let request = Request::new(Collective::Bcast, ranks, bytes);
        table.decide(&request).expect("decided").cell.algorithm
    };
    assert_eq!(decide(12, 64), "linear", "both are as near");
    assert_eq!(decide(12, 65), "binomial");
    assert_eq!(decide(13, 64), "chain");
    assert_eq!(decide(13, 65), "binary");
    let order = table.nearest(12, 64);
    let order: Vec<_> = order.iter().map(|cell| (cell.ranks, cell.bytes)).collect();
    assert_eq!(order, [(6, 32), (6, 128), (24, 32), (24, 128)]);
}

#[test]
fn cells_that_cannot_serve_are_passed() {
    let table = table(
        Collective::Allgather,
        &[(8, 64, "recursive-doubling"), (32, 64, "ring")],
    );
    let request = Request::new(Collective::Allgather, 6, 64);
    let decision = table.decide(&request).expect("decided");
    assert_eq!(decision.cell.algorithm, "ring");
    let (passed, why) = &decision.passed[0];
    assert_eq!(passed.ranks, 8);
    assert!(why.to_string().contains("power of two"), "{why}");
}

#[test]
fn without_a_cell_that_serves_nothing_is_decided() {
    let empty = table(Collective::Allgather, &[]);
    let request = Request::new(Collective::Allgather, 6, 64);
    assert_eq!(empty.decide(&request).err(), Some(Undecided::Empty));
    let strict = table(Collective::Allgather, &[(8, 64, "recursive-doubling")]);
    let refused = strict.decide(&request).expect_err("refused").to_string();
    assert!(refused.contains("power of two"), "{refused}");
}

#[test]
fn tables_of_other_settings_are_not_merged() {
    let mut ours = table(Collective::Bcast, &[(8, 64, "linear")]);
    let other = Setting {
        fingerprint: "fedcba9876543210".to_owned(),
        ..setting(Collective::Bcast)
    };
    let refused = ours.merge(Table::new(other)).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "the table holds for something else: fingerprint is \"fedcba9876543210\", not \
         \"0123456789abcdef\""
    );
}

/// Times that were found in another setting are other times: whatever differs, and be it only how
/// exactly the mesh was simulated, keeps two tables apart and is named. Only the chip's name may
/// differ, whose fingerprint says what it is.
#[test]
fn every_part_of_a_setting_keeps_tables_apart() {
    let reduce = setting(Collective::Reduce);
    let differs = |change: &dyn Fn(&mut Setting)| {
        let mut theirs = reduce.clone();
        change(&mut theirs);
        let mut ours = Table::new(reduce.clone());
        let mut other = Table::new(theirs);
        other.insert(cell(8, 64, "linear"));
        let refused = ours.merge(other).err().map(|error| error.difference.key);
        assert_eq!(ours.cells().count(), usize::from(refused.is_none()));
        refused
    };
    assert_eq!(
        differs(&|theirs| theirs.corecast.push('x')),
        Some("corecast")
    );
    assert_eq!(
        differs(&|theirs| theirs.fingerprint.push('0')),
        Some("fingerprint")
    );
    assert_eq!(differs(&|theirs| theirs.root = Some(1)), Some("root"));
    assert_eq!(
        differs(&|theirs| theirs.dtype = Some(ElementType::I64)),
        Some("dtype")
    );
    for fidelity in ["flit", "packet"] {
        let fidelity = Some(fidelity.to_owned());
        let refused = differs(&|theirs| theirs.fidelity.clone_from(&fidelity));
        assert_eq!(refused, Some("fidelity"));
    }
    assert_eq!(
        differs(&|theirs| theirs.flow_control = FlowControl::Off),
        Some("flow_control")
    );
    assert_eq!(
        differs(&|theirs| theirs.status_bits += 1),
        Some("status_bits")
    );
    assert_eq!(differs(&|theirs| theirs.arity += 1), Some("arity"));
    assert_eq!(
        differs(&|theirs| theirs.algorithms.truncate(1)),
        Some("algorithms")
    );
    assert_eq!(differs(&|theirs| theirs.chip.push('x')), None);
    let two = |fidelity: &str| Setting {
        fidelity: Some(fidelity.to_owned()),
        ..reduce.clone()
    };
    let refused = Table::new(two("flit")).merge(Table::new(two("packet")));
    assert_eq!(refused.expect_err("refused").difference.key, "fidelity");
}

#[test]
fn merging_keeps_what_was_there() {
    let mut ours = table(Collective::Bcast, &[(8, 64, "linear")]);
    let mut theirs = Table::new(Setting {
        chip: "the same by another name".to_owned(),
        ..setting(Collective::Bcast)
    });
    theirs.insert(cell(8, 64, "chain"));
    theirs.insert(cell(4, 64, "chain"));
    assert_eq!(ours.merge(theirs), Ok(()));
    let names: Vec<_> = ours.cells().map(|cell| cell.algorithm).collect();
    assert_eq!(names, ["chain", "linear"]);
}
