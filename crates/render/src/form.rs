// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures as files: SVG as it is, PDF and PNG made of it.
//!
//! A picture is text of [`crate`]'s, and what it looks like must not depend on the fonts of a computer.
//! So PDF and PNG have the letters of DejaVu Sans, which is part of this crate (`assets`); a letter that
//! it lacks is a box. SVG names no font but `sans-serif`: whoever shows it has one.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions};
use thiserror::Error;

/// DejaVu Sans 2.37, of which `assets/LICENSE-DejaVu.txt` says more.
static FONT: &[u8] = include_bytes!("../assets/DejaVuSans.ttf");
/// The name by which the font knows itself.
const FAMILY: &str = "DejaVu Sans";
/// Dots per pixel of the picture.
const DOTS: f32 = 2.0;
/// Most dots of a PNG; larger pictures have fewer per pixel.
const DOTS_MAX: f32 = 64e6;
/// Points per inch, so that a pixel is a point.
const POINTS: f32 = 72.0;

/// What a picture is written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Text that browsers show, and that can be edited.
    Svg,
    /// For papers; text in it can be selected.
    Pdf,
    /// Dots, two for a pixel.
    Png,
}

/// Why a picture cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormError {
    /// A file name that says something else.
    #[error("there are no {ending} pictures")]
    Ending {
        /// How it ends.
        ending: String,
    },
    /// What is to be drawn is no picture.
    #[error("it is no picture: {why}")]
    NoPicture {
        /// What is wrong.
        why: String,
    },
}

impl corecast_core::Help for FormError {
    fn help(&self) -> String {
        match self {
            Self::Ending { .. } => "end the name in .svg, .pdf or .png".to_owned(),
            Self::NoPicture { .. } => String::new(),
        }
    }
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Pdf, Self::Png];

    /// How names of such files end.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }

    /// The form that a file's name says; of a name without an ending, such as `-` or `/dev/stdout`, SVG.
    ///
    /// ```
    /// use corecast_render::Form;
    /// assert_eq!(Form::of_name("figures/a.PDF"), Ok(Form::Pdf));
    /// assert_eq!(Form::of_name("-"), Ok(Form::Svg));
    /// assert!(Form::of_name("a.jpg").is_err());
    /// ```
    ///
    /// # Errors
    /// [`FormError::Ending`].
    pub fn of_name(path: &str) -> Result<Self, FormError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, ending)) = name.rsplit_once('.') else {
            return Ok(Self::Svg);
        };
        let ending = ending.to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|form| form.ending() == ending);
        found.ok_or(FormError::Ending { ending })
    }

    /// The file of a picture; always the same bytes of the same picture.
    ///
    /// # Errors
    /// [`FormError::NoPicture`], not of what this crate draws.
    pub fn file(self, picture: &str) -> Result<Vec<u8>, FormError> {
        let no_picture = |why: String| FormError::NoPicture { why };
        if self == Self::Svg {
            return Ok(picture.as_bytes().to_vec());
        }
        let options = Options {
            fontdb: Arc::clone(fonts()),
            font_family: FAMILY.to_owned(),
            ..Options::default()
        };
        let tree = Tree::from_str(picture, &options);
        let tree = tree.map_err(|error| no_picture(error.to_string()))?;
        if self == Self::Pdf {
            let page = PageOptions { dpi: POINTS };
            let pdf = svg2pdf::to_pdf(&tree, ConversionOptions::default(), page);
            return pdf.map_err(|error| no_picture(error.to_string()));
        }
        let size = tree.size();
        let dots = DOTS.min((DOTS_MAX / (size.width() * size.height())).sqrt());
        let side = |pixels: f32| (pixels * dots).round().max(1.0) as u32;
        let pixmap = Pixmap::new(side(size.width()), side(size.height()));
        let mut pixmap = pixmap.ok_or_else(|| no_picture("it has no size".to_owned()))?;
        resvg::render(
            &tree,
            Transform::from_scale(dots, dots),
            &mut pixmap.as_mut(),
        );
        pixmap
            .encode_png()
            .map_err(|error| no_picture(error.to_string()))
    }
}

/// The only font there is.
fn fonts() -> &'static Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Anchor, Svg};

    fn picture(text: &str) -> String {
        let mut svg = Svg::new(200.0, 40.0);
        svg.text(10.0, 20.0, 12, Anchor::Start, text);
        svg.finish()
    }

    #[test]
    fn every_form_begins_as_it_has_to_and_is_the_same_every_time() {
        for (form, begins) in Form::ALL.into_iter().zip(["<svg", "%PDF-", "\u{89}PNG"]) {
            let begins: Vec<u8> = begins.chars().map(|c| c as u8).collect();
            let [once, again] = [(); 2].map(|()| form.file(&picture("12.5 cycles, a < b × c")));
            let once = once.expect("a picture of ours");
            assert!(once.starts_with(&begins), "{form:?}");
            assert_eq!(Ok(once), again, "{form:?}");
        }
    }

    #[test]
    fn letters_are_drawn_without_fonts_of_this_computer() {
        let [with, without] = ["cycles", ""].map(|text| {
            let tree = Form::Png.file(&picture(text)).expect("a picture of ours");
            let drawn = Pixmap::decode_png(&tree).expect("a PNG");
            assert_eq!((drawn.width(), drawn.height()), (400, 80));
            let dark = drawn.pixels().iter().filter(|pixel| pixel.red() < 128);
            dark.count()
        });
        assert!(with > 100 && without == 0, "{with} {without}");
    }

    #[test]
    fn large_pictures_have_fewer_dots_and_what_is_none_is_refused() {
        let large = Svg::new(20_000.0, 20_000.0).finish();
        let drawn = Form::Png.file(&large).expect("a picture of ours");
        let drawn = Pixmap::decode_png(&drawn).expect("a PNG");
        assert_eq!(drawn.width(), 8000);
        for form in [Form::Pdf, Form::Png] {
            for text in ["", "no picture", "<svg", "<svg width=\"0\"/>"] {
                let refused = form.file(text).expect_err(text);
                assert!(
                    refused.to_string().starts_with("it is no picture: "),
                    "{refused}"
                );
            }
        }
    }
}
