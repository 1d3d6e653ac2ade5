// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules for MPI libraries: their texts, and that they decide as tables do.

use corecast_core::Help as _;
use corecast_tune::{Library, Table, Tables};

/// A table of a broadcast over some ranks and sizes, whose winners are these in turn.
fn table(collective: &str, keys: &str, winners: &[(u32, u64, &str)]) -> Tables {
    let mut names: Vec<&str> = winners.iter().map(|&(_, _, name)| name).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = format!(
        "format = 1\ncorecast = \"0.1.0\"\ncollective = \"{collective}\"\nchip = \"host\"\n\
         fingerprint = \"0123456789abcdef\"\n{keys}flow_control = \"auto\"\nstatus_bits = 2\n\
         arity = 3\nalgorithms = {names:?}\n"
    );
    for (ranks, bytes, name) in winners {
        text += &format!(
            "[[cell]]\nranks = {ranks}\nbytes = {bytes}\nalgorithm = \"{name}\"\nns = 1\n"
        );
    }
    Tables::one("it.toml", Table::parse(&text, "it.toml").expect("a table"))
}

const BCAST: [(u32, u64, &str); 5] = [
    (4, 64, "linear"),
    (4, 1024, "binomial"),
    (4, 65536, "van-de-geijn"),
    (16, 64, "binomial"),
    (16, 1024, "binomial"),
];

#[test]
fn open_mpi_reads_numbers() {
    let rules = Library::OpenMpi.rules(&table("bcast", "root = 0\n", &BCAST));
    let rules = rules.expect("it has them");
    assert_eq!(
        rules.text,
        "# Rules for Open MPI's coll_tuned, from decision tables of corecast\n\
         1 # collectives\n\
         7 # bcast\n\
         2 # numbers of ranks\n\
         0 # ranks and more\n\
         3 # sizes\n\
         0 1 0 0 # basic_linear\n\
         257 6 0 0 # binomial\n\
         8193 9 0 0 # scatter_allgather_ring\n\
         9 # ranks and more\n\
         1 # sizes\n\
         0 6 0 0 # binomial\n"
    );
    assert_eq!(rules.notes, [""; 0]);
}

#[test]
fn mpich_reads_questions() {
    let rules = Library::Mpich.rules(&table("bcast", "root = 0\n", &BCAST));
    let rules = rules.expect("it has some");
    let wanted = "\
  \"collective=bcast\": {
    \"comm_type=intra\": {
      \"comm_size<=8\": {
        \"avg_msg_size<=8192\": {\"algorithm=MPIR_Bcast_intra_binomial\": {}},
        \"avg_msg_size=any\": {\"algorithm=MPIR_Bcast_intra_scatter_ring_allgather\": {}}
      },
      \"comm_size=any\": {\"algorithm=MPIR_Bcast_intra_binomial\": {}}
    },
    \"comm_type=inter\": {\"algorithm=MPIR_Bcast_inter_remote_send_local_bcast\": {}}
  }";
    assert!(rules.text.contains(wanted), "{}", rules.text);
    assert!(
        rules.notes[0].contains("linear as it is in 1 cell of bcast"),
        "{:?}",
        rules.notes
    );
    assert_eq!(rules.text.matches("\"collective=").count(), 34 + 10);
    assert_eq!(
        rules.text.matches('{').count(),
        rules.text.matches('}').count()
    );
}

/// For every size the rule of Open MPI is that of the cell that the table would take.
#[test]
fn rules_decide_as_tables_do() {
    let tables = table("bcast", "root = 0\n", &BCAST);
    let text = Library::OpenMpi.rules(&tables).expect("it has them").text;
    let (_, table) = tables.all().next().expect("one");
    // Of four ranks: the lines behind `0 # ranks and more`.
    let lines = text.lines().skip(6).take(3);
    let rules: Vec<(u64, &str)> = lines
        .map(|line| {
            let (from, _) = line.split_once(' ').expect("a rule");
            (
                from.parse().expect("a size"),
                line.rsplit(' ').next().expect("a name"),
            )
        })
        .collect();
    for bytes in (0..20_000).chain([65_536, 1 << 30]) {
        let cell = table.nearest(4, bytes)[0];
        let rule = rules
            .iter()
            .rfind(|(from, _)| *from <= bytes)
            .expect("from 0 on");
        let name = match cell.algorithm {
            "linear" => "basic_linear",
            "binomial" => "binomial",
            _ => "scatter_allgather_ring",
        };
        assert_eq!(rule.1, name, "{bytes}");
    }
}

#[test]
fn blocks_are_counted_together() {
    let winners = [(8, 16, "bruck"), (8, 1024, "ring")];
    let tables = table("allgather", "", &winners);
    let text = Library::OpenMpi.rules(&tables).expect("it has them").text;
    assert!(
        text.ends_with("0 2 0 0 # bruck\n1032 4 0 0 # ring\n"),
        "{text}"
    );
    let text = Library::Mpich.rules(&tables).expect("it has them").text;
    assert!(text.contains("\"total_msg_size<=1031\""), "{text}");
}

#[test]
fn segments_are_parts() {
    let text = "format = 1\ncorecast = \"0.1.0\"\ncollective = \"bcast\"\nchip = \"host\"\n\
                fingerprint = \"0123456789abcdef\"\nroot = 0\nflow_control = \"auto\"\n\
                status_bits = 2\narity = 3\nalgorithms = [\"pipelined\"]\n\
                [[cell]]\nranks = 4\nbytes = 64\nalgorithm = \"pipelined\"\npart_bytes = 32\nns = 1\n";
    let parse =
        |text: &str| Tables::one("it.toml", Table::parse(text, "it.toml").expect("a table"));
    let rules = Library::OpenMpi.rules(&parse(text)).expect("it has it");
    assert!(
        rules.text.ends_with("0 3 0 32 # pipeline\n"),
        "{}",
        rules.text
    );
    let without = text.replace("part_bytes = 32\n", "");
    let refused = Library::OpenMpi
        .rules(&parse(&without))
        .expect_err("no segment");
    assert_eq!(
        refused.to_string(),
        "Open MPI has none of the algorithms in these tables"
    );
    assert!(
        refused
            .help()
            .contains("Open MPI has for bcast: linear, chain"),
        "{}",
        refused.help()
    );
}
