// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of MSCCL files as runtimes take them: what waits, what receives and combines in one, and what
//! they refuse.

use corecast_core::{FullCrossbar, Schedule, verify};
use corecast_exchange::{find_format, read, repair};

/// Rank 1 passes on what it gets in two streams, one of which waits for a wait of the other.
const WAITS: &str = "\
corecast schedule 1
collective bcast
algorithm w
ranks 4
root 0
bytes 8
slots 1
rank 0
  send 1 [0]
rank 1
  a: recv 0 [0]
rank 1 stream 1
  w: wait after a
  send 2 [0]
  wait after a
rank 1 stream 2
  send 3 [0] after w
rank 1 stream 3
  wait after w
rank 2
  recv 1 [0]
rank 3
  recv 1 [0]
";

/// What arrives comes behind what rank 0 has sent, and so does what its second thread block writes.
const ORDERED: &str = r#"<algo name="t" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce" inplace="0" outofplace="1" minBytes="0" maxBytes="0">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
<tb id="0" send="1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="1" chan="0">
<step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
<gpu id="1" i_chunks="1" o_chunks="1" s_chunks="1">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="r" srcbuf="s" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="3" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>
"#;

fn import(text: &str) -> Schedule {
    read("it", text, None).expect("a file").schedule
}

fn export(schedule: &Schedule) -> String {
    let msccl = find_format("msccl").expect("in the list");
    let exported = msccl.write(schedule).expect("it can be said");
    exported.text().expect("text").to_owned()
}

/// What a reader notes beside what a schedule does not say.
fn notes(text: &str) -> Vec<String> {
    let notes = read("it", text, None).expect("still a file").notes;
    let new = notes.into_iter();
    new.filter(|note| !note.starts_with("a schedule does not"))
        .collect()
}

/// The only note.
fn noted(text: &str, begin: &str) {
    let notes = notes(text);
    assert!(
        notes.len() == 1 && notes[0].starts_with(begin),
        "{begin}: {notes:?}"
    );
}

fn certify(text: &str) -> (Vec<String>, Option<u32>) {
    let certificate = verify(&import(text), &FullCrossbar);
    let wrong = certificate.violations.iter().map(ToString::to_string);
    (wrong.collect(), certificate.slots_needed)
}

/// A broadcast of two chunks.
fn pair() -> String {
    let step = |number, kind| {
        format!(
            "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{number}\" dstbuf=\"i\" \
             dstoff=\"{number}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
        )
    };
    let gpu = |rank, ends, kind| {
        format!(
            "<gpu id=\"{rank}\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"0\">\n\
             <tb id=\"0\" {ends} chan=\"0\">\n{}{}</tb></gpu>\n",
            step(0, kind),
            step(1, kind)
        )
    };
    format!(
        "<algo name=\"t\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" \
         coll=\"broadcast\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">\n{}{}</algo>",
        gpu(0, "send=\"1\" recv=\"-1\"", "s"),
        gpu(1, "send=\"-1\" recv=\"0\"", "r")
    )
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn waits_are_on_steps_that_move_data() {
    let schedule = import(WAITS);
    assert!(verify(&schedule, &FullCrossbar).is_correct());
    let written = export(&schedule);
    assert!(!written.contains("nop"), "{written}");
    let waits = written.matches("depid=\"0\" deps=\"0\"").count();
    assert_eq!(waits, 2, "{written}");
    assert_eq!(written.matches("hasdep=\"1\"").count(), 1, "{written}");
    assert_eq!(written.matches("<tb").count(), 6, "{written}");
    assert_eq!(notes(&written), [""; 0]);
    assert_eq!(certify(&written), (Vec::new(), Some(0)));
}

/// A wait for a wait is one for the step before it, too.
#[test]
fn who_waits_for_a_wait_waits_for_what_is_before_it() {
    let text = WAITS.replace("  send 2 [0]\n  wait after a\n", "  send 2 [0]\n");
    let text = text.replace(
        "  w: wait after a\n  send 2 [0]\n",
        "  send 2 [0] after a\n  w: wait\n",
    );
    let written = export(&import(&text));
    assert!(!written.contains("nop"), "{written}");
    assert!(written.contains("depid=\"1\" deps=\"0\""), "{written}");
    assert_eq!(certify(&written), (Vec::new(), Some(0)));
}

#[test]
fn several_waits_come_before_the_step_of_the_last() {
    let text = WAITS.replace(
        "rank 2\n",
        "rank 1 stream 4\n  send 2 [0] after w, b\nrank 2\n",
    );
    let text = text.replace("  send 3 [0] after w", "  b: send 3 [0] after w");
    let text = text.replace("  recv 1 [0]\nrank 3", "  recv 1 [0]\n  recv 1 [0]\nrank 3");
    let written = export(&import(&text));
    assert_eq!(written.matches("nop").count(), 1, "{written}");
    assert_eq!(notes(&written), [""; 0], "{written}");
}

#[test]
fn waits_in_a_circle_are_not_written() {
    let text = WAITS.replace("  w: wait after a\n", "  w: wait after v\n");
    let text = text.replace("  wait after w\n", "  v: wait after w\n");
    let msccl = find_format("msccl").expect("in the list");
    let error = msccl.write(&import(&text)).expect_err("no end");
    assert_eq!(error.what, "waits that wait for each other");
}

/// It is written when the message is there, and not before.
#[test]
fn the_target_of_a_combining_receive_is_written_when_the_message_is_there() {
    let same = changed(
        ORDERED,
        "type=\"rrc\" srcbuf=\"i\"",
        "type=\"rrc\" srcbuf=\"o\"",
    );
    for text in [ORDERED, &same] {
        assert_eq!(certify(text).0, [""; 0], "{text}");
        let written = export(&import(text));
        assert!(import(&written) == import(text), "{written}");
        let steps = |text: &str| text.matches("<step").count();
        assert_eq!(steps(&written), steps(text), "{written}");
    }
}

/// The same of one that passes on.
#[test]
fn the_target_of_a_combining_forward_is_written_when_the_message_is_there() {
    let text = ORDERED
        .replace("recv=\"1\" chan=\"0\"", "recv=\"1\" chan=\"1\"")
        .replace("<tb id=\"1\" send=\"-1\"", "<tb id=\"1\" send=\"1\"")
        .replace("type=\"rrc\"", "type=\"rrcs\"");
    let (head, tail) = text
        .split_once("<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">")
        .expect("gpu 1");
    let copies = tail.find("<step s=\"2\"").expect("a copy");
    let (first, _) = tail.split_at(copies);
    let first = first.replace("srcoff=\"0\" dstbuf=\"i\"", "srcoff=\"0\" dstbuf=\"o\"");
    let first = first.replacen(
        "<step s=\"1\"",
        "</tb><tb id=\"1\" send=\"0\" recv=\"0\" chan=\"1\">\n<step s=\"0\"",
        1,
    );
    let first = first.replacen(
        "depid=\"-1\" deps=\"-1\" hasdep=\"0\"",
        "depid=\"-1\" deps=\"-1\" hasdep=\"1\"",
        1,
    );
    let (receive, send) = first.split_once("</tb>").expect("two");
    let send = send.replacen("depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"", 1);
    let last = "<step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" \
                depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb></gpu></algo>";
    let start = "<tb id=\"0\" send=\"-1\" recv=\"0\" chan=\"0\">";
    let text = format!("{head}{start}{receive}</tb>{send}{last}");
    assert_eq!(certify(&text), (Vec::new(), Some(0)), "{text}");
}

/// What is written again has as many steps as before, and the same buffers.
#[test]
fn combining_receives_stay_one_step() {
    for kind in ["rrc", "rrcs"] {
        let text = match kind {
            "rrc" => both_sides(2),
            _ => ring(),
        };
        let before: Vec<&str> = text.lines().filter(|line| line.contains(kind)).collect();
        assert!(!before.is_empty(), "{kind}");
        let msccl = find_format("msccl").expect("in the list");
        let repaired = repair(msccl, text.as_bytes(), &import(&text)).expect("it can be said");
        let repaired = repaired.expect("it is correct").exported;
        let repaired = repaired.text().expect("text");
        assert_eq!(certify(&text), certify(repaired), "{repaired}");
        let (first, others) = repaired.split_once('\n').expect("lines");
        assert!(text.ends_with(others), "{repaired}");
        assert!(first.contains("minBytes=\"0\""), "{first}");
        assert_eq!(notes(repaired), [""; 0]);
        let written = export(&import(&text));
        let after = written.lines().filter(|line| line.contains(kind));
        let after: Vec<&str> = after.map(str::trim).collect();
        assert_eq!(after, before, "{written}");
        let steps = |text: &str| text.matches("<step").count();
        assert_eq!(steps(&written), steps(&text), "{written}");
    }
}

fn step(number: u32, kind: &str, from: (char, u32), to: (char, u32)) -> String {
    format!(
        "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" \
         dstoff=\"{}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

fn allreduce(ranks: u32, chunks: u32, blocks: &[(u32, u32, String)]) -> String {
    let gpus = (0..).zip(blocks).map(|(rank, (send, recv, steps))| {
        format!(
            "<gpu id=\"{rank}\" i_chunks=\"{chunks}\" o_chunks=\"{chunks}\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{send}\" recv=\"{recv}\" chan=\"0\">\n{steps}</tb>\n</gpu>\n"
        )
    });
    format!(
        "<algo name=\"t\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{chunks}\" \
         ngpus=\"{ranks}\" coll=\"allreduce\" inplace=\"0\" outofplace=\"1\">\n{}</algo>\n",
        gpus.collect::<String>()
    )
}

/// Two ranks that send each other all, and combine it with what they have into the output.
fn both_sides(chunks: u32) -> String {
    let steps = (0..chunks).map(|at| {
        let send = step(2 * at, "s", ('i', at), ('i', at));
        send + &step(2 * at + 1, "rrc", ('i', at), ('o', at))
    });
    let steps: String = steps.collect();
    allreduce(2, chunks, &[(1, 1, steps.clone()), (0, 0, steps)])
}

/// A ring of three, of one chunk.
fn ring() -> String {
    let (i, o) = (('i', 0), ('o', 0));
    let first = step(0, "s", i, i) + &step(1, "rcs", o, o);
    let blocks = [
        (1, 2, first),
        (2, 0, step(0, "rrs", i, o) + &step(1, "r", o, o)),
        (0, 1, step(0, "rrcs", i, o)),
    ];
    allreduce(3, 1, &blocks)
}

#[test]
fn what_runtimes_refuse_is_noted_with_its_line() {
    let good = pair();
    assert_eq!(notes(&good), [""; 0]);
    let own = changed(&good, "recv=\"-1\"", "recv=\"0\"");
    noted(
        &own,
        "line 3: runtimes refuse a thread block that sends to its own gpu",
    );
    let few = changed(&good, "i_chunks=\"2\"", "i_chunks=\"1\"");
    noted(&few, "line 5: what is beyond i_chunks");
    let other = changed(&good, "Simple", "Sipmle");
    noted(&other, "line 1: runtimes know no protocol `Sipmle`");
    let empty = good.replace(
        "minBytes=\"0\" maxBytes=\"0\"",
        "minBytes=\"9\" maxBytes=\"8\"",
    );
    noted(
        &empty,
        "line 1: no call has from minBytes=9 to maxBytes=8 bytes",
    );
    let any = good.replace("minBytes=\"0\"", "minBytes=\"9\"");
    assert_eq!(notes(&any), [""; 0], "0 is no upper end");
    let without = good.replace(" proto=\"Simple\"", "");
    noted(
        &without,
        "RCCL and the MSCCL executor refuse a file without proto",
    );
}

#[test]
fn waits_that_runtimes_do_not_carry_out_are_noted() {
    let written = export(&import(WAITS));
    let last = written.rfind("depid=\"0\" deps=\"0\"").expect("a wait");
    let line = 1 + written[..last].matches('\n').count();
    // The step is another one to runtimes than to the file.
    let other = changed(
        &written,
        "<step s=\"0\" type=\"r\"",
        "<step s=\"5\" type=\"r\"",
    );
    let other = other.replace("depid=\"0\" deps=\"0\"", "depid=\"0\" deps=\"5\"");
    noted(
        &other,
        "line 12, and 1 more: it waits for a step that has another number",
    );
    let nop = "<step s=\"0\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" \
               depid=\"0\" deps=\"0\" hasdep=\"1\"/><step s=\"1\" type=\"s\"";
    let (before, behind) = written
        .split_once("depid=\"0\" deps=\"0\"")
        .expect("a wait");
    let (before, step) = before
        .rsplit_once("<step s=\"0\" type=\"s\"")
        .expect("its step");
    let loose = format!("{before}{nop}{step}depid=\"-1\" deps=\"-1\"{behind}");
    noted(
        &loose,
        "line 12: runtimes refuse a step that waits for nothing behind a `nop`",
    );
    let chained = format!("{before}{nop}{step}depid=\"0\" deps=\"0\"{behind}");
    assert_eq!(notes(&chained), [""; 0]);
    let (head, tail) = chained
        .rsplit_once("depid=\"0\" deps=\"0\"")
        .expect("a wait");
    let on_wait = format!("{head}depid=\"1\" deps=\"0\"{tail}");
    noted(&on_wait, &format!("line {line}: it waits for a `nop`"));
}

#[test]
fn a_send_buffer_that_is_overwritten_is_noted() {
    let text = both_sides(1).replace(
        "outofplace=\"1\"",
        "outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\"",
    );
    assert_eq!(notes(&text), [""; 0]);
    let kept = step(1, "rrc", ('i', 0), ('o', 0));
    let written = step(1, "rrc", ('i', 0), ('i', 0)) + &step(2, "cpy", ('i', 0), ('o', 0));
    let text = text.replace(&kept, &written);
    assert_eq!(certify(&text).0, [""; 0]);
    noted(
        &text,
        "line 5, and 1 more: it writes the input, so that a call out of place",
    );
}

/// A value may pass through the place of another chunk, as long as it ends in its own.
#[test]
fn a_detour_through_the_place_of_another_chunk_is_followed() {
    let step = |number: u32, kind: &str, from: u32, to: u32| {
        format!(
            "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"o\" srcoff=\"{from}\" dstbuf=\"o\" \
             dstoff=\"{to}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
        )
    };
    let gpu = |rank: u32, steps: &[String]| {
        let other = 1 - rank;
        let steps = steps.concat();
        format!(
            "<gpu id=\"{rank}\" i_chunks=\"0\" o_chunks=\"2\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{other}\" recv=\"{other}\" chan=\"0\">\n{steps}</tb></gpu>\n"
        )
    };
    let text = format!(
        "<algo name=\"t\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" \
         coll=\"allgather\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">\n{}{}</algo>",
        gpu(0, &[step(0, "s", 0, 0), step(1, "r", 1, 1)]),
        gpu(
            1,
            &[step(0, "cpy", 1, 0), step(1, "s", 0, 0), step(2, "r", 0, 0)]
        )
    );
    assert_eq!(certify(&text).0, [""; 0]);
    let flows = find_format("teccl").expect("in the list");
    let told = flows.write(&import(&text)).expect_err("flows name chunks");
    assert!(
        told.to_string().contains("the place of one chunk"),
        "{told}"
    );
    let stays = text.replace("dstoff=\"1\" cnt", "dstoff=\"0\" cnt");
    assert_ne!(
        certify(&stays).0,
        [""; 0],
        "it is left in the other's place"
    );
}
