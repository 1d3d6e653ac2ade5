// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wire format of protobuf, as far as traces need it: fields of messages, in and out.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
}

/// The fields of a message, one after the other; none where it is damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = number(rest)?;
    let value = match key & 7 {
        0 => Value::Number(number(rest)?),
        1 => Value::Number(fixed(bytes(rest, 8)?)),
        2 => {
            let length = number(rest)?;
            Value::Bytes(bytes(rest, length)?)
        }
        5 => Value::Number(fixed(bytes(rest, 4)?)),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn fixed(bytes: &[u8]) -> u64 {
    let bits = bytes.iter().rev();
    bits.fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// A number of seven bits a byte, the lowest first.
pub(super) fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// So many bytes.
pub(super) fn bytes<'a>(rest: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (bytes, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = behind;
    Some(bytes)
}

/// Appends a number.
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a field that is a number.
pub(super) fn push_field(out: &mut Vec<u8>, field: u64, number: u64) {
    push_number(out, field << 3);
    push_number(out, number);
}

/// Appends a field that is bytes.
pub(super) fn push_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    push_number(out, field << 3 | 2);
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for wanted in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, wanted);
            assert_eq!(number(&mut &out[..]), Some(wanted));
            assert_eq!(number(&mut &out[..out.len() - 1]), None, "truncated");
        }
        assert_eq!(number(&mut &[0xff; 11][..]), None, "too long");
    }

    #[test]
    fn lengths_beyond_the_end_are_damage() {
        let mut fields = Fields(&[0x12, 0x05, b'a']);
        assert!(fields.next().expect("one").is_none());
        assert!(fields.next().is_none());
    }
}
