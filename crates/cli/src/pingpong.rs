// SPDX-License-Identifier: MIT OR Apache-2.0
//! `pingpong`: how long a message takes between two ranks, there and back.

use corecast_study::{Fit, PingpongPoint, Played};
use corecast_text::size;
use serde_json::Value;

use crate::args::Pingpong;
use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::progress::Bar;
use crate::refusals::no_rank;
use crate::{picture, run, scene, style};

impl Pingpong {
    /// What is to be played.
    fn plan(&self) -> Result<corecast_study::Pingpong, Failure> {
        self.place.refuse_placement()?;
        let chip = self.place.chip.find()?;
        let ranks = chip.chip.ranks_max();
        let rank = |word: &str| {
            let rank = word.trim().parse::<u32>().ok();
            rank.ok_or_else(|| no_rank("--to", word.trim(), ranks))
        };
        let to = self.to.as_ref();
        let to = to.map(|text| text.split(',').map(rank).collect::<Result<Vec<_>, _>>());
        Ok(corecast_study::Pingpong {
            chip,
            machine: self.place.machine,
            limits: self.limits.on(self.place.machine)?,
            from: self.from,
            to: to.transpose()?,
            sizes: size::list("--bytes", &self.bytes)?,
        })
    }
}

/// The verb.
pub fn answer(options: &Pingpong) -> Result<Answer, Failure> {
    let plan = options.plan()?;
    let progress = Bar::new(plan.point_count()?, "pingpong");
    let played = plan.play(&progress)?;
    let (settings, machine) = (&played.settings, &played.machine);
    let place = format!("{} ({})", machine.place(), machine.kind().name());
    let title = format!("half a round trip from rank {} on {place}", options.from);
    let mut text = format!("{}\n{}\n", style::heading(&title), run::with(settings));
    let rows = played.points.iter().map(|point| row(&played, point));
    let header = ["to", "hops", "bytes", "cycles", "ns", "bytes/ns"];
    text += &table(&header, 0..6, rows.collect());
    let fits = played.targets.iter();
    let fits: Vec<(u32, Fit)> = fits.filter_map(|&to| Some((to, played.fit(to)?))).collect();
    if !fits.is_empty() {
        let title = "LogGP, by least squares over the sizes: ns = L + 2 o + G bytes";
        text += &format!("\n{}\n\n", style::heading(title));
        let rows = fits.iter().map(|(to, fit)| {
            let start = format!("{:.3}", fit.start_ns);
            vec![to.to_string(), start, format!("{:.6}", fit.ns_per_byte)]
        });
        text += &table(&["to", "L + 2 o (ns)", "G (ns/byte)"], 0..3, rows.collect());
    }
    if let Some(path) = &options.plot {
        let picture = corecast_figures::round_trips(&played);
        text += &picture::write_figure(path, &picture, settings)?;
    }
    let objects = played.points.iter();
    scene::note_others(&**machine);
    let objects: Value = objects
        .map(|point| settings.on(played.record(point)))
        .collect();
    Ok(Answer::new(text, objects))
}

fn row(played: &Played, point: &PingpongPoint) -> Vec<String> {
    let clock = played.machine.clock();
    let cycles = clock.map(|clock| (clock.cycles_f64(point.one_way.ps()) * 1e3).round() / 1e3);
    vec![
        point.to.to_string(),
        point.hops.map_or("-".to_owned(), |hops| hops.to_string()),
        point.bytes.to_string(),
        run::or_dash(cycles),
        point.one_way.ns().to_string(),
        format!("{:.3}", point.bandwidth()),
    ]
}
