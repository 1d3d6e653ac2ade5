// SPDX-License-Identifier: MIT OR Apache-2.0
/** Whole numbers below a limit, the same for the same seed (Lehmer's generator, by Park and Miller). */
export function random(seed: number): (below: number) => number {
  let state = seed % 2147483647 || 1
  return (below) => {
    state = (state * 48271) % 2147483647
    return state % below
  }
}
