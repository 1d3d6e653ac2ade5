//! The generator behind generated pictures and signals.

/// SplitMix64: the same numbers on every machine, from any seed (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in `-most..=most`.
    pub(crate) fn within(&mut self, most: u32) -> i32 {
        let values = 2 * u64::from(most) + 1;
        let value = i64::try_from(self.next() % values).expect("below 2^33");
        i32::try_from(value - i64::from(most)).expect("at most `most`")
    }
}
