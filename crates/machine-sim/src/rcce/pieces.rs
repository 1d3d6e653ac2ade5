// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in pieces, each with the addresses of its bytes.

use corecast_machine::Payload;
use corecast_rcce::{Incoming, Outgoing, Part};

/// Parts in messages of these sizes.
pub(super) fn cut(parts: Vec<Part>, sizes: &[usize]) -> Vec<Outgoing> {
    let mut parts = parts
        .into_iter()
        .filter(|part| !part.range.is_empty())
        .peekable();
    let piece = |&size: &usize| {
        let (mut room, mut piece) = (size, Vec::new());
        while room > 0
            && let Some(part) = parts.peek_mut()
        {
            let end = part.range.end.min(part.range.start + room);
            let taken = part.range.start..end;
            room -= taken.len();
            piece.push(Part {
                address: part.address,
                data: Payload::clone(&part.data),
                range: taken.clone(),
            });
            part.address += taken.len() as u64;
            part.range.start = end;
            if part.range.is_empty() {
                parts.next();
            }
        }
        Outgoing::new(piece)
    };
    sizes.iter().map(piece).collect()
}

/// As [`cut`], of what is to come: addresses and sizes.
pub(super) fn cut_incoming(parts: &[(u64, usize)], sizes: &[usize]) -> Vec<Incoming> {
    let mut parts = parts.iter().copied().filter(|&(_, len)| len > 0).peekable();
    let piece = |&size: &usize| {
        let (mut room, mut piece) = (size, Vec::new());
        while room > 0
            && let Some((address, len)) = parts.peek_mut()
        {
            let taken = room.min(*len);
            piece.push((*address, taken));
            (*address, *len, room) = (*address + taken as u64, *len - taken, room - taken);
            if *len == 0 {
                parts.next();
            }
        }
        Incoming::new(piece)
    };
    sizes.iter().map(piece).collect()
}

/// What has come, to be sent on.
pub(super) fn passed_on(piece: &Incoming) -> Outgoing {
    let parts = piece.parts().iter().map(|(address, data)| Part {
        address: *address,
        data: data.as_slice().into(),
        range: 0..data.len(),
    });
    Outgoing::new(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_where_pieces_end() {
        let data: Payload = (0..20_u8).collect();
        let part = |address, range| Part {
            address,
            data: Payload::clone(&data),
            range,
        };
        let parts = vec![part(100, 0..0), part(200, 3..10), part(300, 10..13)];
        let pieces = cut(parts, &[4, 5, 1, 0]);
        assert_eq!(
            pieces.iter().map(Outgoing::left).collect::<Vec<_>>(),
            [4, 5, 1, 0]
        );
        let arriving = cut_incoming(&[(100, 0), (200, 7), (300, 3)], &[4, 5, 1, 0]);
        let places = arriving.iter().map(|piece| {
            let parts = piece.parts().iter();
            parts
                .map(|(address, data)| (*address, data.len()))
                .collect::<Vec<_>>()
        });
        let expected: [&[(u64, usize)]; 4] = [&[(200, 4)], &[(204, 3), (300, 2)], &[(302, 1)], &[]];
        assert_eq!(places.collect::<Vec<_>>(), expected);
    }
}
