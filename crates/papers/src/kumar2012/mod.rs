// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kumar 2012: Pronto's message passing on the NagaM array.
//!
//! The paper prints one time, a few bounds in words, and curves without numbers. So there are few
//! rows with a published number; the others state what the text claims, with the measured value
//! beside it, or predict what is withheld from us.
//!
//! A task's time is that of counted operations (`corecast_kernels::Work`) at the costs of the chip
//! file, none of which is fitted. Two things that the paper leaves open are chosen so that the
//! transform is the longest stage, as it says: a picture in 4:4:4, and an IDCT that looks for no
//! zeros. With 4:2:0 it takes 4 to 5 times as long as Huffman decoding, and about 3 times with
//! zeros looked for.

mod experiment;
mod figures;
mod workload;

use corecast_core::Collective;

use crate::paper::{Paper, Part, Work};
use crate::winners::Contest;

pub(crate) const PAPER: Paper = Paper {
    name: "kumar2012",
    citation: "Kumar, Tjin A Djie, van Leuken 2012, Low Overhead Message Passing for High Performance \
               Many-Core Processors",
    chips: &["nagam"],
    contest: Contest {
        chip: "nagam",
        collectives: &[
            Collective::Bcast,
            Collective::Allreduce,
            Collective::Alltoall,
        ],
        ranks: &[4, 8, 16],
        sizes: &[4, 64, 256, 1024, 4096],
        ongoing_bytes: &[0],
    },
    open: "how the 415 cycles divide, since neither router, engine nor clock are public; the costs of \
           the cores' operations; the sampling of the paper's picture, the taps of its filter and the \
           load of its CUSTOM tasks; the curves of Figures 5 to 7, 9 and 10 are pictures, so ours are \
           drawn without them; how the paper computes its arrival time variation",
    work: Work {
        rows: Part {
            ms: 15_283,
            messages: [264_594, 491_556, 603_637, 647_712],
        },
        winners: Part {
            ms: 636,
            messages: [11_350, 23_059, 25_004, 25_644],
        },
        figures: Part {
            ms: 15_634,
            messages: [258_532, 494_143, 622_933, 669_712],
        },
    },
    experiment: experiment::rows,
    figures: figures::all,
};
