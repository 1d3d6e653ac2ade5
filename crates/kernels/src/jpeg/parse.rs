// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the header: all marker segments up to the entropy-coded data (ITU T.81, annex B).

use super::frame::{Declared, Frame};
use super::huffman::{CODE_LENGTHS, Table};
use super::layout::NATURAL;
use super::segment::Segment;
use super::{Block, Component, Feature, Header, JpegError, Part, Problem, TableKind};
use crate::Work;

/// Reading a byte, moving on and testing for the end.
const BYTE: Work = Work {
    additions: 2,
    loads: 1,
    branches: 1,
    ..Work::NONE
};

/// What segments have said so far.
#[derive(Default)]
struct Parser {
    quantisation: [Option<Block>; 4],
    dc: [Option<Table>; 2],
    ac: [Option<Table>; 2],
    restart_interval: u16,
    frame: Option<Frame>,
    is_jfif: bool,
    /// Where it says that three components are no YCbCr.
    untransformed: Option<usize>,
    work: Work,
}

pub(super) fn header(file: &[u8]) -> Result<(Header, Work), JpegError> {
    match *file {
        [0xff, 0xd8, ..] => (),
        [] | [0xff] => return Err(truncated(file)),
        [first, ref rest @ ..] => {
            let second = rest.first().copied().unwrap_or(0);
            let problem = Problem::NoStart(first, second);
            return Err(JpegError::Malformed { offset: 0, problem });
        }
    }
    let mut parser = Parser::default();
    parser.work += BYTE.times(2);
    let mut offset = 2;
    loop {
        let (marker, start) = parser.marker(file, offset)?;
        refuse(marker, start - 1)?;
        let mut segment = Segment::new(file, marker, start)?;
        parser.work += BYTE.times(segment.bytes() as u64);
        match marker {
            0xc0 if parser.frame.is_some() => return segment.misplaced(),
            0xc0 => parser.frame = Some(Frame::read(&mut segment, parser.is_jfif)?),
            0xc4 => parser.huffman(&mut segment)?,
            0xdb => parser.quantisation(&mut segment)?,
            0xdd => {
                parser.restart_interval = segment.word()?;
                segment.finish()?;
            }
            0xda => return parser.scan(&mut segment),
            // Applications' data and comments.
            _ => parser.application(&segment),
        }
        offset = segment.end();
    }
}

fn truncated(file: &[u8]) -> JpegError {
    JpegError::Truncated {
        offset: file.len(),
        part: Part::Header,
    }
}

/// Markers that end the reading of a header.
fn refuse(marker: u8, offset: usize) -> Result<(), JpegError> {
    let feature = match marker {
        0xc0 | 0xc4 | 0xda | 0xdb | 0xdd | 0xe0..=0xef | 0xfe => return Ok(()),
        0xc1 => Feature::Extended,
        0xc2 | 0xc6 | 0xca | 0xce => Feature::Progressive(marker),
        0xc3 | 0xc7 | 0xcb | 0xcf => Feature::Lossless(marker),
        0xc5 | 0xcd | 0xde | 0xdf => Feature::Hierarchical(marker),
        0xc9 | 0xcc => Feature::Arithmetic(marker),
        0xdc => Feature::LateHeight,
        _ => {
            let problem = match marker {
                0xd9 => Problem::NoPicture,
                _ => Problem::Misplaced(marker),
            };
            return Err(JpegError::Malformed { offset, problem });
        }
    };
    Err(JpegError::Unsupported { offset, feature })
}

impl Parser {
    /// The marker at `offset`, and what follows it. Any number of ff may precede it.
    fn marker(&mut self, file: &[u8], offset: usize) -> Result<(u8, usize), JpegError> {
        let mut at = offset;
        while let Some(&byte) = file.get(at) {
            self.work += BYTE;
            at += 1;
            if at == offset + 1 && byte != 0xff {
                let problem = Problem::NoMarker(byte);
                return Err(JpegError::Malformed { offset, problem });
            }
            if byte != 0xff {
                return Ok((byte, at));
            }
        }
        Err(truncated(file))
    }

    /// DQT: tables of steps, in the order of the zigzag.
    fn quantisation(&mut self, segment: &mut Segment) -> Result<(), JpegError> {
        while !segment.rest().is_empty() {
            let byte = segment.byte()?;
            let (is_wide, id) = (byte >> 4 != 0, byte & 15);
            if is_wide {
                return segment.unsupported(Feature::WideQuantisation);
            }
            let Some(place) = self.quantisation.get_mut(usize::from(id)) else {
                let kind = TableKind::Quantisation;
                return segment.malformed(Problem::TableId { kind, id, most: 3 });
            };
            let mut table = [0; 64];
            for natural in NATURAL {
                let step = segment.byte()?;
                if step == 0 {
                    return segment.malformed(Problem::ZeroQuantisation);
                }
                table[natural] = i32::from(step);
            }
            *place = Some(table);
            // The natural place of each step, and the step there.
            self.work += Work::loops(64);
            self.work += Work {
                loads: 64,
                stores: 64,
                ..Work::NONE
            };
        }
        Ok(())
    }

    /// DHT: for each table how many codes of each length there are, and what they stand for.
    fn huffman(&mut self, segment: &mut Segment) -> Result<(), JpegError> {
        while !segment.rest().is_empty() {
            let byte = segment.byte()?;
            let (tables, kind) = match byte >> 4 {
                0 => (&mut self.dc, TableKind::Dc),
                1 => (&mut self.ac, TableKind::Ac),
                class => return segment.malformed(Problem::TableClass(class)),
            };
            let id = byte & 15;
            let Some(place) = tables.get_mut(usize::from(id)) else {
                return segment.malformed(Problem::TableId { kind, id, most: 1 });
            };
            let mut counts = [0; CODE_LENGTHS];
            for count in &mut counts {
                *count = segment.byte()?;
            }
            let offset = segment.last();
            let mut symbols = Vec::new();
            for _ in 0..counts.iter().map(|&count| u32::from(count)).sum() {
                symbols.push(segment.byte()?);
            }
            let (table, work) = Table::new(&counts, symbols)
                .map_err(|problem| JpegError::Malformed { offset, problem })?;
            self.work += work;
            *place = Some(table);
        }
        Ok(())
    }

    /// APPn and COM: Adobe's segment may say that components are not transformed.
    fn application(&mut self, segment: &Segment) {
        match (segment.marker, segment.rest()) {
            (0xe0, [b'J', b'F', b'I', b'F', 0, ..]) => self.is_jfif = true,
            // Behind the name: version, two words of flags, and the transform.
            (0xee, rest @ [b'A', b'd', b'o', b'b', b'e', _, _, _, _, _, _, 0, ..]) => {
                self.untransformed = Some(segment.end() - rest.len() + 11);
            }
            _ => (),
        }
    }

    /// SOS: the components' Huffman tables.
    fn scan(mut self, segment: &mut Segment) -> Result<(Header, Work), JpegError> {
        let Some(frame) = self.frame.take() else {
            return segment.misplaced();
        };
        // One component is not transformed either.
        if let (Some(offset), 3) = (self.untransformed, frame.components.len()) {
            let feature = Feature::Rgb;
            return Err(JpegError::Unsupported { offset, feature });
        }
        let count = segment.byte()?;
        let declared = frame.components.len();
        if usize::from(count) < declared {
            let frame = u8::try_from(declared).expect("at most 3");
            return segment.unsupported(Feature::Scans { scan: count, frame });
        }
        let mut components = Vec::new();
        for declared in &frame.components {
            components.push(self.scan_component(segment, declared)?);
        }
        let (first, last) = (segment.byte()?, segment.byte()?);
        if (first, last) != (0, 63) {
            return segment.malformed(Problem::Spectrum { first, last });
        }
        let approximation = segment.byte()?;
        if approximation != 0 {
            return segment.malformed(Problem::Approximation(approximation));
        }
        segment.finish()?;
        let header = Header {
            width: u32::from(frame.width),
            height: u32::from(frame.height),
            components,
            restart_interval: u32::from(self.restart_interval),
            scan_offset: segment.end(),
            dc: self.dc,
            ac: self.ac,
        };
        Ok((header, self.work))
    }

    fn scan_component(
        &self,
        segment: &mut Segment,
        declared: &Declared,
    ) -> Result<Component, JpegError> {
        let found = segment.byte()?;
        if found != declared.id {
            let expected = declared.id;
            return segment.malformed(Problem::Component { found, expected });
        }
        let tables = segment.byte()?;
        let (dc, ac) = (tables >> 4, tables & 15);
        for (kind, id, known) in [(TableKind::Dc, dc, &self.dc), (TableKind::Ac, ac, &self.ac)] {
            match known.get(usize::from(id)) {
                None => return segment.malformed(Problem::TableId { kind, id, most: 1 }),
                Some(None) => return segment.malformed(Problem::NoTable { kind, id }),
                Some(Some(_)) => (),
            }
        }
        let (kind, id) = (TableKind::Quantisation, declared.quantisation);
        let offset = declared.offset;
        let problem = match self.quantisation.get(usize::from(id)) {
            Some(Some(quantisation)) => {
                return Ok(Component {
                    id: declared.id,
                    horizontal: u32::from(declared.horizontal),
                    vertical: u32::from(declared.vertical),
                    quantisation: *quantisation,
                    dc: usize::from(dc),
                    ac: usize::from(ac),
                });
            }
            Some(None) => Problem::NoTable { kind, id },
            None => Problem::TableId { kind, id, most: 3 },
        };
        Err(JpegError::Malformed { offset, problem })
    }
}
