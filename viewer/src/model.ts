// SPDX-License-Identifier: MIT OR Apache-2.0
// A run with what drawing needs to find quickly.

import type { RunView } from './documents'
import { between, link, number, pair, seconds, unitOf, words } from './format'
import { Windows } from './raster'

export type Row = { ends: Float64Array; causes: Uint8Array; of: Int32Array }

export class Model {
  readonly rows: Row[]
  readonly windows: Windows
  /** Picoseconds of every kind of cause, summed over all ranks. */
  readonly totals: number[]
  /** The same on the critical path. */
  readonly onPath: number[]

  constructor(readonly view: RunView) {
    this.rows = view.ranks.map(({ ends, causes, of }) => ({
      ends: Float64Array.from(ends),
      causes: Uint8Array.from(causes),
      of: Int32Array.from(of),
    }))
    this.windows = new Windows(view.messages.start, view.messages.end)
    this.totals = view.kinds.map(() => 0)
    for (const { ends, causes } of this.rows) {
      let start = 0
      for (let span = 0; span < ends.length; span += 1) {
        this.totals[causes[span]] += ends[span] - start
        start = ends[span]
      }
    }
    this.onPath = view.kinds.map(() => 0)
    for (const { cause, start, end } of view.path) this.onPath[cause] += end - start
  }

  get messages(): number {
    return this.view.messages.from.length
  }

  /** A time in the unit of the run, without its name. */
  units(ps: number): string {
    return number(ps / this.view.unit_ps)
  }

  /** A time with its unit. */
  time(ps: number): string {
    return this.view.unit === 'us' ? seconds(ps) : `${this.units(ps)} ${this.view.unit}`
  }

  /** From when to when, both in one unit. */
  stretch(from: number, to: number): string {
    const [size, unit] = this.view.unit === 'us' ? unitOf(to) : [this.view.unit_ps, this.view.unit]
    return `${between(from / size, to / size)} ${unit}`
  }

  /** A kind of cause and whom it is about. */
  cause(kind: number, of: number): string {
    const name = this.view.kinds[kind]
    if (of < 0) return words(name)
    const hold = name === 'link_busy' ? this.view.holds[of] : undefined
    if (hold === undefined) return `${words(name)}: rank ${of}`
    const holder = hold.holder === null ? 'background traffic' : `message ${pair(hold.holder)}`
    return `${words(name)}: ${pair(hold.message)} waits for ${link(hold.from, hold.to)}, held by ${holder}`
  }
}

/** The longest of some runs; a unit of time where nothing takes any. */
export function longest(runs: RunView[]): number {
  return runs.reduce((most, { makespan_ps }) => Math.max(most, makespan_ps), 0) || runs[0].unit_ps
}
