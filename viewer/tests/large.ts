// SPDX-License-Identifier: MIT OR Apache-2.0
// A run that is as large as pages have to be: made here, the same every time.

import type { Document, RunView } from '../src/documents'
import { random } from './random'

const KINDS = ['compute', 'wait_peer', 'port_busy', 'link_busy', 'buffer_full', 'memory', 'handshake', 'software', 'transfer', 'ordering', 'idle']

/** As fine as those of long pipelines, which have thousands of parts per rank. */
function path(ranks: number, makespan: number): RunView['path'] {
  const [parts, next] = [20_000, random(12)]
  const at = (part: number): number => Math.round((makespan * part) / parts)
  return Array.from({ length: parts }, (_, part) => ({ rank: next(ranks), cause: 1, of: -1, start: at(part), end: at(part + 1) }))
}

export function large(ranks: number, messages: number): Document {
  const next = random(11)
  const makespan = 1_000_000_000
  const spans = Math.ceil((messages * 4) / ranks)
  const rows = Array.from({ length: ranks }, () => {
    const ends = Array.from({ length: spans - 1 }, () => 1 + next(makespan - 1)).sort((a, b) => a - b)
    const apart = [...new Set(ends), makespan]
    return { ends: apart, causes: apart.map(() => next(10)), of: apart.map(() => -1) }
  })
  const all = Array.from({ length: messages }, () => {
    const start = next(makespan - 2_000_000)
    return { from: next(ranks), to: next(ranks), start, end: start + 1 + next(2_000_000) }
  }).sort((a, b) => a.end - b.end)
  const column = <T>(of: (message: (typeof all)[number]) => T): T[] => all.map(of)
  return {
    view: 'run', title: `${messages} messages over ${ranks} ranks`, name: 'large', facts: {}, advice: null, unit: 'us', unit_ps: 1_000_000,
    makespan_ps: makespan, bound_ps: null, delivered: true, kinds: KINDS, ranks: rows,
    messages: { from: column((m) => m.from), to: column((m) => m.to), bytes: column(() => 64), posted: column((m) => m.start), start: column((m) => m.start), end: column((m) => m.end) },
    path: path(ranks, makespan), holds: [], link_waits: [], mesh: null, schedule: null, certificate: null, notes: [],
  }
}
