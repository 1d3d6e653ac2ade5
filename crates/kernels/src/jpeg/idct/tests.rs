//! Accuracy by IEEE 1180-1990, and the counted operations.
