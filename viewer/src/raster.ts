// SPDX-License-Identifier: MIT OR Apache-2.0
// What of a rank's spans is seen in every pixel, and which messages lie in a window of time.

/** No span: the rank's books end before. */
export const NONE = 255

/** Index of the first entry greater than `value` of an ascending list. */
export function upperBound(list: ArrayLike<number>, value: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle] <= value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * For each of `out.length` pixels of the window the kind of cause that has most of its time.
 *
 * Spans are adjacent from time zero and given by their ends. Takes time for pixels and for spans that
 * are shorter than one, not for spans outside of the window.
 */
export function raster(ends: ArrayLike<number>, causes: ArrayLike<number>, from: number, to: number, out: Uint8Array): void {
  const width = out.length
  const step = (to - from) / width
  const time = new Float64Array(256)
  let span = upperBound(ends, from)
  let pixel = 0
  while (pixel < width) {
    if (span >= ends.length) {
      out.fill(NONE, pixel)
      return
    }
    const begin = from + pixel * step
    const end = begin + step
    if (begin < 0 && end <= 0) {
      out[pixel++] = NONE
      continue
    }
    if (ends[span] >= end) {
      const last = Math.min(width, Math.max(pixel + 1, Math.floor((ends[span] - from) / step)))
      out.fill(causes[span], pixel, last)
      pixel = last
      while (span < ends.length && ends[span] <= from + pixel * step) span += 1
      continue
    }
    let at = begin
    let most = causes[span]
    const first = span
    for (; span < ends.length && ends[span] < end; span += 1) {
      time[causes[span]] += ends[span] - at
      at = ends[span]
      if (time[causes[span]] > time[most]) most = causes[span]
    }
    if (span < ends.length) {
      time[causes[span]] += end - at
      if (time[causes[span]] > time[most]) most = causes[span]
    }
    for (let index = first; index <= span && index < ends.length; index += 1) time[causes[index]] = 0
    out[pixel++] = most
  }
}

/** Runs of equal pixels, as `[first, behind the last, kind]`. */
export function runs(pixels: Uint8Array): [number, number, number][] {
  const found: [number, number, number][] = []
  for (let first = 0; first < pixels.length; ) {
    let last = first + 1
    while (last < pixels.length && pixels[last] === pixels[first]) last += 1
    if (pixels[first] !== NONE) found.push([first, last, pixels[first]])
    first = last
  }
  return found
}

/**
 * Lines of the stretches of a path that are seen in a window, each four numbers. Those of a row that
 * lie closer than a pixel are one: a path may have many more stretches than there are pixels, and what
 * takes time is how many lines there are.
 */
export function pathLines(
  path: readonly { rank: number; start: number; end: number }[],
  [from, to]: readonly [number, number],
  x: (time: number) => number,
  y: (rank: number) => number,
): number[] {
  const lines: number[] = []
  const latest = new Map<number, number>()
  for (const { rank, start, end } of path) {
    if (end < from || start > to) continue
    const [left, right] = [x(start), x(end)]
    const at = latest.get(rank)
    if (at !== undefined && left - lines[at + 2] < 1) lines[at + 2] = Math.max(lines[at + 2], right)
    else {
      latest.set(rank, lines.length)
      lines.push(left, y(rank), right, y(rank))
    }
  }
  return lines
}

/** Adds to every pixel of a row how much of it lies between `left` and `right`. */
export function cover(row: Float32Array, left: number, right: number): void {
  const last = Math.min(row.length, right)
  for (let at = Math.max(0, left); at < last; ) {
    const pixel = Math.floor(at)
    const end = Math.min(last, pixel + 1)
    row[pixel] += end - at
    at = end
  }
}

/** Messages by their start, so that those of a window are found without looking at all. */
export class Windows {
  /** Indices of messages in order of their starts. */
  readonly order: Uint32Array
  private readonly starts: Float64Array
  private readonly latest: Float64Array
  private readonly ends: Float64Array

  constructor(start: ArrayLike<number>, private readonly end: ArrayLike<number>) {
    this.order = Uint32Array.from({ length: start.length }, (_, index) => index)
    this.order.sort((a, b) => start[a] - start[b])
    this.starts = Float64Array.from(this.order, (index) => start[index])
    this.ends = Float64Array.from(end).sort()
    this.latest = new Float64Array(start.length)
    let latest = -Infinity
    for (let at = 0; at < this.order.length; at += 1) {
      latest = Math.max(latest, end[this.order[at]])
      this.latest[at] = latest
    }
  }

  /** How many messages are under way in the window: those that have begun and had not ended before. */
  count(from: number, to: number): number {
    let ended = upperBound(this.ends, from)
    while (ended > 0 && this.ends[ended - 1] >= from) ended -= 1
    return Math.max(0, upperBound(this.starts, to) - ended)
  }

  /** Calls `visit` for every message that is under way in the window. */
  visit(from: number, to: number, visit: (message: number) => void): void {
    const behind = upperBound(this.starts, to)
    // No message before this one ends in the window or after it.
    let first = upperBound(this.latest, from)
    while (first > 0 && this.latest[first - 1] >= from) first -= 1
    for (let at = first; at < behind; at += 1) {
      const message = this.order[at]
      if (this.end[message] >= from) visit(message)
    }
  }
}
