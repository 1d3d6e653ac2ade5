// SPDX-License-Identifier: MIT OR Apache-2.0
//! The few SVG elements the pictures are made of.

use std::fmt::Write;

/// A picture under construction; coordinates are pixels.
pub(crate) struct Svg {
    width: f64,
    height: f64,
    title: Title,
    body: String,
}

/// The lines at the top, which begin at `left`; what is below them is pushed down by all but the first.
#[derive(Default)]
struct Title {
    left: f64,
    lines: Vec<String>,
}

/// Size of titles, and from one of their lines to the next.
const TITLE_SIZE: u32 = 16;
const TITLE_LINE: f64 = 21.0;
/// The first line's place.
const TITLE_Y: f64 = 28.0;
/// What a picture with a title is at least wide.
const TITLED_WIDTH_MIN: f64 = 480.0;

/// Where a text is held.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Colours that remain distinct for colour-blind readers (Okabe and Ito 2008, with brown and black for its
/// yellow); `vision` measures it.
pub(crate) const PALETTE: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#000000",
];

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            title: Title::default(),
            body: String::new(),
        }
    }

    /// With a title from `left` on, in as many lines as it needs, for which the height of the rest has
    /// room for one.
    pub(crate) fn titled((width, height): (f64, f64), left: f64, title: &str) -> Self {
        let width = width.max(TITLED_WIDTH_MIN);
        let lines = wrapped(title, TITLE_SIZE, width - left - FOOTER_MARGIN);
        Self {
            title: Title { left, lines },
            ..Self::new(width, height)
        }
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, size: u32, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.push(format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" \
             text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// Text in the middle of something coloured.
    pub(crate) fn text_in(&mut self, (x, y): (f64, f64), size: u32, colour: &str, text: &str) {
        let text = escape(text);
        self.push(format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" \
             fill=\"{colour}\">{text}</text>"
        ));
    }

    /// Text that reads upwards, centred on its position.
    pub(crate) fn text_upwards(&mut self, x: f64, y: f64, size: u32, text: &str) {
        let text = escape(text);
        self.push(format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {x:.1} {y:.1})\">{text}</text>"
        ));
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        self.push(format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        self.push(format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" \
             fill=\"{colour}\"/>"
        ));
    }

    /// `style` 0 is solid; the next ones are dashed differently.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], colour: &str, style: usize) {
        let dashes = match style {
            0 => "",
            1 => " stroke-dasharray=\"6 4\"",
            2 => " stroke-dasharray=\"2 3\"",
            _ => " stroke-dasharray=\"10 3 2 3\"",
        };
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        self.push(format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"2\"{dashes}/>",
            points.join(" ")
        ));
    }

    pub(crate) fn dot(&mut self, x: f64, y: f64, colour: &str) {
        self.push(format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"
        ));
    }

    fn push(&mut self, element: String) {
        self.body.push_str(&element);
        self.body.push('\n');
    }

    pub(crate) fn finish(mut self) -> String {
        let down = TITLE_LINE * self.title.lines.len().saturating_sub(1) as f64;
        let (width, height) = (self.width, self.height + down);
        let body = std::mem::take(&mut self.body);
        let Title { left, lines } = std::mem::take(&mut self.title);
        if !lines.concat().is_empty() {
            // In one piece for whoever reads the picture to somebody.
            let whole = escape(&lines.join(" "));
            self.push(format!("<title>{whole}</title>"));
        }
        for (index, line) in lines.iter().enumerate() {
            let y = TITLE_Y + TITLE_LINE * index as f64;
            self.text(left, y, TITLE_SIZE, Anchor::Start, line);
        }
        let title = self.body;
        let mut text = String::new();
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" \
             height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"sans-serif\" fill=\"#222\">"
        );
        let _ = writeln!(
            text,
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        );
        text.push_str(&title);
        if down > 0.0 {
            let _ = writeln!(text, "<g transform=\"translate(0 {down:.0})\">\n{body}</g>");
        } else {
            text.push_str(&body);
        }
        text.push_str("</svg>\n");
        text
    }
}

const FOOTER_SIZE: u32 = 10;
const FOOTER_LINE: f64 = 14.0;
const FOOTER_MARGIN: f64 = 12.0;

/// The picture with a small line below it, in as many lines as its width needs.
///
/// Pictures say what was found; the footer says under which settings, so that it can be found
/// again. What is no picture of this crate is left as it is.
///
/// ```
/// use corecast_core::Grid;
/// let picture = corecast_render::heat_map_svg("idle", &Grid::mesh(2, 2), &[], "flits");
/// let footed = corecast_render::with_footer(&picture, "corecast 0.1.0, scc");
/// assert!(footed.contains(">corecast 0.1.0, scc</text>"));
/// ```
#[must_use]
pub fn with_footer(picture: &str, footer: &str) -> String {
    let number = |name: &str| -> Option<f64> {
        let (_, rest) = picture.split_once(&format!(" {name}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    let (Some(width), Some(height)) = (number("width"), number("height")) else {
        return picture.to_owned();
    };
    let Some(body) = picture.trim_end().strip_suffix("</svg>") else {
        return picture.to_owned();
    };
    let lines = wrapped(footer, FOOTER_SIZE, width - 2.0 * FOOTER_MARGIN);
    let mut svg = Svg::new(width, height);
    for (index, line) in lines.iter().enumerate() {
        let y = height + FOOTER_LINE * index as f64;
        svg.push(format!(
            "<text x=\"{FOOTER_MARGIN:.1}\" y=\"{y:.1}\" font-size=\"{FOOTER_SIZE}\" \
             fill=\"#666666\">{}</text>",
            escape(line)
        ));
    }
    let whole = height + FOOTER_LINE * (lines.len() - 1) as f64 + FOOTER_MARGIN;
    let size =
        |height: f64| format!("height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\"");
    let body = body.replacen(&size(height), &size(whole), 1);
    format!("{body}{}</svg>\n", svg.body)
}

/// The words of a text of this size in lines of at most `width` pixels, a longer word alone.
fn wrapped(text: &str, size: u32, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        let longer = format!("{line} {word}");
        if line.is_empty() {
            word.clone_into(line);
        } else if text_width(&longer, size) <= width {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// About how wide a text is drawn, rather too wide than too narrow: fonts differ.
pub(crate) fn text_width(text: &str, size: u32) -> f64 {
    0.62 * f64::from(size) * text.chars().count() as f64
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// About `wanted` round values from `low` to `high`, both at most a step beyond.
pub(crate) fn ticks(low: f64, high: f64, wanted: f64) -> Vec<f64> {
    let span = (high - low).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf((span / wanted).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps
        .into_iter()
        .find(|step| span / step <= wanted)
        .unwrap_or(power * 10.0);
    let first = (low / step).floor() as i64;
    let last = (high / step).ceil() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// A number with as few digits as it needs.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_lies_below_the_picture_and_inside() {
        let mut svg = Svg::new(300.0, 100.0);
        svg.rect(0.0, 0.0, 300.0, 100.0, PALETTE[0]);
        let picture = svg.finish();
        let long = "corecast 0.1.0 scc & others with many changes that do not fit into one line";
        for (footer, lines) in [("corecast", 1), (long, 2)] {
            let footed = with_footer(&picture, footer);
            let document = roxmltree::Document::parse(&footed).expect("well-formed");
            let root = document.root_element();
            let number = |node: roxmltree::Node<'_, '_>, name| -> f64 {
                let text = node.attribute(name).expect("an attribute");
                text.parse().expect("a number")
            };
            let (width, height) = (number(root, "width"), number(root, "height"));
            assert_eq!(
                root.attribute("viewBox"),
                Some(&*format!("0 0 {width} {height}"))
            );
            let texts = root.children().filter(|node| node.has_tag_name("text"));
            let texts: Vec<_> = texts.collect();
            assert_eq!(texts.len(), lines, "{footed}");
            for text in &texts {
                assert!((100.0..height).contains(&number(*text, "y")), "{footed}");
                let wide = text_width(text.text().expect("words"), FOOTER_SIZE);
                assert!(wide <= width, "{footed}");
            }
            let words: Vec<_> = texts.iter().filter_map(|text| text.text()).collect();
            assert_eq!(words.join(" "), footer);
        }
        assert_eq!(with_footer("no picture", "x"), "no picture");
    }
}
