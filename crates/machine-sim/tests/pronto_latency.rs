//! What a message over hardware-managed buffers costs, stage by stage, from both sides.

use corecast_core::Rank;
use corecast_flow::{TaskProgram, TaskRun, Tile};
use corecast_machine::RunError;
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::TaskSetup;

const CYCLE_PS: u64 = 10_000;

fn nagam() -> SimMachine {
    SimMachine::new(&corecast_chip::find("nagam").expect("a built-in chip"))
}

/// Task 0 sends one message to task 1, which waits for it; each returns when its call ended.
struct Once {
    words: usize,
}

impl TaskProgram for Once {
    type Output = u64;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<u64, RunError> {
        let message: Vec<u8> = (0..4 * self.words).map(|byte| byte as u8).collect();
        match tile.task() {
            Rank(0) => tile.send(Rank(1), &message).await?,
            _ => assert_eq!(tile.receive(Rank(0), message.len()).await?, message),
        }
        Ok(tile.now().ps() / CYCLE_PS)
    }
}

fn once(words: usize, from: u32, to: u32) -> TaskRun<u64> {
    let setup = TaskSetup {
        placement: vec![from, to],
        ..TaskSetup::default()
    };
    nagam().run_tasks(&Once { words }, &setup).expect("runs")
}

#[test]
fn table() {
    for hops in 1..=7_u32 {
        let to = if hops <= 3 { hops } else { 3 + 4 * (hops - 3) };
        let row: Vec<u64> = [1, 16, 17, 32, 64]
            .map(|words| {
                if to < 18 {
                    once(words, 0, to).run.outputs[1]
                } else {
                    0
                }
            })
            .to_vec();
        println!("{hops}: {row:?}");
    }
}
